package compact

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// RuleKind classifies a sentence of a user.
type RuleKind string

// Kinds, in the order in which they are kept if not all fit.
const (
	KindRule     RuleKind = "rule"     // a requirement, prohibition or preference
	KindDecision RuleKind = "decision" // a decision
	KindDate     RuleKind = "date"     // a deadline or date
)

// Rule is a verbatim sentence of a user that is in force until the user overrules it.
type Rule struct {
	Kind RuleKind `json:"kind" enum:"rule,decision,date"`
	Text string   `json:"text"`
}

// weight is how binding a sentence of a user is.
type weight uint8

const (
	remark  weight = iota // any other statement
	hint                  // possibly a rule
	dated                 // a date
	decided               // a decision
	ruled                 // a rule
)

// kind returns the kind of a sentence, or "" for a remark.
func (w weight) kind() RuleKind {
	switch w {
	case ruled, hint:
		return KindRule
	case decided:
		return KindDecision
	case dated:
		return KindDate
	default:
		return ""
	}
}

// token is a word of a sentence, in lower case and without accents.
type token struct {
	word   string
	clause bool // it begins a clause
	ends   bool // a comma or similar follows it
}

// fold returns a text in lower case and without accents.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if s = strings.ToLower(s); ascii {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			out = append(out, "ss"...)
		case r == '’':
			out = append(out, '\'')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// tokensOf returns the words of a sentence. An apostrophe joins English words and splits French
// ones.
func tokensOf(sentence string) []token {
	s := fold(sentence)
	var out []token
	from, clause := -1, true
	word := func(to int) {
		if from < 0 {
			return
		}
		w := strings.Trim(s[from:to], "'")
		if head, rest, ok := strings.Cut(w, "'"); ok && rest != "" && elided[head] {
			out = append(out, token{word: head, clause: clause})
			w, clause = rest, false
		}
		if w != "" {
			out = append(out, token{word: w, clause: clause})
			clause = clause && openers[w]
		}
		from = -1
	}
	for i, r := range s {
		if r == '\'' && from >= 0 || unicode.IsLetter(r) || unicode.IsDigit(r) {
			if from < 0 {
				from = i
			}
			continue
		}
		word(i)
		switch r {
		case ',', ';', ':', '.', '!', '(', '–', '—', '-', '"', '“', '„', '«', '*', '¡', '¿':
			if n := len(out); n > 0 && r != '-' {
				out[n-1].ends = true
			}
			clause = clause || r != '-' || i > 0 && s[i-1] == ' '
		}
	}
	word(len(s))
	return out
}

// sensesOf returns the senses of all phrases in a sentence.
func sensesOf(words []token) (found sense) {
	for i, t := range words {
		for _, p := range lexicon[t.word] {
			if (!p.opens || t.clause) && matches(p.words[1:], words[i+1:]) {
				found |= p.says
			}
		}
	}
	return found
}

// matches reports whether words begin with a pattern.
func matches(pattern []string, words []token) bool {
	const gap = 3
	for n, p := range pattern {
		if p == "_" {
			for skip := range min(gap+1, len(words)+1) {
				if matches(pattern[n+1:], words[skip:]) {
					return true
				}
			}
			return false
		}
		if len(words) == 0 {
			return false
		}
		if stem, ok := strings.CutSuffix(p, "~"); words[0].word != p && !(ok && strings.HasPrefix(words[0].word, stem)) {
			return false
		}
		words = words[1:]
	}
	return true
}

// weigh returns how binding a sentence of a user is.
func weigh(sentence string) weight {
	words := tokensOf(sentence)
	if len(words) == 0 {
		return remark
	}
	says := sensesOf(words)
	if forbids(words) {
		says |= binds
	}
	if strings.HasSuffix(strings.TrimRight(sentence, `"'”»)* `), "?") && says&(requests|binds) != requests|binds {
		return remark
	}
	if says&narrates != 0 && says&binds != 0 {
		says = says&^binds | mayBind
	}
	if says&expects != 0 {
		if isFirstPerson(words) {
			says |= mayBind
		} else {
			says |= binds
		}
	}
	switch {
	case says&binds != 0:
		return ruled
	case says&settles != 0:
		return decided
	case says&due != 0 || isDated(sentence, words) || slices.ContainsFunc(words, func(t token) bool { return weekdays[t.word] }):
		return dated
	case len(words) > 2 && (says&(mayBind|denies) != 0 || bounds(words)):
		return hint
	}
	return remark
}

// bounds reports whether a sentence sets a limit or contrasts two things.
func bounds(words []token) bool {
	for i, t := range words {
		if i+1 < len(words) && limits[t.word] && strings.Trim(words[i+1].word, "0123456789") == "" ||
			i > 0 && t.clause && contrasts[t.word] {
			return true
		}
	}
	return false
}

// forbids reports whether a clause begins with a prohibition that no phrase covers: "No emojis.",
// "No toques el esquema.", "Ne modifie rien.", "Fass das nicht an."
func forbids(words []token) bool {
	for i, t := range words {
		if !t.clause || i+1 >= len(words) {
			continue
		}
		switch next := words[i+1].word; t.word {
		case "no":
			if !t.ends && !harmless[next] {
				return true
			}
		case "ne", "n":
			if slices.ContainsFunc(words[i+1:min(i+8, len(words))], func(t token) bool { return negative[t.word] }) {
				return true
			}
		default:
			if imperatives[t.word] && slices.ContainsFunc(words[i+1:], func(t token) bool { return negative[t.word] }) {
				return true
			}
		}
	}
	return false
}

// isFirstPerson reports whether users speak about themselves.
func isFirstPerson(words []token) bool {
	return slices.ContainsFunc(words, func(t token) bool {
		switch t.word {
		case "i", "i'm", "i've", "i'd", "ich", "je", "j", "yo":
			return true
		}
		return false
	})
}

// ahead precedes all planned dates, so that every date counts as future.
var ahead = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// isDated reports whether a sentence names a day, or a period of days, that may be in the future.
// It first checks for words of dates, which most sentences lack.
func isDated(sentence string, words []token) bool {
	if !slices.ContainsFunc(words, func(t token) bool {
		return valueWords[t.word] || t.word == "may" || strings.ContainsAny(t.word, "0123456789")
	}) {
		return false
	}
	for _, m := range timeexpr.Find(sentence, ahead) {
		if m.AheadTo.After(ahead.AddDate(0, 0, 1)) && m.AheadTo.Sub(m.AheadFrom) < 100*24*time.Hour {
			return true
		}
	}
	return false
}
