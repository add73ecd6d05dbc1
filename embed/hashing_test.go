package embed

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func vectorOf(t testing.TB, e Embedder, text string) []float32 {
	t.Helper()
	v, err := e.EmbedQuery(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func similarity(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestHashingGolden pins the vectors: if it fails, Revision must change.
func TestHashingGolden(t *testing.T) {
	if got := NewHashing(0).Identity(); got != (Identity{Name: "hashing", Revision: "1", Dimensions: 256, Pooling: "sum", Normalized: true}) {
		t.Errorf("identity = %+v", got)
	}
	for _, c := range hashingGolden {
		got := vectorOf(t, NewHashing(8), c.text)
		for i := range got {
			if math.Abs(float64(got[i]-c.want[i])) > 1e-6 {
				t.Errorf("%q: got %#v, want %#v", c.text, got, c.want)
				break
			}
		}
	}
}

var hashingGolden = []struct {
	text string
	want []float32
}{
	{"The quick brown fox", []float32{0.48416603, 0.4010945, 0.20054725, -0.46483585, -0.3473601, -0.28361878, -0.039651506, 0.38176432}},
	{"naïve Straße, 2nd: user_id! user_id", []float32{0.051938564, 0.079888135, -0.3508494, 0.06695196, -0.2178377, 0.6863946, -0.47131467, -0.35016292}},
	{"東京タワー は 高 い", []float32{0, 0.4472136, -0.4472136, -0.4472136, 0, -0.4472136, 0, 0.4472136}},
}

func TestHashingAbstains(t *testing.T) {
	e := NewHashing(0)
	for _, text := range []string{"", " \t\n", "?!... -- ()", "\u0301\u0302", "\xff\xfe", "🙂🙂", "\x00"} {
		if v := vectorOf(t, e, text); v != nil {
			t.Errorf("%q has a vector", text)
		}
	}
	vs, err := e.EmbedDocuments(t.Context(), []string{"one", "", "two"})
	if err != nil || len(vs) != 3 || vs[0] == nil || vs[1] != nil || vs[2] == nil {
		t.Errorf("got %v, %v; want a nil vector in the middle only", vs, err)
	}
	if vs, err := e.EmbedDocuments(t.Context(), nil); err != nil || len(vs) != 0 {
		t.Errorf("no texts: got %v, %v", vs, err)
	}
}

func TestHashingNearness(t *testing.T) {
	e := NewHashing(0)
	query := vectorOf(t, e, "how do I configure the database connection pool?")
	texts := []string{ // nearest first
		"Configure the database connection pool with max_open.",
		"Configuring pools of connections to databases.",
		"The database is backed up every night.",
		"How do I do what you do to the them of the which?",
		"Bread rises because yeast eats sugar.",
	}
	last := 1.0
	for _, text := range texts[:3] {
		s := similarity(query, vectorOf(t, e, text))
		if s >= last || s < 0.1 {
			t.Errorf("similarity to %q = %.3f, after %.3f", text, s, last)
		}
		last = s
	}
	for _, text := range texts[3:] {
		if s := similarity(query, vectorOf(t, e, text)); s >= last {
			t.Errorf("similarity to %q = %.3f, want below %.3f", text, s, last)
		}
	}
}

func TestHashingWords(t *testing.T) {
	for text, want := range map[string][]string{
		"The QUICK fox":       {"the", "quick", "fox"},
		"don't user_id a-b":   {"don", "t", "user", "id", "a", "b"},
		"Straße ÉTÉ e\u0301t": {"straße", "été", "e\u0301t"},
		"x86 ½ ٣":             {"x86", "½", "٣"},
		"東京タワー":               {"東京", "京タ", "タワ", "ワー"},
		"a東b 京":               {"a", "東", "b", "京"},
		"東,京":                 {"東", "京"},
		"한국어 말":               {"한국어", "말"},
		"bad\xffutf\xc38":     {"bad", "utf", "8"},
		"\u0301a \u0301":      {"a"},
		"東京 go":               {"東京", "go"},
		"\xe6\x9d":            nil,
	} {
		var tok tokenizer
		var got []string
		tok.start(text)
		for tok.next() {
			got = append(got, string(tok.word))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestHashingGrams(t *testing.T) {
	var want []uint64
	for _, g := range []string{"<fé", "<féx", "<féx>", "féx", "féx>", "éx>"} {
		want = append(want, hashBytes(seedGram, []byte(g)))
	}
	if got := appendGrams(nil, []byte("féx")); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	long := []byte(strings.Repeat("añ", 500_000))
	if got, limit := len(appendGrams(nil, long)), maxGramRunes*3+6; got > limit {
		t.Errorf("%d n-grams of a long word, want at most %d", got, limit)
	}
	for n := 1; n < 60; n++ { // around the bound
		appendGrams(nil, []byte(strings.Repeat("\U00020000", n)))
	}
}

func TestHashingHugeTexts(t *testing.T) {
	const mega = 1 << 20
	e := NewHashing(0)
	for name, text := range map[string]string{
		"letters":  strings.Repeat("a", mega),
		"spaces":   strings.Repeat(" ", mega),
		"invalid":  strings.Repeat("\xff", mega),
		"marks":    strings.Repeat("\u0301", mega/2),
		"han":      strings.Repeat("東", mega/3),
		"one word": strings.Repeat("go ", mega/3),
		"mixed":    strings.Repeat("a東\xff", mega/5),
	} {
		v := vectorOf(t, e, text)
		if silent := name == "spaces" || name == "invalid" || name == "marks"; (v == nil) != silent {
			t.Errorf("%s: vector is nil: %v", name, v == nil)
		}
	}
	// The state of a huge text must not affect the next text.
	if v := vectorOf(t, e, "hello"); !slices.Equal(v, vectorOf(t, NewHashing(0), "hello")) {
		t.Error("a text's vector depends on the texts before it")
	}
}

func TestHashingOrderAndCaseDoNotMatter(t *testing.T) {
	e := NewHashing(32)
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé0-9]{1,12}`)).Draw(rt, "words")
		shuffled := rapid.Permutation(words).Draw(rt, "shuffled")
		a := vectorOf(t, e, strings.Join(words, " "))
		if b := vectorOf(t, e, strings.ToUpper(strings.Join(shuffled, ", "))); !slices.Equal(a, b) {
			rt.Errorf("%v and %v differ", a, b)
		}
	})
}

func TestHashingIsConcurrent(t *testing.T) {
	e := NewHashing(0)
	texts := []string{"alpha beta", "", "gamma gamma delta", "東京", strings.Repeat("word list ", 500)}
	want, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				got, err := e.EmbedDocuments(context.Background(), texts)
				if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
					t.Errorf("vectors differ (error %v)", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestHashingCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := NewHashing(0)
	if vs, err := e.EmbedDocuments(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || vs != nil {
		t.Errorf("EmbedDocuments = %v, %v", vs, err)
	}
	if v, err := e.EmbedQuery(ctx, "a"); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("EmbedQuery = %v, %v", v, err)
	}
}

func TestHashingRefusesDimensions(t *testing.T) {
	for _, dim := range []int{-1, MaxHashingDim + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewHashing(%d) did not panic", dim)
				}
			}()
			NewHashing(dim)
		}()
	}
}

func FuzzHashing(f *testing.F) {
	for _, s := range []string{"", "The fox", "東京タワー", "\xff\xc3(", "a\u0301\u0301", "İIıi", strings.Repeat("x", 100)} {
		f.Add(s)
	}
	e := NewHashing(64)
	f.Fuzz(func(t *testing.T, text string) {
		v := vectorOf(t, e, text)
		if !slices.Equal(v, vectorOf(t, NewHashing(64), text)) {
			t.Fatal("equal texts have different vectors")
		}
		if v != nil && math.Abs(similarity(v, v)-1) > 1e-5 {
			t.Fatalf("length is %v", similarity(v, v))
		}
		var tok tokenizer
		tok.start(text)
		for tok.next() {
			if len(tok.word) == 0 || !utf8.Valid(tok.word) {
				t.Fatalf("word %q", tok.word)
			}
		}
	})
}

func BenchmarkHashing(b *testing.B) {
	var words []string
	for _, stem := range []string{"index", "vector", "keyword", "stor", "merg", "snapshot", "quer", "token", "context", "agent"} {
		for _, end := range []string{"s", "ing", "ed", "er", "able", "y", "ation", "less", "ful", "ism", "the", "and"} {
			words = append(words, stem+end)
		}
	}
	text := strings.Join(words, " ")[:1024]
	e := NewHashing(0)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		vectorOf(b, e, text)
	}
}
