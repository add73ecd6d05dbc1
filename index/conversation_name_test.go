package index

import (
	"strings"
	"testing"
	"unicode"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		question, speaker string
		want              bool
	}{
		{"What did Caroline say?", "Caroline", true},
		{"what did caroline say", "Caroline", true},
		{"What is Caroline's plan?", "Caroline", true},
		{"What is Caroline’s plan?", "CAROLINE", true},
		{"Whose is it, James' or mine?", "James", true},
		{"What did Caroline say?", "Caroline Smith", true},
		{"What did Smith say?", "Caroline Smith", false},
		{"What did Carol say?", "Caroline", false},
		{"What did Caroline say?", "Carol", false},
		{"Was hat Jürgen gesagt?", "Ju\u0308rgen", true},
		{"Что сказала Анна?", "Анна", true},
		{"王伟喜欢什么", "王伟", true},
		{"What did A say?", "A", false},
		{"What happened in 2023?", "2023", false},
		{"What did you say?", "", false},
		{"", "Caroline", false},
	} {
		if got := newNameMatcher(c.question).names(c.speaker); got != c.want {
			t.Errorf("%q names %q: %v, want %v", c.question, c.speaker, got, c.want)
		}
	}
}

// FuzzNames takes any question and name; a question that is put around a name
// names it.
func FuzzNames(f *testing.F) {
	f.Add("What did Caroline say?", "Caroline")
	f.Add("王伟喜欢什么", "王伟")
	f.Add("\xff'", "Zoë-Ann O'Neil")
	f.Fuzz(func(t *testing.T, question, speaker string) {
		if newNameMatcher(question).names(speaker) && !strings.ContainsFunc(question, unicode.IsLetter) {
			t.Errorf("%q names %q", question, speaker)
		}
		words := strings.FieldsFunc(fold(speaker), isSeparator)
		if len(words) == 0 || len(words[0]) < 2 || strings.ContainsFunc(words[0], func(r rune) bool { return r < 'a' || r > 'z' }) {
			return // marks beside a name may join with it
		}
		if q := "What is " + words[0] + "'s plan?"; !newNameMatcher(q).names(speaker) {
			t.Errorf("%q does not name %q", q, speaker)
		}
	})
}
