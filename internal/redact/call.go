package redact

import "strings"

// passwordArguments holds the place of the password among the texts that a function gets: db.connect("ada", "…").
var passwordArguments = map[string]int{
	"totp": 1, "hotp": 1,
	"connect": 2, "login": 2, "log_in": 2, "sign_in": 2, "signin": 2, "auth": 2, "basicauth": 2, "setbasicauth": 2, "httpbasicauth": 2,
	"basic_auth": 2, "networkcredential": 2, "passwordcredentials": 2,
	"pdo": 3, "mysqli": 3, "mysqli_connect": 3, "getconnection": 3, "plainauth": 3,
}

// call redacts the password among the texts in the parenthesis at i, if the name before it takes one there.
func (p *scanner) call(i int) {
	end := len(strings.TrimRight(p.s[:i], " ="))
	start := end
	for start > 0 && end-start < maxNoun && wordByte[p.s[start-1]] {
		start--
	}
	place := passwordArguments[strings.ToLower(p.s[start:end])]
	if place == 0 || end < i && place != 2 {
		return
	}
	at, from, to := i, 0, 0
	for n := range place {
		var ok bool
		if from, to, ok = p.quotation(blanks(p.s, at+1)); !ok || to+1 >= len(p.s) {
			return
		}
		if at = to + 1; n+1 < place && p.s[at] != ',' || n == 0 && place == 2 && strings.ContainsAny(p.s[from:to], "/: ") {
			return
		}
	}
	v := p.s[from:to]
	if sign := p.s[at]; sign != ')' && (sign != ',' || place < 3) || len(v) < 4 || placeholder(v) || strings.ContainsAny(v, "/$") ||
		strings.HasPrefix(v, "on_") || digitsOnly(v, 1, 5) || strings.Contains(v, " ") && !isAppPassword(v) || p.touched(from, to) {
		return
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

// changes counts where letters and digits, or small letters and capitals, stand beside each other.
func changes(v string) (n int) {
	kind := func(c byte) int {
		switch {
		case digits[c]:
			return 1
		case lowerLetters[c]:
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	for i := 1; i < len(v); i++ {
		if a, b := kind(v[i-1]), kind(v[i]); a != b && a != 0 && b != 0 {
			n++
		}
	}
	return n
}

// randomNames are names of settings and arguments that have a secret if their value was drawn at random.
var randomNames = wordSet("key auth appid api default")

// drawn redacts the value that is assigned to the word text[i:j], if it was certainly drawn at random.
func (p *scanner) drawn(i, j int) {
	if !randomNames[strings.ToLower(p.s[i:j])] {
		return
	}
	l, at := p.linked(i, j)
	if l != assigned || at >= len(p.s) {
		return
	}
	start, end, _ := p.read(i, at)
	v := p.s[start:end]
	if len(v) >= 14 && run(v, 0, dotted) == len(v) && random(v) && changes(v) >= len(v)/3 && !isHex(v) && !uuid(v) && !placeholder(v) &&
		!p.touched(start, end) {
		p.add(APIKey, start, end)
	}
}

// isHex reports whether v is a hash or a number in base 16.
func isHex(v string) bool {
	return run(v, 0, setOf("a-f0-9")) == len(v) || run(v, 0, setOf("A-F0-9")) == len(v)
}
