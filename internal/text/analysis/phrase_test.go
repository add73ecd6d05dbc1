package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

func TestPhrases(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		want        []string
	}{
		{"one", `when is "storm season" over?`, []string{"storm season"}},
		{"several", `"storm season" and "harbour master"`, []string{"storm season", "harbour master"}},
		{"a word", `the "Save" button`, []string{"Save"}},
		{"all of it", `"to be or not to be"`, []string{"to be or not to be"}},
		{"before punctuation", `who wrote "Becoming Nicole"?`, []string{"Becoming Nicole"}},
		{"in brackets", `a label ("storm season")`, []string{"storm season"}},
		{"curly", `say “storm season” — or „Sturm im Hafen“`, []string{"storm season", "Sturm im Hafen"}},
		{"guillemets", `que veut dire «vent debout»?`, []string{"vent debout"}},
		{"without spaces around", `什么是"大爆炸"理论`, []string{"大爆炸"}},
		{"corner brackets", `彼は「東京都」と言った『大阪』`, []string{"東京都", "大阪"}},
		{"a particle behind", `"메소디스트"로 불린`, []string{"메소디스트"}},
		{"unbalanced", `a "storm season`, nil},
		{"unbalanced at the end", `storm season"`, nil},
		{"over lines", "a \"storm\nseason\" b", nil},
		{"inches", `a 5" pipe and a 6" hose`, nil},
		{"a call", `fmt.Println("hello, world")`, nil},
		{"an attribute", `<a href="index.html" class="x">`, nil},
		{"an object", `{"name": "x", "port":8080}`, []string{"x"}},
		{"apostrophes", `don't 'quote me'`, nil},
		{"nothing inside", `"" " " "?!" x`, nil},
		{"spaces inside", `5 " storm " 6`, nil},
		{"more than searched for", strings.Repeat(`"a b" `, analysis.MaxPhrases+1), nil},
		{"long", `"` + strings.Repeat("word ", analysis.MaxPhraseWords) + `more"`, nil},
		{"in a long text", `"storm season"` + strings.Repeat(" text", analysis.MaxPhraseQuery/5), nil},
		{"invalid", "\"\xff\" \"a\xffb\"", []string{"a\xffb"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range analysis.Phrases(tt.query) {
				got = append(got, p.Text)
				if in := tt.query[p.Start:p.End]; !strings.Contains(in, p.Text) || len(in) <= len(p.Text) {
					t.Errorf("phrase %q is said to be %q", p.Text, in)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("phrases of %q (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

func TestPhraseIn(t *testing.T) {
	for _, tt := range []struct {
		phrase, text string
		want         bool
	}{
		{"storm season", "Before the STORM season: look at the ropes", true},
		{"storm season", "**Storm**\nseason", true},
		{"storm season", "storm, or any other season", false},
		{"storm season", "season storm", false},
		{"storm season", "storms seasons", false}, // as it is written
		{"storm season", "a brainstorm seasonal", false},
		{"bank of England", "the Bank of England", true},
		{"bank of England", "the bank in England", false},
		{"roll back", "to roll-back a release", true},
		{"to be or not to be", "To be, or not to be: that is the question", true},
		{"config.yaml", "see config.yaml.", true},
		{"config.yaml", "see etc/config.yaml", true},
		{"config.yaml", "the config. YAML is", false},
		{"user_id", "the user_id column", true},
		{"user_id", "the user id", false},
		{"the user", "the user_id", true},
		{"HTTP request", "parseHTTPRequest", true},
		{"don't panic", "Don’t panic!", true},
		{"C++ templates", "modern C++ templates", true},
		{"C++ templates", "C templates", false},
		{"3,000 ships", "3000 ships", true},
		{"京都", "東京都", true},
		{"東京都", "東京 都市", false},
		{"データ", "ﾃﾞｰﾀ", true},
		{"новая книга", "Новая книга", true},
		{"x", "", false},
	} {
		p := analysis.Phrases("“" + tt.phrase + "”")
		if len(p) != 1 {
			t.Fatalf("%q is no phrase", tt.phrase)
		}
		if got := p[0].In(tt.text); got != tt.want {
			t.Errorf("%q in %q: %v", tt.phrase, tt.text, got)
		}
	}
}

// Any part of a text between word boundaries is a phrase of the text, and the text has the terms of
// the phrase.
func TestPhraseOfText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{
				"the", "of", "Storms", "harbour", "user_id", "parseHTTPRequest", "C++", "don't", "1.5", "3,000",
				"東京都", "水", "ﾃﾞｰﾀ", "новыми", "a/b.c", "x’s", "[]", "--",
			}),
			rapid.StringMatching(`[a-zé]{1,6}`)), 1, 12).Draw(rt, "words")
		text := strings.Join(words, " ")
		from := rapid.IntRange(0, len(words)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(words)).Draw(rt, "to")
		phrase := strings.Join(words[from:to], " ")
		have := make(map[string]bool)
		analysis.Features(text, func(_ analysis.Kind, term []byte) { have[string(term)] = true })
		for _, p := range analysis.Phrases("“" + phrase + "”") {
			if !p.In(text) {
				rt.Errorf("%q is not in %q", phrase, text)
			}
			if i := slices.IndexFunc(p.Terms(), func(term string) bool { return !have[term] }); i >= 0 {
				rt.Errorf("%q has not the term %q of its phrase %q", text, p.Terms()[i], phrase)
			}
		}
	})
}

func FuzzPhrases(f *testing.F) {
	for _, q := range []string{`"storm season"`, "«a» “b” \"c\"", `x "a\"b" (`, "\"東京\"の「都」"} {
		f.Add(q, "storm season 東京")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		end := 0
		for _, p := range analysis.Phrases(query) {
			if p.Start < end || p.End > len(query) {
				t.Fatalf("phrase of %q at %d to %d, after %d", query, p.Start, p.End, end)
			}
			end = p.End
			p.In(text)
			if !p.In(p.Text) {
				t.Errorf("%q has not itself", p.Text)
			}
		}
	})
}
