package static

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

// bert returns the tokenizer of the embedded table.
func bert() *wordpiece.Tokenizer { return Default().(*embedder).tokenizer }

// ids returns the ids of a text's tokens.
func ids(w *wordpiece.Words, text string) []int32 {
	found := []int32{}
	for w.Start(text); w.Next(); {
		for _, p := range w.Pieces {
			found = append(found, p.ID)
		}
	}
	return found
}

// withRules returns the tokenizer with other rules; train/reference_ids.py has
// the letters.
func withRules(t *testing.T, flags string) *wordpiece.Tokenizer {
	t.Helper()
	r := wordpiece.Uncased()
	for flag, rule := range map[string]*bool{"c": &r.Clean, "h": &r.Han, "s": &r.Strip, "l": &r.Lower} {
		*rule = strings.Contains(flags, flag)
	}
	_, tokens, _, err := parseTable(model)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := wordpiece.New(tokens, r)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestIDsAreTheReferences(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/reference.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	by, n := make(map[string]*wordpiece.Words), 0
	for ; lines.Scan(); n++ {
		var want struct {
			Rules, Text string
			IDs         []int32
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		w, ok := by[want.Rules]
		if !ok {
			w = wordpiece.NewWords(withRules(t, want.Rules))
			by[want.Rules] = w
		}
		if n := Default().(embed.TokenCounter).CountTokens(want.Text); want.Rules == "chsl" && n != len(want.IDs) {
			t.Errorf("%q: %d tokens, want %d", want.Text, n, len(want.IDs))
		}
		if got := ids(w, want.Text); !slices.Equal(got, want.IDs) {
			t.Errorf("%q with rules %q\n got %v\nwant %v", want.Text, want.Rules, got, want.IDs)
		}
	}
	if err := lines.Err(); err != nil || n < 2000 || len(by) != 6 {
		t.Errorf("%d texts were read: %v", n, err)
	}
}

// The text is cut at spaces before anything else, so what stands on both sides
// of one cannot matter to each other.
func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"", "hello, wörld", "[SEP]x[CLS] [MASK", "\xff\xfe", "a\xe4\xb8", "\xe4\xb8\xade", "İ\u0301\u0300 각 ᄀ", "a\x00b\u200dc",
		strings.Repeat("a", 101), strings.Repeat("é", 99) + "ab\U00010400", "≠;\u037e\u1fef", "\u0085\u00a0\v\f",
	} {
		f.Add(s, "go on")
	}
	w := wordpiece.NewWords(bert())
	f.Fuzz(func(t *testing.T, a, b string) {
		whole := ids(w, a+" "+b)
		if parts := append(ids(w, a), ids(w, b)...); !slices.Equal(whole, parts) {
			t.Errorf("%q and %q: %v together, %v apart", a, b, whole, parts)
		}
		if valid := ids(w, strings.ToValidUTF8(a, "\uFFFD")); !slices.Equal(ids(w, a), valid) {
			t.Errorf("%q: %v, and %v as valid UTF-8", a, ids(w, a), valid)
		}
		for w.Start(a); w.Next(); {
			covered := 0
			for _, p := range w.Pieces {
				if p.ID < 0 || int(p.ID) >= w.Size() || p.Covered < 0 {
					t.Fatalf("%q: piece %+v", a, p)
				}
				covered += int(p.Covered)
			}
			if len(w.Pieces) == 0 || covered > w.Letters {
				t.Fatalf("%q: pieces %v of %d letters", a, w.Pieces, w.Letters)
			}
		}
	})
}

func TestBytesThatAreNoUTF8AreDropped(t *testing.T) {
	t.Parallel()
	w := wordpiece.NewWords(bert())
	for _, text := range []string{"deploy\xffment", "\xc3deployment", "deployment\xe4\xb8", "de\xed\xa0\x80ployment"} {
		if got, want := ids(w, text), ids(w, "deployment"); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestWordsLetters(t *testing.T) {
	t.Parallel()
	w := wordpiece.NewWords(bert())
	for _, c := range []struct {
		text             string
		letters, covered int
	}{
		{"", 0, 0},
		{"!?#", 0, 0},
		{"deployment", 10, 10},
		{"Déployment", 10, 10},
		{"kubectl", 7, 6}, // ku ##be ##ct ##l
		{"a b c", 3, 3},
		{"ａ──", 1, 0}, // no token
		{strings.Repeat("a", 1000), 1000, 0},
		{strings.Repeat("é", 1000), 1000, 0},
		{strings.Repeat("é", 500) + strings.Repeat("a", 500), 1000, 0},
		{"[SEP]", 0, 0},
	} {
		var letters, covered int
		for w.Start(c.text); w.Next(); {
			letters += w.Letters
			for _, p := range w.Pieces {
				covered += int(p.Covered)
			}
		}
		if letters != c.letters || covered != c.covered {
			t.Errorf("%.20q: %d letters, %d of them covered; want %d, %d", c.text, letters, covered, c.letters, c.covered)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	w := wordpiece.NewWords(bert())
	text := strings.Repeat("To roll back a release, undo the deployment of the controller: kubectl rollout undo. ", 12)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for w.Start(text); w.Next(); {
		}
	}
}
