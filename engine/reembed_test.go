package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// gated is an embedder that embeds documents only while its gate is open, and
// fails while it is broken.
type gated struct {
	embed.Embedder

	gate      chan struct{}
	broken    atomic.Bool
	texts     atomic.Int64
	questions atomic.Int64
}

func (g *gated) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	g.questions.Add(1)
	return g.Embedder.EmbedQuery(ctx, text)
}

var errEmbedder = errors.New("the embedder is broken on purpose")

func (g *gated) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if g.broken.Load() {
		return nil, errEmbedder
	}
	if g.gate != nil {
		select {
		case <-g.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	g.texts.Add(int64(len(texts)))
	return g.Embedder.EmbedDocuments(ctx, texts)
}

func openWith(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	o.ProviderTimeout = cmp.Or(o.ProviderTimeout, patience)
	e, err := engine.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func putMany(t *testing.T, e *engine.Engine, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		d := ragctx.Document{ExternalID: fmt.Sprint("d", i), Text: fmt.Sprintf("Document number%d is about topic%d.", i, i)}
		if _, err := e.Documents().Put(t.Context(), "default", d, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// nearest fails the test unless the vector leg alone finds document i first.
func nearest(t *testing.T, e *engine.Engine, i int) {
	t.Helper()
	q := ragctx.ContextQuery{Query: fmt.Sprintf("Document number%d is about topic%d.", i, i)}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		hits, degraded, err := e.Indexes().Hits(t.Context(), q, engine.HitsOptions{Kind: store.KindDocuments, K: 1, Ranking: index.Ranking{Method: "vector"}})
		if err != nil && !errors.Is(err, ragctx.ErrUnavailable) {
			t.Fatal(err)
		}
		if len(degraded) == 0 && len(hits) == 1 && hits[0].Key == fmt.Sprint("d", i) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("document %d is not found by its vector: %v, degraded %v, %v", i, hits, degraded, err)
		}
	}
}

// TestReembed changes the embedder under concurrent writes and queries.
func TestReembed(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir})
	putMany(t, e, 0, 300)
	to := &gated{Embedder: embed.NewHashing(64), gate: make(chan struct{}, 1)}
	e.Close()

	if _, err := engine.Open(t.Context(), engine.Options{Dir: dir, Embedder: to}); !errors.Is(err, ragctx.ErrConflict) {
		t.Fatalf("another embedder: %v, want a conflict", err)
	}
	e = openWith(t, engine.Options{Dir: dir, Embedder: to, Reembed: true})
	nearest(t, e, 7) // in the old space
	if d := e.Indexes().Embedder().Dimensions; d != 256 {
		t.Errorf("asked in %d dimensions before the change", d)
	}
	to.gate <- struct{}{} // one batch
	time.Sleep(20 * time.Millisecond)
	e.Close()

	e = openWith(t, engine.Options{Dir: dir, Embedder: to, Reembed: true})
	jobs, err := e.Jobs().List(t.Context(), store.JobFilter{Kind: engine.JobReembed})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs after a restart: %v, %v", jobs, err)
	}
	nearest(t, e, 7)
	close(to.gate)
	putMany(t, e, 300, 320) // while it changes
	if j, err := e.Jobs().Await(t.Context(), jobs[0].ID); err != nil || j.State != store.JobDone {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	if d := e.Indexes().Embedder().Dimensions; d != 64 {
		t.Errorf("asked in %d dimensions after the change", d)
	}
	for _, i := range []int{0, 7, 299, 300, 319} {
		nearest(t, e, i)
	}
	putMany(t, e, 320, 330)
	nearest(t, e, 325)
	e.Close()

	e = openWith(t, engine.Options{Dir: dir}) // as it is now
	defer e.Close()
	nearest(t, e, 310)
	if old, _ := filepath.Glob(filepath.Join(dir, "index", "*", "vector-1")); len(old) > 0 {
		t.Errorf("old vectors are left in %v", old)
	}
	if d := e.Indexes().Embedder().Dimensions; d != 64 {
		t.Errorf("asked in %d dimensions after a restart", d)
	}
}

// TestReembedCancelled leaves everything as it was.
func TestReembedCancelled(t *testing.T) {
	dir := t.TempDir()
	to := &gated{Embedder: embed.NewHashing(64), gate: make(chan struct{}, 1)}
	e := openWith(t, engine.Options{Dir: dir, Embedders: func(embed.Identity) (embed.Embedder, bool) { return to, true }})
	defer e.Close()
	putMany(t, e, 0, 200)
	j, err := e.Indexes().Reembed(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Indexes().Reembed(t.Context(), to); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a second change: %v, want a conflict", err)
	}
	to.gate <- struct{}{}
	if _, err := e.Jobs().Cancel(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	if j, err = e.Jobs().Await(t.Context(), j.ID); err != nil || j.State != store.JobCancelled {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	putMany(t, e, 200, 210)
	nearest(t, e, 5)
	nearest(t, e, 205)
	if d := e.Indexes().Embedder().Dimensions; d != 256 {
		t.Errorf("asked in %d dimensions after a change that was cancelled", d)
	}
}

// TestReembedWaitsForItsEmbedder opens a data directory with an interrupted change, without the new
// embedder, and then with it, or cancels the change.
func TestReembedWaitsForItsEmbedder(t *testing.T) {
	for name, cancel := range map[string]bool{"GoesOn": false, "Cancelled": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			to := &gated{Embedder: other{embed.NewHashing(64), embed.Identity{Name: "mine", Dimensions: 64}}, gate: make(chan struct{}, 1)}
			known := func(id embed.Identity) (embed.Embedder, bool) { return to, id == to.Identity() }
			e := openWith(t, engine.Options{Dir: dir, Embedders: known})
			putMany(t, e, 0, 200)
			j, err := e.Indexes().Reembed(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			to.gate <- struct{}{}
			e.Close()

			e = openWith(t, engine.Options{Dir: dir})
			nearest(t, e, 5)
			putMany(t, e, 200, 205)
			for now, err := range e.Jobs().Watch(t.Context(), j.ID) {
				if err != nil || now.State.Ended() {
					t.Fatalf("without its embedder: %+v, %v", now, err)
				}
				if strings.Contains(now.Stage, "waits") {
					break
				}
			}
			if cancel {
				if _, err := e.Jobs().Cancel(t.Context(), j.ID); err != nil {
					t.Fatal(err)
				}
				if j, err = e.Jobs().Await(t.Context(), j.ID); err != nil || j.State != store.JobCancelled {
					t.Fatalf("%+v, %v", j, err)
				}
			}
			e.Close()

			close(to.gate)
			e = openWith(t, engine.Options{Dir: dir, Embedders: known})
			defer e.Close()
			if j, err = e.Jobs().Await(t.Context(), j.ID); err != nil || (j.State == store.JobCancelled) != cancel || !cancel && j.State != store.JobDone {
				t.Fatalf("%+v, %v", j, err)
			}
			if changed := e.Indexes().Embedder() == to.Identity(); changed == cancel {
				t.Errorf("the embedder is %s", e.Indexes().Embedder())
			}
			nearest(t, e, 5)
			nearest(t, e, 203)
		})
	}
}

// TestVectorsAreMadeLater stores documents while the embedder fails.
func TestVectorsAreMadeLater(t *testing.T) {
	dir := t.TempDir()
	g := &gated{Embedder: embed.NewHashing(0)}
	e := openWith(t, engine.Options{Dir: dir, Embedder: g})
	putMany(t, e, 0, 10)
	g.broken.Store(true)
	putMany(t, e, 10, 20)
	e.Close()
	g.broken.Store(false)
	before := g.texts.Load()
	e = openWith(t, engine.Options{Dir: dir, Embedder: g})
	nearest(t, e, 15)
	nearest(t, e, 5)
	e.Close()
	if n := g.texts.Load() - before; n != 10 {
		t.Errorf("%d texts were embedded, want the 10 that lacked a vector", n)
	}
}

// other is an embedder with another identity.
type other struct {
	embed.Embedder
	identity embed.Identity
}

func (o other) Identity() embed.Identity { return o.identity }

// TestTableOfAnOlderProgram opens a data directory with vectors of a formerly built-in embedder.
func TestTableOfAnOlderProgram(t *testing.T) {
	dir := t.TempDir()
	now := builtin.Default()
	old := other{now, now.Identity()}
	old.identity.Revision += ".old"
	e := openWith(t, engine.Options{Dir: dir, Embedder: old})
	putMany(t, e, 0, 10)
	e.Close()
	e = openWith(t, engine.Options{Dir: dir})
	defer e.Close()
	for end := time.Now().Add(patience); e.Indexes().Embedder() != now.Identity(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the embedder is still %s", e.Indexes().Embedder())
		}
	}
	putMany(t, e, 10, 12)
	nearest(t, e, 3)
	nearest(t, e, 11)
}

// TestReembedCutOffAfterTheChange takes a data directory as a crash leaves it after
// the embedder was changed and before the job has cleaned up.
func TestReembedCutOffAfterTheChange(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir})
	putMany(t, e, 0, 10)
	e.Close()
	to := &gated{Embedder: embed.NewHashing(64)}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Embedder(t.Context(), to.Identity())
	if err != nil {
		t.Fatal(err)
	}
	request, err := json.Marshal(map[string]any{"embedder": to.Identity()})
	if err != nil {
		t.Fatal(err)
	}
	j := store.Job{ID: "change", Kind: engine.JobReembed, State: store.JobQueued, Request: request}
	err = errors.Join(s.CreateJob(t.Context(), &j), s.ChangeEmbedder(t.Context(), fmt.Sprint(id), 1), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	e = openWith(t, engine.Options{Dir: dir, Embedder: to})
	defer e.Close()
	if j, err := e.Jobs().Await(t.Context(), "change"); err != nil || j.State != store.JobDone {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	nearest(t, e, 7) // what is owed is made
	before := to.texts.Load()
	putMany(t, e, 10, 15)
	if n := to.texts.Load() - before; n != 5 {
		t.Errorf("5 texts were embedded %d times", n)
	}
}

// TestQuestionsAreEmbeddedOnce asks all providers for more than they find at first.
func TestQuestionsAreEmbeddedOnce(t *testing.T) {
	g := &gated{Embedder: embed.NewHashing(0)}
	e := openWith(t, engine.Options{Dir: t.TempDir(), Embedder: g})
	defer e.Close()
	putMany(t, e, 0, 10)
	if _, err := e.CompleteTurn(t.Context(), ragctx.Turn{ID: "t", Prompt: "What is document number3 about?"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Context(t.Context(), ragctx.NewQuery("what is topic3").WithMaxResults(20)); err != nil {
		t.Fatal(err)
	}
	if n := g.questions.Load(); n != 1 {
		t.Errorf("one question was embedded %d times", n)
	}
	_, degraded, err := e.Indexes().Hits(t.Context(), ragctx.NewQuery("what is topic4"), engine.HitsOptions{
		Kind: store.KindDocuments, K: 5, Ranking: index.Ranking{Method: "keyword"},
	})
	if n := g.questions.Load(); n != 1 || err != nil || len(degraded) > 0 {
		t.Errorf("a question for the keyword leg was embedded (%d), degraded %v, %v", n, degraded, err)
	}
}
