package redact

import "strings"

// login takes out the password of a pair: "login: ada / hunter2", "credentials
// ada:hunter2". What follows has to look like a password, as much is written in
// pairs.
func (p *scanner) login(j int) {
	s := p.s
	at := blanks(s, j)
	if at < len(s) && (s[at] == ':' || s[at] == '=') {
		at = blanks(s, at+1)
	} else if end := wordEnd(s, at); end > at && (copulas[strings.ToLower(s[at:end])] || s[at:end] == "with" || s[at:end] == "mit") {
		at = blanks(s, end)
	}
	if at == j {
		return
	}
	name := run(s, at, nameByte)
	sign := blanks(s, name)
	if name == at || sign == len(s) || strings.IndexByte("/:|=", s[sign]) < 0 || strings.HasPrefix(s[sign:], "://") {
		return
	}
	p.strong(blanks(s, sign+1))
}

var nameByte = setOf("a-zA-Z0-9._@+-")

// strong takes out the value that begins at i if it could be nothing but a password.
func (p *scanner) strong(i int) {
	start, end, _ := p.read(password, beside, 0, i)
	if start >= end || p.touched(start, end) {
		return
	}
	v := p.s[start:end]
	if len(v) >= 6 && strongPassword(v) && !placeholder(v) && !expression(v, "") && !strings.ContainsAny(v, "/=") && countDigits(v) < len(v) {
		p.add(Password, start, end)
	}
}

// option takes out passwords of options that are known by their commands: curl -u
// ada:hunter2, sshpass -p hunter2, mysql -phunter2.
func (p *scanner) option(i int) {
	s := p.s
	said := before(s, i, 64)
	switch at := i + 2; {
	case s[i+1] == 'u' && strings.Contains(said, "curl"):
		at = blanks(s, at)
		if name := run(s, at, nameByte); name > at && name < len(s) && s[name] == ':' {
			p.strong(name + 1)
		}
	case s[i+1] == 'p' && strings.Contains(said, "sshpass"):
		p.strong(blanks(s, at))
	case s[i+1] == 'p' && strings.Contains(said, "mysql") && at < len(s) && s[at] > ' ':
		p.strong(at)
	}
}

// said takes out what has just been called a password: "use hunter2 as the
// password", "hunter2 is my password".
func (p *scanner) said(i int) {
	end := i
	for range 4 {
		end = len(strings.TrimRight(p.s[:end], " "))
		start := end
		for start > 0 && end-start < 64 && p.s[start-1] > ' ' {
			start--
		}
		w := p.s[start:end]
		if start == end || end-start == 64 {
			return
		}
		if sayers[w] {
			if from, at := p.wordBefore(start); from < at && at < start {
				p.strong(p.unqualified(from, at))
			}
			return
		}
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return
		}
		end = start
	}
}

// wordBefore returns where the word before i begins and ends.
func (p *scanner) wordBefore(i int) (from, to int) {
	to = len(strings.TrimRight(p.s[:i], " "))
	from = to
	for from > 0 && to-from < 64 && p.s[from-1] > ' ' {
		from--
	}
	return from, to
}

// unqualified goes back from the word that begins at from over what is said of a
// password: "hunter2! strong enough as a password".
func (p *scanner) unqualified(from, to int) int {
	for range 3 {
		if !praise[strings.ToLower(p.s[from:to])] {
			break
		}
		from, to = p.wordBefore(from)
	}
	return from
}

// praise is what people ask of a password.
var praise = wordSet(`strong enough good safe secure ok okay fine valid too stark genug sicher gut segura buena suficientemente bastante assez sûr bon fort`)

// sayers stand between a password and the word for it.
var sayers = wordSet(`as is als ist como es comme est`)
