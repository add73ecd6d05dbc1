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
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// This test measures searches of both indexes and whole answers in process, over chunks of real texts, with and without
// concurrent writes:
//
//	go test . -run TestHybrid -hybrid-corpus DIR,DIR -hybrid-dir DIR -timeout 1h -v
//
// The queries are those of TestKeywordLeg. A filled -hybrid-dir is reused.
var (
	hybridCorpus = flag.String("hybrid-corpus", "", "directories with texts, by commas, that TestHybrid "+
		"searches; \"\" leaves it out")
	hybridChunks = flag.Int("hybrid-chunks", 100_000, "how many chunks of them it searches, about")
	hybridDir    = flag.String("hybrid-dir", "", "the data directory; \"\" is a temporary one")
	hybridAsked  = flag.Int("hybrid-asked", 2000, "how many questions it asks of each kind")
	hybridOnly   = flag.String("hybrid-only", "", "the kinds of search that it asks for, by a part of their "+
		"names as \"vector   K 10\"; \"\" is all")
	hybridRest = flag.Duration("hybrid-rest", 0, "how long it waits before; an index that nothing is written "+
		"to is tidied after 20 s")
	hybridWrites = flag.Float64("hybrid-writes", 20, "documents that are written in a second, beside the "+
		"questions; 0 is as many as can be")
)

// fillHybrid writes documents until there are enough chunks, and records the queries.
func fillHybrid(ctx context.Context, e *engine.Engine, note string) error {
	c, err := chunkTexts(strings.Split(*hybridCorpus, ","), *hybridChunks)
	if err != nil {
		return err
	}
	files, err := textFiles(strings.Split(*hybridCorpus, ","))
	if err != nil {
		return err
	}
	written := uint64(0)
	full := func() bool { return written >= c.texts }
	for _, f := range files {
		if full() {
			break
		}
		var failed error
		err := f.read(full, func(name, title, text string) {
			if _, err := e.Documents().Put(ctx, "", ragctx.Document{ExternalID: name, Title: title, Text: text},
				""); err == nil {
				written++
			} else if !errors.Is(err, ragctx.ErrInvalid) {
				failed = errors.Join(failed, err)
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	b, err := json.Marshal(drawSentences(c.units, *hybridAsked))
	if err != nil {
		return err
	}
	return os.WriteFile(note, b, 0o600)
}

// filledHybrid opens the engine of the test, and fills it if it is empty.
func filledHybrid(t *testing.T) (*engine.Engine, []string) {
	t.Helper()
	dir := *hybridDir
	if dir == "" {
		dir = t.TempDir()
	}
	e, err := engine.Open(t.Context(), engine.Options{Dir: filepath.Join(dir, "data"), AnswerCache: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	note := filepath.Join(dir, "questions.json")
	b, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		if err := fillHybrid(t.Context(), e, note); err != nil {
			t.Fatal(err)
		}
		b, err = os.ReadFile(note)
	}
	var questions []string
	if err == nil {
		err = json.Unmarshal(b, &questions)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e, questions
}

// write replaces documents by versions with reordered words until ctx ends, and returns their number.
func write(ctx context.Context, e *engine.Engine, questions []string, perSecond float64) (written int, err error) {
	start := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		if perSecond > 0 {
			due := start.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return written, nil
			}
		}
		var text strings.Builder
		for i := range 60 { // about ten chunks
			fmt.Fprintf(&text, "%s. ", questions[(n*61+i)%len(questions)])
		}
		d := ragctx.Document{ExternalID: fmt.Sprintf("written-%d.md", n%256), Text: text.String()}
		if _, err := e.Documents().Put(ctx, "", d, ""); err != nil && ctx.Err() == nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// TestHybrid reports the latency of searches and of whole answers, and the CPU time of all threads.
func TestHybrid(t *testing.T) {
	if *hybridCorpus == "" {
		t.Skip("-hybrid-corpus names directories with texts")
	}
	e, questions := filledHybrid(t)
	measure := func(name string, ask func(ragctx.ContextQuery) error) {
		if !strings.Contains(name, *hybridOnly) {
			return
		}
		var took, used []time.Duration
		for i := range *hybridAsked {
			begin, before := time.Now(), processTime()
			if err := ask(ragctx.NewQuery(questions[i%len(questions)])); err != nil {
				t.Fatal(err)
			}
			if i >= *hybridAsked/10 { // the first ones warm up
				took, used = append(took, time.Since(begin)), append(used, processTime()-before)
			}
		}
		t.Logf("%s: %s; CPU time %s", name, percentiles(took), percentiles(used))
	}
	ask := func(method string, k int) {
		o := engine.HitsOptions{Kind: store.KindDocuments, K: k, Ranking: index.Ranking{Method: method}}
		measure(fmt.Sprintf("%-8s K %2d", method, k), func(q ragctx.ContextQuery) error {
			_, _, err := e.Indexes().Hits(t.Context(), q, o)
			return err
		})
	}
	ask("convex", 10)
	time.Sleep(*hybridRest)
	stats, err := e.Admin().Stats(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", stats)
	for _, method := range []string{"keyword", "vector", "convex"} {
		ask(method, 10)
		ask(method, 50)
	}
	measure("answer, 4,000 tokens", func(q ragctx.ContextQuery) error {
		_, err := e.Context(t.Context(), q.WithMaxTokens(4000))
		return err
	})
	ctx, stop := context.WithCancel(t.Context())
	var written atomic.Int64
	done := make(chan error, 1)
	go func() {
		n, err := write(ctx, e, questions, *hybridWrites)
		written.Store(int64(n))
		done <- err
	}()
	begin := time.Now()
	ask("convex", 10)
	ask("convex", 50)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Logf("beside the last two %.0f documents a second were written", float64(written.Load())/time.Since(begin).Seconds())
}
