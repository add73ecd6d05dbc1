package redact

import "strings"

// link is the connection between a value and the word for a secret, ordered from weak to strong.
type link uint8

const (
	unlinked link = iota
	adjacent      // password hunter2; | password | hunter2 |
	flag          // --password hunter2
	copula        // the password for the printer is hunter2
	assigned      // password = hunter2, "password": "hunter2"
)

// maxPhrase is the largest number of words between a word for a secret and the verb: "the password
// for the guest network of the office is".
const maxPhrase = 9

// linked returns the start of the value of the word that ends at j, and its link to the word.
func (p *scanner) linked(i, j int) (link, int) {
	s := p.s
	at := j
	for at < len(s) && at < j+4 && strings.IndexByte("\"'`*_])\\", s[at]) >= 0 {
		at++
	}
	if w, ok := hasPrefixFold(s, j, "'s ", "’s "); ok {
		return copula, j + len(w)
	}
	closed := at > j
	tag := at < len(s) && s[at] == '>' && i > 0 && (s[i-1] == '<' || s[i-1] == ':')
	at = aside(s, blanks(s, at))
	if at == len(s) {
		return unlinked, 0
	}
	switch c := s[at]; {
	case tag:
		return assigned, at + 1
	case c == ':' || c == '=':
		return p.sign(at)
	case closed && c == '>':
		return adjacent, at + 1
	case c == '(' && at == j && at+1 < len(s) && strings.IndexByte("\"'`", s[at+1]) >= 0:
		return assigned, at + 1
	case c == ',' && closed, c == '|':
		return adjacent, blanks(s, at+1)
	case strings.HasPrefix(s[at:], "->"):
		return assigned, blanks(s, at+2)
	case strings.HasPrefix(s[at:], "→"), strings.HasPrefix(s[at:], "–"), strings.HasPrefix(s[at:], "—"):
		return adjacent, blanks(s, at+len("→"))
	case c == '-' && at > j && at+1 < len(s) && s[at+1] == ' ':
		return adjacent, blanks(s, at+1)
	case c == '\n':
		return nextLine(s, at)
	case at == j:
		return unlinked, 0
	}
	if i >= 2 && strings.HasSuffix(s[:i], "--") || i >= 2 && s[i-1] == '-' && strings.Contains(before(s, i, 24), " --") {
		return flag, at
	}
	if w, ok := hasPrefixFold(s, at, "value=", "value ="); ok && closed {
		return assigned, at + len(w)
	}
	l, v := p.words(at)
	if _, verb := hasPrefixFold(s, i, "pass "); verb && l == adjacent {
		return unlinked, 0 // "pass `-x`" is an instruction
	}
	return l, v
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
	if w, ok := hasPrefixFold(s, at, "it's ", "it’s ", "it is "); ok {
		at += len(w)
	}
	if at < len(s) && (s[at] == '\n' || s[at] == '\r') {
		return onItsOwnLine(s, at)
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

// onItsOwnLine finds a value alone on the next line, or on the line after a fence or an empty line.
// The link is only adjacent, because lists and maps begin like this, too.
func onItsOwnLine(s string, at int) (link, int) {
	for range 3 {
		if at < len(s) && s[at] == '\r' {
			at++
		}
		if at >= len(s) || s[at] != '\n' {
			break
		}
		at = blanks(s, at+1)
		if strings.HasPrefix(s[at:], "```") {
			at = run(s, at, fenceByte)
		}
	}
	end := at
	for end < len(s) && s[end] > ' ' {
		end++
	}
	if end == at || end < len(s) && s[end] != '\n' && s[end] != '\r' || strings.IndexByte("-#>{[", s[at]) >= 0 || s[end-1] == ':' {
		return unlinked, 0
	}
	return adjacent, at
}

var fenceByte = setOf("`a-z")

// nextLine reads the value of a variable whose name stands on one line and its value on the next,
// as in container manifests.
func nextLine(s string, at int) (link, int) {
	at = blanks(s, at+1)
	if w, ok := hasPrefixFold(s, at, "value:"); ok {
		return assigned, blanks(s, at+len(w))
	}
	return unlinked, 0
}

// words reads "is", "lautet", "for the printer is", "was changed to".
func (p *scanner) words(at int) (link, int) {
	s, first, afterCopula := p.s, at, false
	var w, last string
	for n := range maxPhrase {
		end := wordEnd(s, at)
		if end == at || end-at > 24 {
			break
		}
		last, w = w, strings.ToLower(s[at:end])
		next := blanks(s, end)
		switch {
		case w == "son" && last == "de": // French "of his", not Spanish "are"
		case copulas[w] && next > end:
			afterCopula = true
		case copulas[w] && next < len(s) && (s[next] == ':' || s[next] == '\n'):
			_, at := p.sign(next)
			if s[next] == '\n' || at == 0 {
				return onItsOwnLine(s, next+run(s[next:], 0, colon))
			}
			return copula, at
		case afterCopula && fillers[w]:
		case afterCopula:
			return copula, at
		case n == 0 && w == "to", n == 0 && (w == "auf" || w == "a" || w == "à"):
			if l, v := p.phraseEnd(next); l != unlinked {
				return l, v
			}
			return adjacent, next
		case w == "c" && (strings.HasPrefix(s[end:], "'est ") || strings.HasPrefix(s[end:], "’est ")):
			return copula, end + strings.IndexByte(s[end:], ' ') + 1
		case n == 0 && !prepositions[w]:
			if then := wordEnd(s, next); copulas[strings.ToLower(s[next:min(then, next+8)])] && blanks(s, then) > then {
				return adjacent, blanks(s, then) // "mot de passe gmail est"
			}
			return adjacent, first
		}
		if next < len(s) && (s[next] == ':' || s[next] == '=') {
			if afterCopula {
				_, v := p.sign(next)
				return copula, v
			}
			return p.sign(next)
		}
		if next == end && next < len(s) && (s[next] == '-' || s[next] == '\'' || s[next] == '.' || s[next] == '@') {
			next++
		}
		if next == end {
			break
		}
		at = next
	}
	if afterCopula && at < len(s) {
		return copula, at
	}
	if at == first {
		return adjacent, at // not a word: a quote, a number
	}
	return unlinked, 0
}

var colon = setOf(":")

// phraseEnd finds the verb or sign of "password to the server is".
func (p *scanner) phraseEnd(at int) (link, int) {
	for range maxPhrase {
		end := wordEnd(p.s, at)
		next := blanks(p.s, end)
		if end > at && next < len(p.s) && (p.s[next] == ':' || p.s[next] == '=') {
			return p.sign(next)
		}
		if end == at || next == end {
			break
		}
		if copulas[strings.ToLower(p.s[at:min(end, at+8)])] {
			return copula, next
		}
		at = next
	}
	return unlinked, 0
}
