package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/xmlfmt"
)

// cities are two texts; a budget of 48 tokens once showed the worse one.
var cities = map[string]string{
	"travel-policy.md": `# Travel policy

## Hotels

Book hotels through the travel desk. Hotels are reimbursed up to 180 EUR a night in Paris and London, 140 EUR elsewhere. Breakfast is included in the limit.

## Trains

Trains are booked in second class. First class needs the approval of the team lead.
`,
	"payment-runbook.md": `# Payment runbook

The payment gateway runs in Paris. Restart it with the deploy tool.
`,
}

// TestTheBestIsShownAtAnyBudget: nothing worse takes the place of the best item while it
// fits in some form.
func TestTheBestIsShownAtAnyBudget(t *testing.T) {
	f := open(t)
	for name, text := range cities {
		f.put(name, text)
	}
	for limit := 16; limit < 200; limit++ {
		a, err := f.Context(t.Context(), ragctx.ContextQuery{Query: "hotel limit in Paris", MaxTokens: limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Items) > 0 && a.Items[0].Metadata["document"] != "travel-policy.md" {
			t.Errorf("%d tokens: %s", limit, a.XML)
		}
		if limit >= 48 && (len(a.Items) == 0 || !strings.Contains(a.XML, "180 EUR")) {
			t.Errorf("%d tokens: %s", limit, a.XML)
		}
	}
}

var topics = strings.Fields("hotel limit Paris London train refund invoice gateway deploy rollback backup lease retry budget token policy team lead night desk")

// drawText draws a text of sections and sentences, in which units touch.
func drawText(t *rapid.T) string {
	var b strings.Builder
	for s := range rapid.IntRange(1, 4).Draw(t, "sections") {
		fmt.Fprintf(&b, "## %s %d\n\n", rapid.SampledFrom(topics).Draw(t, "heading"), s)
		for range rapid.IntRange(1, 8).Draw(t, "sentences") {
			words := rapid.SliceOfN(rapid.SampledFrom(topics), 3, 24).Draw(t, "words")
			b.WriteString("The " + strings.Join(words, " ") + rapid.SampledFrom([]string{". ", ".\n\n", "! ", " & <", ": 漢字仮名. "}).Draw(t, "end"))
		}
	}
	return b.String()
}

// TestMoreTokensKeepTheBest: over random corpora, tokenizers, formats and depths, a larger
// budget never shows a worse best item.
func TestMoreTokensKeepTheBest(whole *testing.T) {
	var f *fixture
	corpus := 0
	rapid.Check(whole, func(t *rapid.T) {
		if corpus%50 == 0 {
			f = open(whole) // an engine with thousands of namespaces is slow for another reason
		}
		corpus++
		q := ragctx.ContextQuery{
			Query:     strings.Join(rapid.SliceOfN(rapid.SampledFrom(topics), 1, 4).Draw(t, "question"), " "),
			Namespace: fmt.Sprint("corpus-", corpus),
			Tokenizer: rapid.SampledFrom(tokens.Names()).Draw(t, "tokenizer"),
			Format:    rapid.SampledFrom(xmlfmt.Names()).Draw(t, "format"),
			Depth:     rapid.SampledFrom([]ragctx.ContextDepth{ragctx.DepthAbstract, ragctx.DepthOverview, ragctx.DepthFull}).Draw(t, "depth"),
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "texts") {
			if _, err := f.Documents().Put(t.Context(), q.Namespace, ragctx.Document{ExternalID: fmt.Sprint(i, ".md"), Text: drawText(t)}, ""); err != nil {
				t.Fatal(err)
			}
		}
		answer := func(limit int) resolve.Answer {
			q.MaxTokens = limit
			a, err := f.Context(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		var ranked []string
		for _, it := range answer(100_000).Items {
			ranked = append(ranked, it.ID)
		}
		limits := rapid.SliceOfN(rapid.IntRange(16, 4000), 4, 4).Draw(t, "limits")
		from := rapid.IntRange(16, 300).Draw(t, "from")
		for i := range 12 {
			limits = append(limits, from+i)
		}
		slices.Sort(limits)
		best := math.MaxInt
		for _, limit := range limits {
			rank := math.MaxInt
			for _, it := range answer(limit).Items {
				rank = min(rank, slices.Index(ranked, it.ID))
			}
			if rank > best || rank < 0 {
				t.Fatalf("%d tokens: the best of %v is at %d, with fewer it was at %d", limit, ranked, rank, best)
			}
			best = rank
		}
	})
}

// TestAFewTextsThatShareTheWord: a question stands clear of the minimum relevance although all texts have its word, and
// none has its other words.
func TestAFewTextsThatShareTheWord(t *testing.T) {
	for n := 1; n <= 8; n++ {
		f := open(t)
		for i := range n {
			f.turn(ragctx.Turn{UserID: fmt.Sprintf("user%d", i), SessionID: "s", Prompt: fmt.Sprintf("My berth is number %d.", i), Response: "Noted."})
		}
		for _, q := range []string{"which berth is mine?", "berth deposit"} {
			a := f.ask(ragctx.ContextQuery{Query: q, UserID: "user0"})
			if len(a.Items) == 0 || a.Items[0].Relevance < 1.5*ragctx.DefaultMinRelevance {
				t.Errorf("%d texts, %q: %+v", n, q, a.Items)
			}
		}
	}
}

// TestEmptySearchSaysWhy: an empty list of results names its reason, and an absent namespace is one.
func TestEmptySearchSaysWhy(t *testing.T) {
	f := open(t)
	f.put("berth.md", "The berth is number seven.")
	f.put("anchor.md", "The anchor is beside the berth.")
	least := 0.99
	for _, c := range []struct {
		query ragctx.ContextQuery
		note  string
	}{
		{ragctx.ContextQuery{Query: "berth", MinRelevance: &least}, "docs: 2 found, none kept (2 below min_relevance)"},
		{ragctx.ContextQuery{Query: "zyzzyva"}, "docs: no document matches the query"},
		{ragctx.ContextQuery{Query: "berth", Namespace: "typo"}, `nothing has been stored in namespace "typo"`},
	} {
		found, err := f.Search(t.Context(), c.query)
		if err != nil || len(found.Items) > 0 || !strings.Contains(found.Note, c.note) {
			t.Errorf("%+v: %d items, note %q, %v", c.query, len(found.Items), found.Note, err)
		}
		if a := f.ask(c.query); len(a.Items) > 0 || !strings.Contains(a.Note, c.note) {
			t.Errorf("%+v: the context has %d items, note %q", c.query, len(a.Items), a.Note)
		}
	}
	q := ragctx.ContextQuery{Query: "anchor beside the berth"}
	all, err := f.Search(t.Context(), q)
	if err != nil || len(all.Items) != 2 || all.Note != "" {
		t.Fatalf("%+v, %v", all, err)
	}
	least = (all.Items[0].Relevance + all.Items[1].Relevance) / 2
	q.MinRelevance = &least
	if found, err := f.Search(t.Context(), q); err != nil || len(found.Items) != 1 || !strings.HasPrefix(found.Note, "1 item with a relevance below 0.") {
		t.Errorf("%d items, note %q, %v", len(found.Items), found.Note, err)
	}
}
