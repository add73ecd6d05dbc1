package redact

import "strings"

// link is the connection between a value and the word for a secret in what is written for programs.
type link uint8

const (
	unlinked link = iota
	flag          // --password hunter2
	assigned      // password = hunter2, "password": "hunter2"
)

// linked returns the start of the value of the word that ends at j, and its link to the word.
func (p *scanner) linked(i, j int) (link, int) {
	s := p.s
	at := j
	for at < len(s) && at < j+4 && strings.IndexByte("\"'`*_])\\", s[at]) >= 0 {
		at++
	}
	closed := at > j
	tag := at < len(s) && s[at] == '>' && i > 0 && (s[i-1] == '<' || s[i-1] == ':')
	at = aside(s, blanks(s, at))
	if at == len(s) {
		return unlinked, 0
	}
	switch c := s[at]; {
	case tag && !strings.HasPrefix(s[at+1:], "@"):
		return assigned, at + 1
	case c == ':' || c == '=':
		return p.sign(at)
	case c == '(' && at == j && at+1 < len(s) && strings.IndexByte("\"'`", s[at+1]) >= 0:
		return assigned, at + 1
	case c == ',' && closed && strings.Contains(s[max(0, i-1):j], "_") && strings.ToUpper(s[i:j]) == s[i:j],
		at > j && strings.ToUpper(s[i:j]) == s[i:j] && declares(before(s, i, 8)):
		return assigned, blanks(s, run(s, at, comma))
	case c == '|' && tableRow(s, i) && !compounds[firstWord(s[at+1:])]:
		return assigned, blanks(s, at+1)
	case strings.HasPrefix(s[at:], "->"):
		return assigned, blanks(s, at+2)
	case c == '\n':
		return nextLine(s, at)
	}
	if i >= 2 && strings.HasSuffix(s[:i], "--") || i >= 2 && s[i-1] == '-' && strings.Contains(" "+before(s, i, 24), " --") ||
		i > 0 && s[i-1] == '-' && (i == 1 || s[i-2] == ' ') {
		return flag, at
	}
	if end := wordEnd(s, at); assigning[s[at:end]] && p.namesVariable(i, j) { // I set DB_PASSWORD to …
		start := blanks(s, end)
		if v := strings.TrimRight(s[start:fieldsEnd(s, start)], ".,;:?!)"); chosenForms[formOf(v)] && !strings.Contains(v, "secret") {
			return assigned, start
		}
	}
	if w, ok := hasPrefixFold(s, at, "value=", "value ="); ok && closed {
		return assigned, at + len(w)
	}
	return unlinked, 0
}

// tableRow reports whether i is in the first cell of a row of a table.
func tableRow(s string, i int) bool {
	for least := max(0, i-64); i > least; i-- {
		switch s[i-1] {
		case '\n':
			return false
		case '|':
			i--
			return i == 0 || s[i-1] == '\n' || s[i-1] == ' '
		}
	}
	return false
}

// assigning stand between a variable of the environment and its value in a sentence.
var assigning = wordSet("to is as was with auf ist mit à est a es con en")

// namesVariable reports whether the word text[i:j] ends the name of a variable of the environment: DB_PASSWORD.
func (p *scanner) namesVariable(i, j int) bool {
	name := p.s[p.nameStart(i):j]
	return strings.Contains(name, "_") && strings.ToUpper(name) == name
}

// fieldsEnd returns the end of the field at i.
func fieldsEnd(s string, i int) int {
	end := i
	for end < len(s) && s[end] > ' ' && end-i < maxValue {
		end++
	}
	return end
}

var comma = setOf(",")

// declares reports whether the text before the name of a variable ends with a command that sets it.
func declares(preceding string) bool {
	preceding = strings.TrimRight(preceding, " ")
	return strings.HasSuffix(preceding, "env") || strings.HasSuffix(preceding, "setx") || strings.HasSuffix(preceding, "setenv")
}

// aside skips a short parenthesis.
func aside(s string, i int) int {
	if i >= len(s) || s[i] != '(' {
		return i
	}
	end := strings.IndexAny(s[i:min(len(s), i+48)], ")\n")
	if end < 0 || s[i+end] == '\n' {
		return i
	}
	if next := blanks(s, i+end+1); next < len(s) && (s[next] == ':' || s[next] == '=' || next > i+end+1) {
		return next
	}
	return i
}

// sign reads ":", "=", ":=", "=>", "==", and a type or a line end between sign and value.
func (p *scanner) sign(at int) (link, int) {
	s := p.s
	first := at
	for at < len(s) && at < first+3 && strings.IndexByte(":=>", s[at]) >= 0 {
		at++
	}
	if strings.HasPrefix(s[first:], "::") || strings.HasPrefix(s[first:], "://") {
		return unlinked, 0
	}
	at = blanks(s, run(s, blanks(s, at), emphasis))
	if at+2 < len(s) && s[at] == '|' && s[at+1] == '\n' { // a block of YAML
		return assigned, blanks(s, at+2)
	}
	if at < len(s) && (s[at] == '\n' || s[at] == '\r') {
		return unlinked, 0
	}
	// A type between the name and the value: password: string = "…".
	if end := wordEnd(s, at); end > at && types[strings.ToLower(s[at:min(end, at+16)])] {
		if eq := blanks(s, end); eq < len(s) && s[eq] == '=' {
			return assigned, blanks(s, eq+1)
		}
	}
	return assigned, at
}

var emphasis = setOf("*")

// nextLine reads the value of a variable whose name stands on one line and its value on the next,
// as in container manifests.
func nextLine(s string, at int) (link, int) {
	at = blanks(s, at+1)
	if w, ok := hasPrefixFold(s, at, "value:"); ok {
		return assigned, blanks(s, at+len(w))
	}
	return unlinked, 0
}
