package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// spelt formats features: grams in brackets, pairs with a plus.
func spelt(kind Kind, term []byte) string {
	switch kind {
	case Pair:
		return strings.ReplaceAll(string(term), " ", "+")
	case Gram:
		return "[" + string(term[1:]) + "]"
	default:
		return string(term)
	}
}

func TestFeatures(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words", "Retries fail", "retri [_ret] [retr] [etri] [trie] [ries] [ies_] fail retri+fail [_fai] [fail] [ail_]"},
		{"stop words", "king of the hill", "king [_kin] [king] [ing_] of the hill king+hill [_hil] [hill] [ill_]"},
		{"short", "go to x y2", "go to x go+x y2 x+y2"},
		{"parts", "userID", "userid user [_use] [user] [ser_] id user+id"},
		{"compound", "a_b-cd", "a_b-cd a b cd b+cd"},
		{"number", "1.5 km", "1.5 km 1.5+km"},
		{"umlauts", "Brücke", "brücke [_brü] [brüc] [rück] [ücke] [cke_]"},
		{"cyrillic", "книги", "книг [_кни] [книг] [ниги] [иги_]"},
		{"chinese", "机器学", "机器 器学 机器+器学"},
		{"nothing", " ?!", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			Features(tt.text, func(kind Kind, term []byte) { got = append(got, spelt(kind, term)) })
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("Features(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// A query has the features of the text that it was copied from, with counts and without stop words.
func TestQueryFeatures(t *testing.T) {
	tests := []struct{ text, want string }{
		{"what is a goat or two goats", "goat [_goa] [goat] [oat_] two goat+two [_two] [two_] two+goat [oats] [ats_]"},
		{"to be or not", "to be or not"},
		{"", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, f := range QueryFeatures(tt.text) {
			got = append(got, spelt(f.Kind, []byte(f.Text)))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("QueryFeatures(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

// ContentFeatures equals QueryFeatures except for texts of stop words.
func TestContentFeatures(t *testing.T) {
	for text, want := range map[string]int{"": 0, "?!": 0, "to be or not": 0, "is it on": 0, "to be a goat": 4} {
		if got := ContentFeatures(text); len(got) != want {
			t.Errorf("ContentFeatures(%q) = %v, want %d", text, got, want)
		}
	}
}

func checkFeatures(t rapid.TB, text string) {
	t.Helper()
	var words []string
	all := make(map[string]Kind)
	bytes := 0
	Features(text, func(kind Kind, term []byte) {
		bytes += len(term)
		if have, ok := all[string(term)]; ok && have != kind {
			t.Fatalf("%q: %q is of kinds %d and %d", text, term, have, kind)
		}
		all[string(term)] = kind
		switch n := utf8.RuneCount(term); {
		case !utf8.Valid(term):
			t.Fatalf("%q: feature %q is not UTF-8", text, term)
		case kind == Word:
			words = append(words, string(term))
		case kind == Gram && n != GramRunes+1 || kind == Pair && n > 2*MaxTermRunes+1:
			t.Fatalf("%q: kind %d, %q", text, kind, term)
		}
	})
	if plain := Index(text); !slices.Equal(words, plain) {
		t.Fatalf("%q: words %q, without features %q", text, words, plain)
	}
	if most := 80*len(text) + 1; bytes > most {
		t.Fatalf("%d bytes of features of %d bytes", bytes, len(text))
	}
	features, content := QueryFeatures(text), ContentFeatures(text)
	if len(content) > 0 && !cmp.Equal(content, features) {
		t.Fatalf("%q: content features %v, query features %v", text, content, features)
	}
	for _, f := range features {
		if kind, ok := all[f.Text]; !ok || kind != f.Kind || f.Count < 1 {
			t.Fatalf("%q: query feature %+v is not among those of the text", text, f)
		}
		if (f.Kind == Gram) != (len(f.Words) > 0) || !slices.IsSorted(f.Words) ||
			slices.ContainsFunc(f.Words, func(i int) bool { return features[i].Kind != Word }) {
			t.Fatalf("%q: query feature %+v is of other words", text, f)
		}
	}
}

func TestGramsOfWords(t *testing.T) {
	of := make(map[string][]string)
	terms := QueryFeatures("Hardy cards harden cards harder userCard")
	for _, f := range terms {
		for _, i := range f.Words {
			of[f.Text] = append(of[f.Text], terms[i].Text)
		}
	}
	for gram, want := range map[string][]string{
		"\x01_har": {"hardi", "harden", "harder"}, "\x01card": {"card"}, "\x01ard_": {"card"}, "\x01rden": {"harden"}, "\x01user": {"user"},
	} {
		if got := of[gram]; !slices.Equal(got, want) {
			t.Errorf("%q is of %q, want %q", gram, got, want)
		}
	}
}

func TestQueryFeaturesAreInTheText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkFeatures(rt, drawText(rt)) })
}

func FuzzFeatures(f *testing.F) {
	for _, s := range []string{
		english, "parseHTTPRequest user_id", "机器学习 데이터", "не знаю", "وال", "a b c", "\xff\xfe", "1,000.5 is it", "\x01_ab_",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkFeatures(t, text) })
}
