package analysis_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

func TestSpelledWords(t *testing.T) {
	word := func(written, folded, term string) analysis.Spelled {
		return analysis.Spelled{Written: written, Folded: folded, Term: term}
	}
	for _, tt := range []struct {
		name, query string
		want        []analysis.Spelled
	}{
		{"stemmed, in order", "Storms of the harbours", []analysis.Spelled{
			word("Storms", "storms", "storm"), word("harbours", "harbours", "harbour"),
		}},
		{"again", "Harbour harbours", []analysis.Spelled{word("Harbour", "harbour", "harbour"), word("harbours", "harbours", "harbour")}},
		{"capitalized in a sentence", "where does Kubernets run? Harbours", []analysis.Spelled{word("Harbours", "harbours", "harbour")}},
		{"capitalized in a German sentence", "wo ist die Brücke", []analysis.Spelled{word("Brücke", "brücke", "brücke")}},
		{"between phrases", `"a b" anchor "storms over" harbour "x y"`, []analysis.Spelled{
			word("anchor", "anchor", "anchor"), word("harbour", "harbour", "harbour"),
		}},
		{"short and stop words", "ship ships there which about", []analysis.Spelled{word("ships", "ships", "ship")}},
		{"a possessive", "the captain's rope", []analysis.Spelled{word("captain", "captain", "captain")}},
		{"names in programs", "harbour_id parseHarbour http.Harbour storm-harbour HARBOUR harbour2 O'Harbour x/harbour", nil},
		{"punctuation", "(harbour), storms!", []analysis.Spelled{word("harbour", "harbour", "harbour"), word("storms", "storms", "storm")}},
		{"phrases", `the "harbour master" of “storms” anchor`, []analysis.Spelled{word("anchor", "anchor", "anchor")}},
		{"patterns", "harbo* storms~ anchor", []analysis.Spelled{word("anchor", "anchor", "anchor")}},
		{"scripts", "Brücken κύματα книга كتابات 機器学習 한국어로 हिन्दी", []analysis.Spelled{
			word("Brücken", "brücken", "brücken"), word("κύματα", "κύματα", "κύματα"),
			word("книга", "книга", "книг"), word("كتابات", "كتابات", "كتاب"),
		}},
		{"two scripts in one word", "hаrbour", nil}, // with a Cyrillic а
		{"too long", strings.Repeat("harbour", 10), nil},
		{"invalid", "\xffharbour\xff", []analysis.Spelled{word("harbour", "harbour", "harbour")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, slices.Collect(analysis.SpelledWords(tt.query))); diff != "" {
				t.Errorf("words of %q (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

// Words are evaluated lazily.
func TestSpelledWordsEnd(t *testing.T) {
	n := 0
	for range analysis.SpelledWords(strings.Repeat("harbour storms ", 100)) {
		if n++; n == 9 {
			break
		}
	}
	if n != 9 {
		t.Errorf("%d words", n)
	}
}

// respellings returns the words one edit away from the only word of a query, with their terms.
func respellings(t rapid.TB, query string) map[string]string {
	words := slices.Collect(analysis.SpelledWords(query))
	if len(words) != 1 {
		t.Fatalf("%q has %d words", query, len(words))
	}
	found := make(map[string]string)
	words[0].Respell(func(term, spelt []byte) { found[string(spelt)] = string(term) })
	return found
}

func TestRespell(t *testing.T) {
	for query, want := range map[string]map[string]string{
		"retrievla": {"retrieval": "retriev", "retriev": "", "retrieva": "retrieva"},
		"habour":    {"harbour": "harbour", "labour": "labour", "habour": ""},
		"Harrbour":  {"harbour": "harbour"},
		"runnning":  {"running": "run"},
		"Bruke":     {"brüke": "brüke", "brucke": "bruck", "Bruke": ""},
		"wheere":    {"where": "", "sheere": "sheer"}, // a stop word
		"eddinge":   {"edding": "ed", "eddingen": "eddingen"},
		"книгга":    {"книга": "книг"},
	} {
		found := respellings(t, query)
		for spelt, term := range want {
			if got := found[spelt]; got != term && len(term) > 2 {
				t.Errorf("%s as %s is %q, want %q", query, spelt, got, term)
			} else if len(term) <= 2 && found[spelt] != "" {
				t.Errorf("%s is read as %s", query, spelt)
			}
		}
	}
}

// A word misspelt by one edit can be corrected by one edit, unless it has become another English word.
func TestRespellMends(t *testing.T) {
	letters, english := []rune("abcdefghijklmnopqrstuvwxyz"), englishWords(t)
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.SampledFrom([]string{"harbour", "captain", "retrieval", "книгами", "lighthouses"}).Draw(rt, "word")
		runes := []rune(word)
		at := rapid.IntRange(0, len(runes)-1).Draw(rt, "at")
		letter := rapid.SampledFrom(letters).Draw(rt, "letter")
		switch rapid.IntRange(0, 3).Draw(rt, "edit") {
		case 0:
			runes = slices.Delete(runes, at, at+1)
		case 1:
			runes = slices.Insert(runes, at, letter)
		case 2:
			runes[at] = letter
		default:
			next := min(at+1, len(runes)-1)
			runes[at], runes[next] = runes[next], runes[at]
		}
		spoilt := string(runes)
		words := slices.Collect(analysis.SpelledWords(spoilt))
		if len(words) == 0 || words[0].Folded == word {
			return // a stop word, or as it was
		}
		if _, right := slices.BinarySearch(english, spoilt); right {
			return
		}
		if got := respellings(rt, spoilt)[word]; got != analysis.Stem(word) {
			rt.Errorf("%s is not read as %s (%q)", spoilt, word, got)
		}
	})
}

func FuzzSpelledWords(f *testing.F) {
	for _, s := range []string{"Harbuor's storms", `"harbuor" stom*`, "книгга كتاب", "\xffharbour", "ﬁsheries", "ha\u00adrbour"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		terms := analysis.Index(query)
		for w := range analysis.SpelledWords(query) {
			if !strings.Contains(query, w.Written) || !slices.Contains(terms, w.Term) {
				t.Fatalf("%+v of %q", w, query)
			}
			w.Respell(func(term, spelt []byte) {
				if !utf8.Valid(spelt) || !utf8.Valid(term) || string(spelt) == w.Folded ||
					analysis.Stop(string(spelt)) || analysis.Stem(string(spelt)) != string(term) {
					t.Fatalf("%q is read as %q, with the term %q", w.Folded, spelt, term)
				}
			})
		}
	})
}

func englishWords(t *testing.T) []string {
	list, err := os.ReadFile("english.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(list))
}

// An English word is spelt right, whatever words are one edit away.
func TestRespellKeepsEnglishWords(t *testing.T) {
	for _, query := range []string{"leave", "slope", "trust", "stations", "processors", "daemon", "morning", "fourth", "genre"} {
		if found := respellings(t, query); len(found) > 0 {
			t.Errorf("%s is read as %v", query, found)
		}
	}
	for british, american := range map[string]string{
		"harbour": "harbor", "behaviour": "behavior", "organise": "organize", "defence": "defense", "theatre": "theater", "metres": "meters",
	} {
		for word, other := range map[string]string{british: american, american: british} {
			if found := respellings(t, word); len(found) != 1 || found[other] == "" {
				t.Errorf("%s is read as %v, want %s alone", word, found, other)
			}
		}
	}
}

// Each English word stands for itself, and for another spelling of it that is an English word, too.
func TestRespellEnglish(t *testing.T) {
	english := englishWords(t)
	if !slices.IsSorted(english) || len(english) < 18000 {
		t.Fatalf("%d words, or not in order", len(english))
	}
	rapid.Check(t, func(rt *rapid.T) {
		query := rapid.SampledFrom(english).Draw(rt, "word")
		for w := range analysis.SpelledWords(query) {
			w.Respell(func(_, spelt []byte) {
				if _, known := slices.BinarySearch(english, string(spelt)); !known {
					rt.Errorf("%s is read as %s, which is no English word", query, spelt)
				}
			})
		}
	})
}
