package redact

import "strings"

// login redacts the password of a pair: "login: ada / hunter2", "credentials ada:hunter2". It must
// look like a password, because many things are written in pairs.
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
	p.strongValue(blanks(s, sign+1))
}

var nameByte = setOf("a-zA-Z0-9._@+-")

// strongValue redacts the value at i if it can only be a password.
func (p *scanner) strongValue(i int) {
	start, end, _ := p.read(password, adjacent, 0, i)
	if start >= end || p.touched(start, end) {
		return
	}
	v := p.s[start:end]
	if len(v) >= 6 && strongPassword(v) && !placeholder(v) && !expression(v, "") && !strings.ContainsAny(v, "/=") &&
		countDigits(v) < len(v) {
		p.add(Password, start, end)
	}
}

// option redacts passwords in options of known commands: curl -u ada:hunter2, sshpass -p hunter2,
// mysql -phunter2.
func (p *scanner) option(i int) {
	s := p.s
	preceding := before(s, i, 64)
	switch at := i + 2; {
	case s[i+1] == 'u' && strings.Contains(preceding, "curl"):
		at = blanks(s, at)
		if name := run(s, at, nameByte); name > at && name < len(s) && s[name] == ':' {
			p.strongValue(name + 1)
		}
	case s[i+1] == 'p' && strings.Contains(preceding, "sshpass"):
		p.strongValue(blanks(s, at))
	case s[i+1] == 'p' && strings.Contains(preceding, "mysql") && at < len(s) && s[at] > ' ':
		p.strongValue(at)
	}
}

// namedAfter redacts a value that is called a password afterwards: "use hunter2 as the password",
// "hunter2 is my password".
func (p *scanner) namedAfter(i int) {
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
		if predicative[w] {
			if from, at := p.wordBefore(start); from < at && at < start {
				p.strongValue(p.skipAdjectives(from, at))
			}
			return
		}
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return
		}
		end = start
	}
}

// wordBefore returns the bounds of the word before i.
func (p *scanner) wordBefore(i int) (from, to int) {
	to = len(strings.TrimRight(p.s[:i], " "))
	from = to
	for from > 0 && to-from < 64 && p.s[from-1] > ' ' {
		from--
	}
	return from, to
}

// skipAdjectives moves back from the word at from over adjectives of a password: "hunter2! strong
// enough as a password".
func (p *scanner) skipAdjectives(from, to int) int {
	for range 3 {
		if !passwordAdjectives[strings.ToLower(p.s[from:to])] {
			break
		}
		from, to = p.wordBefore(from)
	}
	return from
}

// passwordAdjectives holds adjectives of a good password.
var passwordAdjectives = wordSet(`strong enough good safe secure ok okay fine valid too stark genug sicher gut segura buena
	suficientemente bastante assez sûr bon fort`)

// predicative are the words between a password and the word for it.
var predicative = wordSet(`as is als ist como es comme est`)
