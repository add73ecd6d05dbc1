package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// slow is a gradual embedder: hashed words in 64 dimensions, and in 32 in the meantime. Its gate lets
// texts through one by one; nil lets all through.
type slow struct{ gated }

func newSlow(gate chan struct{}) *slow {
	return &slow{gated{Embedder: embed.NewHashing(64), gate: gate}}
}

func (s *slow) Identity() embed.Identity {
	id := s.Embedder.Identity()
	id.Name = "slow"
	return id
}

func (s *slow) Interim() (embed.Embedder, float64, float64) { return embed.NewHashing(32), 1, 0 }

// interim returns the number of chunks with an interim vector and of all vectors, in all open indexes.
func interim(t *testing.T, e *engine.Engine) (n, all int) {
	t.Helper()
	for _, i := range e.Metrics().Indexes(t.Context()) {
		n, all = n+i.Vector.Interim, all+i.Vector.Chunks
	}
	return n, all
}

// wantInterim waits until so many chunks have an interim vector.
func wantInterim(t *testing.T, e *engine.Engine, want int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n, _ := interim(t, e)
		if n == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d chunks have an interim vector, want %d", n, want)
		}
	}
}

// TestGradual finds documents at once by their interim vectors, and by those of the embedder when all have one,
// across restarts. Texts that have a vector are not embedded again.
func TestGradual(t *testing.T) {
	dir := t.TempDir()
	gate := make(chan struct{})
	with := newSlow(gate)
	e := openWith(t, engine.Options{Dir: dir, Embedder: with})
	pauseEmbedding(t, e, true)
	putMany(t, e, 0, 300)
	pauseEmbedding(t, e, false)
	for i := 0; i < 300; i += 50 {
		nearest(t, e, i)
	}
	wantInterim(t, e, 300)
	for range 200 {
		gate <- struct{}{}
	}
	waitFor(t, func() bool { return with.texts.Load() == 200 })
	wantInterim(t, e, 300) // until all have a vector
	info := e.Indexes().EmbedderInfo()
	if info.Interim != "hashing" || info.Waiting < 170 || info.Waiting > 300 || info.Paused {
		t.Errorf("the embedder is %+v", info)
	}
	e.Close()

	again := newSlow(nil)
	e = openWith(t, engine.Options{Dir: dir, Embedder: again})
	nearest(t, e, 299)
	wantInterim(t, e, 0)
	if n := again.texts.Load(); n != 300-128 {
		t.Errorf("%d texts were embedded after the restart, want %d", n, 300-128)
	}
	for i := 0; i < 300; i += 50 {
		nearest(t, e, i)
	}
	waitFor(t, func() bool { return e.Indexes().EmbedderInfo().Waiting == 0 })
	report, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{})
	if err != nil || !report.Sound() {
		t.Errorf("doctor: %+v, %v", report, err)
	}
	e.Close()
}

func pauseEmbedding(t *testing.T, e *engine.Engine, pause bool) {
	t.Helper()
	if err := e.Indexes().PauseEmbedding(t.Context(), pause); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never comes true")
		}
	}
}

// TestGradualSame answers alike once all have their vectors, however many had them when others were written.
func TestGradualSame(t *testing.T) {
	var want []string
	for _, pauses := range []string{"", "2", "0 3 7"} {
		e := openWith(t, engine.Options{Dir: t.TempDir(), Embedder: newSlow(nil)})
		pauseEmbedding(t, e, true)
		for i := range 10 {
			putMany(t, e, i, i+1)
			if strings.Contains(pauses, fmt.Sprint(i)) {
				pauseEmbedding(t, e, false)
				wantInterim(t, e, 0)
				pauseEmbedding(t, e, true)
			}
		}
		pauseEmbedding(t, e, false)
		wantInterim(t, e, 0)
		hits, _, err := e.Indexes().Hits(t.Context(), ragctx.ContextQuery{Query: "a document about topic3"},
			engine.HitsOptions{Kind: store.KindDocuments, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, fmt.Sprintf("%s %.6f", h.Key, h.Score))
		}
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("with pauses after %q: %v, want %v", pauses, got, want)
		}
		e.Close()
	}
}

// TestGradualPaused embeds nothing while it is paused, also in the next process, and goes on afterwards.
func TestGradualPaused(t *testing.T) {
	dir := t.TempDir()
	with := newSlow(nil)
	e := openWith(t, engine.Options{Dir: dir, Embedder: with})
	pauseEmbedding(t, e, true)
	putMany(t, e, 0, 20)
	e.Close()
	e = openWith(t, engine.Options{Dir: dir, Embedder: with})
	putMany(t, e, 20, 30)
	nearest(t, e, 5)
	waitFor(t, func() bool { return e.Indexes().EmbedderInfo().Waiting >= 20 })
	if n := with.texts.Load(); n != 0 || !e.Indexes().EmbedderInfo().Paused {
		t.Errorf("%d texts were embedded while it was paused: %+v", n, e.Indexes().EmbedderInfo())
	}
	pauseEmbedding(t, e, false)
	wantInterim(t, e, 0)
	e.Close()
}

// TestGradualErase erases a document with an interim vector and one with a vector of the embedder. Neither vector
// remains in an index or in the store.
func TestGradualErase(t *testing.T) {
	gate := make(chan struct{})
	e := openWith(t, engine.Options{Dir: t.TempDir(), Embedder: newSlow(gate)})
	defer e.Close()
	putMany(t, e, 0, 1)
	gate <- struct{}{}
	wantInterim(t, e, 0)
	putMany(t, e, 1, 2)
	wantInterim(t, e, 1)
	for i := range 2 {
		if _, err := e.Documents().Erase(t.Context(), "default", fmt.Sprint("d", i)); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { n, all := interim(t, e); return n == 0 && all == 0 })
	hits, _, err := e.Indexes().Hits(t.Context(), ragctx.ContextQuery{Query: "Document number1"},
		engine.HitsOptions{Kind: store.KindDocuments, K: 3, Ranking: index.Ranking{Method: "vector"}})
	if err != nil || len(hits) > 0 {
		t.Errorf("erased documents are found: %v, %v", hits, err)
	}
}

// TestReembedGradual changes a directory to a gradual embedder at once, and its texts get their vectors afterwards.
func TestReembedGradual(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir})
	putMany(t, e, 0, 40)
	e.Close()
	gate := make(chan struct{})
	e = openWith(t, engine.Options{Dir: dir, Embedder: newSlow(gate), Reembed: true})
	defer e.Close()
	nearest(t, e, 3)
	waitFor(t, func() bool { return e.Indexes().Embedder().Name == "slow" })
	putMany(t, e, 40, 50)
	nearest(t, e, 3)
	nearest(t, e, 45)
	wantInterim(t, e, 50)
	for range 50 {
		gate <- struct{}{}
	}
	wantInterim(t, e, 0)
	nearest(t, e, 3)
}
