package resolve

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCutIsAPrefixWithinItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n漢🙂é"))).Draw(t, "text")
		limit, guess := rapid.IntRange(1, 60).Draw(t, "limit"), rapid.IntRange(-5, 400).Draw(t, "guess")
		calls := 0
		got := cut(text, limit, guess, func(p string) int { calls++; return 3 + utf8.RuneCountInString(p) })
		if n := utf8.RuneCountInString(got); got != "" && n+3 > limit {
			t.Errorf("%q has %d characters, limit %d", got, n, limit-3)
		}
		if !strings.HasPrefix(strings.TrimLeft(text, " \n"), got) || !utf8.ValidString(got) {
			t.Errorf("%q is no clean prefix of %q", got, text)
		}
		if calls > 12 {
			t.Errorf("measured %d times", calls)
		}
	})
}

// TestCutComesClose: with the counts of real tokenizers, little room is left for any first guess.
func TestCutComesClose(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("some words ", 500), strings.Repeat("漢", 2000), strings.Repeat("x", 5000), strings.Repeat("\x80", 5000),
	} {
		for _, guess := range []int{1, 40, 800, 100_000} {
			got := cut(text, 210, guess, func(p string) int { return 10 + len(p)/4 })
			if len(got) < 760 || len(got) >= 804 {
				t.Errorf("%.10q with guess %d: %d bytes, want nearly 803", text, guess, len(got))
			}
		}
	}
}

func TestTidyPrefix(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"alpha beta gamma", 10, "alpha beta"},
		{"alpha beta gamma", 11, "alpha beta"},
		{"alpha beta gamma", 12, "alpha beta"},
		{"alpha betagamma", 12, "alpha betaga"}, // half of it would be lost
		{"漢字", 4, "漢"},
		{"alpha", 9, "alpha"},
		{"alpha", 0, ""},
	} {
		if got := tidyPrefix(tt.s, tt.n); got != tt.want {
			t.Errorf("tidyPrefix(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
