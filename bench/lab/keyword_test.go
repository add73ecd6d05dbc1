package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/keyword"
)

// This test measures searches of the keyword index over chunks of real texts:
//
//	go test . -run TestKeywordLeg -keyword-corpus DIR,DIR -keyword-dir DIR -timeout 1h -v
//
// The queries are sentences of the texts themselves. Their words are frequent there, so they are the
// most expensive queries that people ask. A filled -keyword-dir is reused.
var (
	keywordCorpus = flag.String("keyword-corpus", "", "directories with texts, by commas, that TestKeywordLeg "+
		"searches; \"\" leaves it out")
	keywordChunks = flag.Int("keyword-chunks", 100_000, "how many chunks of them it searches")
	keywordDir    = flag.String("keyword-dir", "", "where the index is kept; \"\" is a temporary directory")
	keywordAsked  = flag.Int("keyword-asked", 1000, "how many questions it asks of each kind")
	keywordRest   = flag.Duration("keyword-rest", 0, "how long it waits before; an index that nothing is "+
		"written to is tidied after 20 s")
	keywordOnly = flag.String("keyword-only", "", "the kinds of search that it asks for, by a part of their "+
		"names; \"\" is all")
)

// keywordMade describes a filled index.
type keywordMade struct {
	Chunks, Texts int
	Seconds       float64 // of CPU time
	Queries       []string
}

// fillKeyword fills an index in batches of the engine's size.
func fillKeyword(ctx context.Context, dir string) (made keywordMade, err error) {
	c, err := chunkTexts(strings.Split(*keywordCorpus, ","), *keywordChunks)
	if err != nil {
		return made, err
	}
	ix, err := keyword.Open(dir, keyword.Options{})
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	before := processTime()
	for from := 0; from < len(c.units); {
		to := min(from+500, len(c.units))
		for to < len(c.units) && c.units[to].Item == c.units[to-1].Item {
			to++
		}
		if err := ix.Apply(ctx, uint64(to), c.units[from:to], nil); err != nil {
			return made, err
		}
		from = to
	}
	if err := ix.Flush(ctx); err != nil {
		return made, err
	}
	made = keywordMade{
		len(c.units), int(c.texts), (processTime() - before).Seconds(),
		drawSentences(c.units, *keywordAsked),
	}
	return made, nil
}

// filledKeyword opens the index of the test, and fills it if it does not exist.
func filledKeyword(t *testing.T) (*keyword.Index, keywordMade) {
	t.Helper()
	dir := *keywordDir
	if dir == "" {
		dir = t.TempDir()
	}
	note := filepath.Join(dir, "made.json")
	var made keywordMade
	b, err := os.ReadFile(note)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if made, err = fillKeyword(t.Context(), filepath.Join(dir, "index")); err != nil {
			t.Fatal(err)
		}
		if b, err = json.Marshal(made); err == nil {
			err = os.WriteFile(note, b, 0o600)
		}
	case err == nil:
		err = json.Unmarshal(b, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	if made.Chunks != *keywordChunks || len(made.Queries) < *keywordAsked {
		t.Fatalf("%s has %d chunks and %d questions; name another directory", dir, made.Chunks, len(made.Queries))
	}
	start := time.Now()
	ix, err := keyword.Open(filepath.Join(dir, "index"), keyword.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	t.Logf("opened in %v", time.Since(start).Round(time.Millisecond))
	time.Sleep(*keywordRest)
	segments, _ := filepath.Glob(filepath.Join(dir, "index", "scorch", "*.zap"))
	t.Logf("%d chunks of %d texts in %d segments, %.0f MB; made with %.1f s of CPU time, %.0f chunks/s; %+v",
		made.Chunks, made.Texts, len(segments), float64(ix.Stats().Bytes)/1e6, made.Seconds,
		float64(made.Chunks)/made.Seconds, ix.Stats())
	return ix, made
}

// keywordKind is a kind of search and its times.
type keywordKind struct {
	name string
	q    index.KeywordQuery
	used []time.Duration
}

// keywordKinds are the searches that are compared.
func keywordKinds(accept index.Accept) (kinds []keywordKind) {
	words := index.KeywordParams{Pairs: -1, Grams: -1}
	for _, kind := range []keywordKind{
		{name: "words", q: index.KeywordQuery{Params: words}},
		{name: "words, 5 %", q: index.KeywordQuery{Params: words, Accept: accept}},
		{name: "words and pairs", q: index.KeywordQuery{Params: index.KeywordParams{Grams: -1}}},
		{name: "all features"},
		{name: "all features, spelling", q: index.KeywordQuery{Spelling: &index.Spelling{}}},
		{name: "all features, 5 %", q: index.KeywordQuery{Accept: accept}},
	} {
		for _, kind.q.K = range []int{10, 100, 1000} {
			name := fmt.Sprintf("%s, K %d", kind.name, kind.q.K)
			if strings.Contains(name+" ", *keywordOnly) {
				kinds = append(kinds, keywordKind{name: name, q: kind.q})
			}
		}
	}
	return kinds
}

// TestKeywordLeg reports the CPU time of the searching thread. Other programs affect it less than
// wall-clock time. All kinds take turns, so their ratios are hardly affected.
func TestKeywordLeg(t *testing.T) {
	if *keywordCorpus == "" {
		t.Skip("-keyword-corpus names directories with texts")
	}
	ix, made := filledKeyword(t)
	accepted := make([]bool, made.Texts+1) // a filter costs a look-up, not more
	for text := range accepted {
		accepted[text] = order(fmt.Sprint("text ", text))%20 == 0
	}
	kinds := keywordKinds(func(id uint64) bool { return accepted[id>>unitBits] })
	// later much is known of terms
	first := []keywordKind{{name: "all features, K 100, asked first", q: index.KeywordQuery{K: 100}}}
	for _, kinds := range [][]keywordKind{first, kinds} {
		if err := askKeyword(t.Context(), ix, kinds, made.Queries[:*keywordAsked]); err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			t.Logf("%-34s %s", kind.name, milliseconds(kind.used))
		}
	}
}

// askKeyword asks one question after another, each in all kinds.
func askKeyword(ctx context.Context, ix *keyword.Index, kinds []keywordKind, texts []string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for n, text := range texts {
		for i := range kinds {
			kind := &kinds[(i+n)%len(kinds)]
			kind.q.Text = text
			before := threadTime()
			if _, err := ix.Search(ctx, kind.q); err != nil {
				return err
			}
			kind.used = append(kind.used, threadTime()-before)
		}
	}
	return nil
}

// milliseconds formats percentiles and the mean of times, which it sorts.
func milliseconds(times []time.Duration) string {
	slices.Sort(times)
	sum := time.Duration(0)
	for _, d := range times {
		sum += d
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	at := func(p int) float64 { return ms(times[min(len(times)-1, len(times)*p/100)]) }
	return fmt.Sprintf("p50 %6.2f  p95 %6.2f  p99 %6.2f  mean %6.2f ms", at(50), at(95), at(99),
		ms(sum/time.Duration(len(times))))
}
