package redact

import "strings"

// passwordArguments holds the place of the password among the texts that a function gets: db.connect("ada", "…").
var passwordArguments = map[string]int{
	"totp": 1, "hotp": 1,
	"basicauth": 2, "setbasicauth": 2, "httpbasicauth": 2, "basic_auth": 2, "networkcredential": 2, "passwordcredentials": 2,
	"connect": 2, "login": 2, "log_in": 2, "sign_in": 2, "signin": 2, "auth": 2,
	"pdo": 3, "mysqli": 3, "mysqli_connect": 3, "getconnection": 3, "plainauth": 3,
}

// call redacts the password among the texts in the parenthesis at i, if the name before it takes one there.
func (p *scanner) call(i int) {
	end := len(strings.TrimRight(p.s[:i], " "))
	if assigned := strings.TrimRight(strings.TrimSuffix(p.s[:end], "="), " "); len(assigned) < end && !strings.HasSuffix(assigned, "=") {
		end = len(assigned) // auth=("ada", "…")
	} else if end < i {
		return
	}
	name := strings.ToLower(p.s[p.nameStart(end):end])
	place := passwordArguments[name]
	if place == 0 || end < i && name != "auth" {
		return
	}
	at, from, to, user := i, 0, 0, ""
	for n := range place {
		var ok bool
		if from, to, ok = p.quotation(blanks(p.s, at+1)); !ok || to+1 >= len(p.s) {
			return
		}
		if at = to + 1; n+1 < place && p.s[at] != ',' || n == 0 && place == 2 && strings.ContainsAny(p.s[from:to], "/: ") {
			return
		}
		if n == 0 {
			user = p.s[from:to]
		}
	}
	v := p.s[from:to]
	if sign := p.s[at]; sign != ')' && (sign != ',' || place < 3) || len(v) < 4 || placeholder(v) || strings.ContainsAny(v, "/$") ||
		strings.HasPrefix(v, "on_") || digitsOnly(v, 1, 5) || strings.Contains(v, " ") && !isAppPassword(v) || p.touched(from, to) {
		return
	}
	if !strings.HasSuffix(name, "auth") && place == 2 && strings.Contains(user, ".") && !chosenForms[formOf(v)] && !isAppPassword(v) {
		return // connect("example.org", "chat")
	}
	if place > 1 || len(v) >= 16 && changes(v) >= len(v)/4 {
		p.add(Password, from, to)
	}
}

// isAppPassword reports whether v is four groups of four small letters, as some mail services make them.
func isAppPassword(v string) bool {
	for i := range len(v) {
		if (v[i] == ' ') != (i%5 == 4) || v[i] != ' ' && !lowerLetters[v[i]] {
			return false
		}
	}
	return len(v) == 4*4+3
}

// randomNames are names of settings and arguments that have a secret if their value was drawn at random.
var randomNames = wordSet("key auth appid")

// drawn redacts the value that is assigned to the word text[i:j], if it was certainly drawn at random.
func (p *scanner) drawn(i, j int) {
	variable := p.s[i] >= 'A' && p.s[i] <= 'Z' && strings.HasSuffix(p.s[i:j], "_KEY") && !strings.Contains(p.s[i:j], "PUBLIC") &&
		j < len(p.s) && p.s[j] == '='
	if !randomNames[strings.ToLower(p.s[i:j])] && !variable {
		return
	}
	l, at := p.linked(i, j)
	if l != assigned || at >= len(p.s) {
		return
	}
	start, end, quoted := p.read(i, at)
	v := p.s[start:end]
	if !variable && !p.isParameter(i, j) && (!quoted || p.follows(i, "object", "partition", "primary", "sort", "row", "li", "cache")) {
		return
	}
	if len(v) >= 14 && run(v, 0, dotted) == len(v) && random(v) && changes(v) >= len(v)/3 && !isHex(v) && !uuid(v) && !placeholder(v) &&
		!p.touched(start, end) {
		p.add(APIKey, start, end)
	}
}
