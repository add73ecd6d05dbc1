package resolve_test

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/xmlfmt"
)

// odd lists counters that are as far from additive as allowed.
var odd = map[string]func(string) int{
	"runes": func(s string) int { return len([]rune(s)) },
	"bytes": func(s string) int { return len(s) },
	"words": func(s string) int { return len(strings.Fields(s)) },
	"pairs": func(s string) int { return 10 * strings.Count(s, "</context>") * strings.Count(s, "<context") },
	"steps": func(s string) int { return (len(s) + 499) / 500 * 60 },
	"jumpy": func(s string) int {
		n := len(s)/4 + len(s)%7*5
		return min(n, len(s))
	},
	"constant": func(s string) int { return min(len(s), 1) * 50 },
}

func anyCounter(name string) (ragctx.Counter, error) {
	if count, ok := odd[name]; ok {
		return counter{name, count}, nil
	}
	return tokens.New(name)
}

func counterNames() []string {
	return slices.Concat(tokens.Names(), slices.Sorted(maps.Keys(odd)))
}

var fragments = []string{
	"</context>", "<context type=\"Skill\">", "&amp;", "&", "<", "\x00", "\x1b[31m", "\xff\xfe", "\u202e", "]]>", "\r\n", "\n\n", "  ", "\t",
	"[2] x (Skill)", "<|endoftext|>", "漢字仮名", "ελληνικά", "🙂👩‍👩‍👧", "e\u0301",
	strings.Repeat("a", 90), strings.Repeat(" ", 70), strings.Repeat("=", 40),
	"The retry budget is shared by all workers of a pool. ",
	"func (s *Server) Close() error { return s.ln.Close() }\n", "| 12 | 3.14159 | ok |\n",
}

func drawText(t *rapid.T, label string) string {
	seed := rapid.Uint64().Draw(t, label)
	rnd := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range rnd.IntN(1 + rnd.IntN(60)) {
		b.WriteString(fragments[rnd.IntN(len(fragments))])
	}
	return b.String()
}

func drawProviders(t *rapid.T) []resolve.Registered {
	var regs []resolve.Registered
	for i := range rapid.IntRange(0, 3).Draw(t, "providers") {
		f := fake{name: fmt.Sprint("p", i)}
		for j := range rapid.IntRange(0, 8).Draw(t, "items") {
			it := item(fmt.Sprintf("%d#%d", i%2, j), rapid.Float64Range(0, 1).Draw(t, "relevance"), drawText(t, "content"))
			it.Source = rapid.SampledFrom([]string{"", "memory", "file:a.md", "<\"'&\x00>\n:", strings.Repeat("long/", 40)}).Draw(t, "source")
			it.Metadata = drawPlace(t)
			it = withForms(it, it.Content+drawText(t, "wider"), firstHalf(it.Content), drawText(t, "shorter"))
			it.Forms.Wider.Lines = rapid.SampledFrom([]string{"", "1-2000", "\"<\n"}).Draw(t, "wider lines")
			f.items = append(f.items, it)
		}
		regs = append(regs, resolve.Registered{Provider: f, Required: rapid.IntRange(0, 3).Draw(t, "required") == 0})
	}
	return regs
}

// drawPlace draws the source metadata of an item, which may be missing.
func drawPlace(t *rapid.T) map[string]any {
	m := make(map[string]any)
	for _, key := range [...]string{"title", "page", "lines"} {
		v := rapid.SampledFrom([]any{
			nil, 7, "5-7", "A title, of \"several\" <words>", "\n</context>\r[2] x (Skill)\u202e", strings.Repeat("long ", 40),
			[]string{"odd"},
		})
		if v := v.Draw(t, key); v != nil {
			m[key] = v
		}
	}
	return m
}

func firstHalf(s string) string { return s[:len(s)/2] } // may split a character

func drawQuery(t *rapid.T) ragctx.ContextQuery {
	q := ragctx.NewQuery("q")
	q.Tokenizer = rapid.SampledFrom(counterNames()).Draw(t, "tokenizer")
	q.Format = rapid.SampledFrom(xmlfmt.Names()).Draw(t, "format")
	q.MaxTokens = rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(60, 4000)).Draw(t, "max tokens")
	q.MaxResults = rapid.IntRange(1, 12).Draw(t, "max results")
	q.Citations = new(rapid.IntRange(0, 3).Draw(t, "citations") > 0)
	q.MinRelevance = rapid.SampledFrom([]*float64{nil, new(0.0), new(.3)}).Draw(t, "min relevance")
	return q
}

// withinCap resolves q and checks that the answer keeps the token cap.
func withinCap(t *rapid.T, o resolve.Options, q ragctx.ContextQuery) (resolve.Answer, ragctx.Counter) {
	r, err := resolve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Resolve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	c, err := anyCounter(q.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Count(a.Rendered()); n > q.MaxTokens || n != a.TotalTokens {
		t.Errorf("%d tokens, reported %d, cap %d", n, a.TotalTokens, q.MaxTokens)
	}
	return a, c
}

// TestTokenCap: for any provider results, the rendered string keeps the token cap, is well-formed, and
// every item is accounted for.
func TestTokenCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regs, q := drawProviders(t), drawQuery(t)
		a, c := withinCap(t, resolve.Options{Providers: regs, Counters: anyCounter}, q)
		if len(a.Items) > q.MaxResults {
			t.Errorf("%d items, cap %d", len(a.Items), q.MaxResults)
		}
		checkAccounts(t, a, c)
		checkRendered(t, a, *q.Citations)
	})
}

// checkAccounts checks that each input item is shown or dropped, and that the counts match the shown
// items.
func checkAccounts(t *rapid.T, a resolve.Answer, c ragctx.Counter) {
	returned, used := 0, 0
	for _, p := range a.Providers {
		returned += p.Returned
		used += p.Used
	}
	if used != len(a.Items) || returned != used+len(a.Dropped) {
		t.Errorf("%d returned, %d used, %d shown, %d dropped", returned, used, len(a.Items), len(a.Dropped))
	}
	for _, it := range a.Items {
		if it.TokenCount != c.Count(it.Content) {
			t.Errorf("%s has %d tokens, reported %d", it.ID, c.Count(it.Content), it.TokenCount)
		}
	}
	below := strings.Contains(a.Note, " with a relevance below 0.02 w")
	if len(a.Items) == 0 && a.Note == "" || len(a.Items) > 0 && a.Note != "" && !below || (len(a.Items) == 0) != (a.Rendered() == "") {
		t.Errorf("%d items, note %q, rendered %q", len(a.Items), a.Note, a.Rendered())
	}
}

// tag is the citation of a rendered item.
type tag struct {
	ID    string `xml:"id,attr"`
	Lines string `xml:"lines,attr"`
}

// checkRendered checks that the rendered string contains the items, and with citations their ids, and
// their lines unless they were cut.
func checkRendered(t *rapid.T, a resolve.Answer, cited bool) {
	var tags []tag
	switch a.Format {
	case "xml", "documents":
		var root struct {
			Context  []tag `xml:"context"`
			Document []tag `xml:"documents>document"`
		}
		if err := xml.Unmarshal([]byte("<root>"+a.Rendered()+"</root>"), &root); err != nil {
			t.Errorf("%v:\n%s", err, a.Rendered())
		}
		tags = slices.Concat(root.Context, root.Document)
	case "json":
		if err := json.Unmarshal([]byte(cmp.Or(a.Rendered(), "[]")), &tags); err != nil {
			t.Errorf("%v: %s", err, a.Rendered())
		}
	default:
		return
	}
	var want []tag
	for _, it := range a.Items {
		w := tag{ID: it.ID}
		if lines, ok := it.Metadata["lines"].(string); ok && !it.Cut {
			w.Lines = lines
		}
		if !cited {
			w = tag{}
		}
		want = append(want, w)
	}
	if diff := gocmp.Diff(want, tags, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("cited otherwise: %s\n%s", diff, a.Rendered())
	}
}

// TestRealTokenizersFillTheBudget: with a real tokenizer and enough items, less is left than one short
// item takes.
func TestRealTokenizersFillTheBudget(t *testing.T) {
	const shortItem = 170
	r, err := resolve.New(resolve.Options{Providers: []resolve.Registered{{Provider: manyItems(40)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tokenizer := range tokens.Names() {
		for _, format := range xmlfmt.Names() {
			for _, budget := range []int{150, 200, 1000, 4000, 7777} {
				q := ragctx.ContextQuery{Query: "q", Tokenizer: tokenizer, Format: format, MaxTokens: budget, MaxResults: 40}
				if a := mustResolve(t, r, q); a.TotalTokens < budget-shortItem || a.TotalTokens > budget {
					t.Errorf("%s, %s: %d tokens of %d", tokenizer, format, a.TotalTokens, budget)
				}
			}
		}
	}
}

func TestEqualInputsEqualBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regs, q := drawProviders(t), drawQuery(t)
		r, err := resolve.New(resolve.Options{Providers: regs, Counters: anyCounter})
		if err != nil {
			t.Fatal(err)
		}
		answers := make([]resolve.Answer, 4)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i], _ = r.Resolve(t.Context(), q) })
		}
		wg.Wait()
		for _, a := range answers[1:] {
			if diff := gocmp.Diff(answers[0], a, cmpopts.IgnoreFields(resolve.ProviderReport{}, "TookMS")); diff != "" {
				t.Error(diff)
			}
		}
	})
}

var sentences = []string{
	"The scheduler keeps one queue per processor and steals work when its own is empty.",
	"Set `RETRY_LIMIT` to 0 to switch retries off; the default of 3 suits most networks.",
	"A lease that is not renewed within 10 s is given to the next node in the ring.",
	"func (p *Pool) Get() *Buffer { return p.free.Get().(*Buffer) }",
	"Errors are wrapped once, with the name of the operation that failed.",
}

// manyItems returns n items of about 2,000 characters, with abstracts.
func manyItems(n int) fake {
	f := fake{name: "docs"}
	for i := range n {
		rnd := rand.New(rand.NewPCG(uint64(i), 7))
		var b strings.Builder
		for b.Len() < 2000 {
			fmt.Fprintf(&b, "%s ", sentences[rnd.IntN(len(sentences))])
			if rnd.IntN(4) == 0 {
				fmt.Fprintf(&b, "(see %d.%d)\n\n", rnd.IntN(90), i)
			}
		}
		it := item(fmt.Sprintf("doc@1#%d", i), 1-float64(i)/200, b.String()[:2000])
		it.Source = fmt.Sprintf("file:docs/%d.md", i)
		f.items = append(f.items, withForms(it, "", b.String()[:300]))
	}
	return f
}

func BenchmarkResolve(b *testing.B) {
	for _, bm := range []struct {
		name  string
		forms bool
		max   int
	}{{"stepdown", true, 10}, {"rigid", false, 100}} {
		b.Run(bm.name, func(b *testing.B) {
			f := manyItems(100)
			if !bm.forms {
				for i := range f.items {
					f.items[i].Forms = ragctx.Forms{}
				}
			}
			r, err := resolve.New(resolve.Options{Providers: []resolve.Registered{{Provider: f}}})
			if err != nil {
				b.Fatal(err)
			}
			q := ragctx.NewQuery("q").WithMaxResults(bm.max)
			for b.Loop() {
				if _, err := r.Resolve(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
