package sentence_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

func TestBest(t *testing.T) {
	text := "# Backups\n\nA server writes a snapshot, e.g. every night. See [the guide](x.md) to **restore** a snapshot.\n\n" +
		"- Restore only while the server is stopped!\n\n```\nrestore snapshot server\n```\n"
	for query, want := range map[string]string{
		"how to restore snapshots":    "See the guide to restore a snapshot.",
		"every night":                 "A server writes a snapshot, e.g. every night.",
		"stopped":                     "Restore only while the server is stopped!",
		"restore snapshot server now": "restore snapshot server",
		"unrelated":                   "A server writes a snapshot, e.g. every night.",
	} {
		if got := sentence.Best(text, analysis.Query(query)); got != want {
			t.Errorf("best sentence for %q = %q, want %q", query, got, want)
		}
	}
	if got := sentence.Best(" \n--- 1 2", []string{"a"}); got != "" {
		t.Errorf("without words: %q", got)
	}
	if got := sentence.Best(strings.Repeat("word ", 1000), []string{"word"}); utf8.RuneCountInString(got) > 400 {
		t.Errorf("sentence of %d characters", utf8.RuneCountInString(got))
	}
}

// TestBestSaysSomething: what only introduces, and the head of a table, give way to what
// says as much of the question.
func TestBestSaysSomething(t *testing.T) {
	text := "Example:\n\n| parameter | in | type |\n|---|:--|---|\n| limit | query | how many there are |\n\nWhat a parameter means:\n\nA page has ten.\n"
	for query, want := range map[string]string{
		"unrelated":     "| limit | query | how many there are |",
		"page":          "A page has ten.",
		"parameter":     "What a parameter means:",
		"limit of type": "| limit | query | how many there are |",
	} {
		if got := sentence.Best(text, analysis.Query(query)); got != want {
			t.Errorf("best sentence for %q = %q, want %q", query, got, want)
		}
	}
	for text, want := range map[string]string{"Example:\n": "Example:", "| a | b |\n|---|---|\n": "| a | b |", "| a | b |\n| c | d |\n": "| a | b |"} {
		if got := sentence.Best(text, nil); got != want {
			t.Errorf("of %q %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"see [the *guide*](a.md \"t\") now":      "see the guide now",
		"![logo](x.png) **bold** and snake_case": "bold and snake_case",
		"a <br/> b <!-- c --> d":                 "a b d",
		"{{< note >}}read{{< /note >}}":          "read",
		":::tip Title\nA note.[^1]\n:::":         "A note.",
		"[!IMPORTANT] a ::: b":                   "a ::: b",
		"`code` \\*kept\\* &amp; 2 * 3":          "code *kept* & 2 * 3",
	} {
		if got := sentence.Plain(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzBest(f *testing.F) {
	f.Add("# A\n\n[b](c) **d** `e` {{< f >}} <!-- g\n- h", "b d")
	f.Add(strings.Repeat("a.((((", 300), "a")
	f.Fuzz(func(t *testing.T, text, query string) {
		if len(text) > 8<<10 || len(query) > 1<<10 {
			return
		}
		got := sentence.Best(text, analysis.Query(query))
		if utf8.RuneCountInString(got) > sentence.MaxSentence {
			t.Fatalf("a sentence of %d characters", utf8.RuneCountInString(got))
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
	})
}

func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		got := sentence.Clip(s, n)
		if utf8.RuneCountInString(got) > n || !utf8.ValidString(got) {
			t.Fatalf("Clip(%q, %d) = %q", s, n, got)
		}
		if utf8.RuneCountInString(s) <= n && got != s {
			t.Fatalf("a text that fits was changed to %q", got)
		}
	})
}
