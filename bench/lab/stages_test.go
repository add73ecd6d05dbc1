package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/xmlfmt"
)

// These benchmarks measure the stages of one answer and of one ingested document separately, over one
// generated corpus. Word frequencies are uneven, so posting lists have realistic lengths.

const (
	corpusDocs     = 600 // about 20 chunks each
	docSections    = 10
	sectionWords   = 120
	vocabularySize = 20_000
)

type words struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newWords(seed uint64) words {
	r := rand.New(rand.NewPCG(seed, 7))
	return words{r, rand.NewZipf(r, 1.15, 4, vocabularySize-1)}
}

// next returns a word; its syllables make the stemmer treat it as one.
func (w words) next() string {
	n := w.zipf.Uint64()
	var b strings.Builder
	for {
		b.WriteString([...]string{"ra", "te", "lon", "mi", "ster", "qua", "ving", "po", "des", "ner"}[n%10])
		if n /= 10; n == 0 {
			return b.String()
		}
	}
}

func (w words) sentence(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.next()
	}
	return strings.Join(list, " ")
}

func (w words) document() string {
	var b strings.Builder
	for range docSections {
		fmt.Fprintf(&b, "## %s\n\n", w.sentence(4))
		for n := 0; n < sectionWords; n += 15 {
			b.WriteString(w.sentence(15) + ". ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// TestMain closes the shared engines of the benchmarks, and then checks for leaked goroutines.
func TestMain(m *testing.M) {
	code := m.Run()
	if made {
		if c, err := shared(); err == nil {
			_ = c.engine.Close()
			_ = os.RemoveAll(c.dir)
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// made reports whether shared was called.
var made bool

// corpus is an engine with the generated documents, created once for all benchmarks.
type corpus struct {
	dir     string
	engine  *engine.Engine
	text    string // one document
	queries []string
}

var shared = sync.OnceValues(func() (*corpus, error) {
	made = true
	dir, err := os.MkdirTemp("", "ragctx-bench")
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{Dir: dir, AnswerCache: -1})
	if err != nil {
		return nil, err
	}
	w := newWords(1)
	c := &corpus{dir: dir, engine: e, text: w.document()}
	for i := range corpusDocs {
		d := ragctx.Document{ExternalID: fmt.Sprintf("doc-%d.md", i), Text: w.document()}
		if _, err := e.Documents().Put(ctx, "", d, ""); err != nil {
			return nil, err
		}
	}
	q := newWords(2)
	for range 64 {
		c.queries = append(c.queries, q.sentence(7))
	}
	return c, nil
})

func setup(b *testing.B) *corpus {
	b.Helper()
	c, err := shared()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return c
}

func BenchmarkParse(b *testing.B) {
	c := setup(b)
	b.SetBytes(int64(len(c.text)))
	for b.Loop() {
		if _, err := docs.Prepare(ragctx.Document{ExternalID: "a.md", Text: c.text}, docs.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	c := setup(b)
	b.SetBytes(int64(len(c.text)))
	for b.Loop() {
		chunk.Split(c.text, ragctx.ChunkSizes{})
	}
}

func BenchmarkAnalyse(b *testing.B) {
	c := setup(b)
	b.SetBytes(int64(len(c.text)))
	for b.Loop() {
		analysis.Each(c.text, func([]byte) {})
	}
}

func BenchmarkEmbed(b *testing.B) {
	c := setup(b)
	e := builtin.Default()
	texts := []string{c.text[:1024]}
	b.SetBytes(1024)
	for b.Loop() {
		if _, err := e.EmbedDocuments(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHits(b *testing.B) {
	for _, method := range []string{"keyword", "vector", "convex", "rrf"} {
		b.Run(method, func(b *testing.B) {
			c := setup(b)
			o := engine.HitsOptions{Kind: store.KindDocuments, K: 50, Ranking: index.Ranking{Method: method}}
			for i := 0; b.Loop(); i++ {
				if _, _, err := c.engine.Indexes().Hits(b.Context(), ragctx.NewQuery(c.queries[i%len(c.queries)]), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkContext(b *testing.B) {
	c := setup(b)
	for i := 0; b.Loop(); i++ {
		if _, err := c.engine.Context(b.Context(), ragctx.NewQuery(c.queries[i%len(c.queries)])); err != nil {
			b.Fatal(err)
		}
	}
}

// canned is a provider that always returns the same items.
type canned []ragctx.ContextItem

func (c canned) Name() string { return "canned" }

func (c canned) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	return ragctx.ContextResult{Items: slices.Clone(c)}, nil
}

// BenchmarkResolve merges and fits items that cost no search.
func BenchmarkResolve(b *testing.B) {
	w := newWords(5)
	var items canned
	for i := range 50 {
		items = append(items, ragctx.ContextItem{
			ID: fmt.Sprintf("doc-%d@1#0", i), Type: ragctx.TypeResource, Content: w.sentence(120), Relevance: 1 - float64(i)/50,
		})
	}
	r, err := resolve.New(resolve.Options{Providers: []resolve.Registered{{Provider: items}}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Resolve(b.Context(), ragctx.NewQuery("anything")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	c := setup(b)
	a, err := c.engine.Context(b.Context(), ragctx.NewQuery(c.queries[0]))
	if err != nil {
		b.Fatal(err)
	}
	r, err := xmlfmt.New(xmlfmt.XML)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(a.XML)))
	for b.Loop() {
		r.Render(a.Items)
	}
}

func BenchmarkCount(b *testing.B) {
	for _, name := range tokens.Names() {
		b.Run(name, func(b *testing.B) {
			c := setup(b)
			counter, err := tokens.New(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				counter.Count(c.text)
			}
		})
	}
}

func BenchmarkHTTP(b *testing.B) {
	c := setup(b)
	srv := httptest.NewServer(api.New(c.engine, api.Options{}))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // as callers on the same machine do
	defer client.CloseIdleConnections()
	for i := 0; b.Loop(); i++ {
		body := fmt.Sprintf(`{"query": %q}`, c.queries[i%len(c.queries)])
		res, err := client.Post(srv.URL+"/v1/context", "application/json", bytes.NewBufferString(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, err)
		}
	}
}

func BenchmarkPutDocument(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Options{Dir: b.TempDir(), AnswerCache: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ReportAllocs()
	w := newWords(3)
	chunks := 0
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		d := ragctx.Document{ExternalID: fmt.Sprintf("doc-%d.md", i), Text: w.document()}
		b.StartTimer()
		put, err := e.Documents().Put(b.Context(), "", d, "")
		if err != nil {
			b.Fatal(err)
		}
		chunks += put.Chunks
	}
	b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
}

func BenchmarkTurn(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Options{Dir: b.TempDir(), AnswerCache: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ReportAllocs()
	w := newWords(4)
	for b.Loop() {
		if _, err := e.CompleteTurn(b.Context(), ragctx.Turn{
			SessionID: "s", Prompt: w.sentence(20),
			Response: w.sentence(60),
		}); err != nil {
			b.Fatal(err)
		}
	}
}
