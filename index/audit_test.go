package index_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
)

// TestAudit damages the parts of an index one by one.
func TestAudit(t *testing.T) {
	fill := func() *harness {
		h, _, _ := open(t)
		for n := range uint64(20) {
			apply(t, h, one(n+1, "apple", 1, 0))
		}
		apply(t, h, index.Batch{Seq: 21, Removed: []index.Removal{{Item: 5, Chunks: []uint64{5}}}})
		return h
	}
	sound := index.PartAudit{State: index.Ready}
	for _, c := range []struct {
		name                     string
		damage                   func(h *harness)
		catalog, keyword, vector index.PartAudit
	}{
		{"sound", func(*harness) {}, sound, sound, sound},
		{
			"a lost text", func(h *harness) { delete(h.words.chunks, 3) },
			sound,
			index.PartAudit{State: index.Ready, Missing: 1},
			sound,
		},
		{
			"another text", func(h *harness) { h.words.chunks[3] = "pear" },
			sound,
			index.PartAudit{State: index.Ready, Missing: 1},
			sound,
		},
		{
			"a text too many", func(h *harness) { h.words.chunks[99] = "apple" },
			sound,
			index.PartAudit{State: index.Ready, Extra: 1},
			sound,
		},
		{
			"a lost vector", func(h *harness) { delete(h.near.chunks, 4) },
			sound, sound,
			index.PartAudit{State: index.Ready, Missing: 1},
		},
		{
			"another vector", func(h *harness) { h.near.chunks[4] = []float32{0, 1} },
			sound, sound,
			index.PartAudit{State: index.Ready, Wrong: 1},
		},
		{
			"a deletion that was missed", func(h *harness) {
				h.feed.batches[6].Add[0].Item = &index.Item{ID: 7, Recorded: t0, Superseded: t0.Add(time.Hour), Ended: 7}
			},
			index.PartAudit{State: index.Ready, Wrong: 1},
			sound, sound,
		},
		{
			"a chunk that was missed", func(h *harness) {
				h.feed.batches[1].Add = append(h.feed.batches[1].Add, one(77, "apple", 1, 0).Add...)
			},
			index.PartAudit{State: index.Ready, Missing: 1},
			index.PartAudit{State: index.Ready, Missing: 1},
			index.PartAudit{State: index.Ready, Missing: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fill()
			settle(t, h, both)
			c.damage(h)
			a, err := h.Audit(t.Context(), index.AuditOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Catalog != c.catalog || a.Keyword != c.keyword || a.Vector != c.vector {
				t.Errorf("found %+v", a)
			}
			if want := c.name == "sound"; a.Sound() != want {
				t.Errorf("sound is %t, want %t", a.Sound(), want)
			}
		})
	}
}

// TestAuditMeasuresRecall has a graph that misses every fifth chunk, and chunks in a row:
// two of the ten nearest to each. A clock ends the time for it.
func TestAuditMeasuresRecall(t *testing.T) {
	ix := &graph{arrows: newArrows(), misses: func(id uint64) bool { return id%5 == 0 }}
	var passed atomic.Int64 // the index's own work reads the clock, too
	h := newHarness(t, index.Options{
		Vector: func(context.Context, index.Space) (index.VectorIndex, error) { return ix, nil },
		Now:    func() time.Time { return t0.Add(time.Duration(passed.Load())) },
	})
	defer h.Close()
	for n := range uint64(300) {
		apply(t, h, one(n+1, "apple", float32(math.Cos(float64(n)/300)), float32(math.Sin(float64(n)/300))))
	}
	ready(t, h)
	a, err := h.Audit(t.Context(), index.AuditOptions{Searching: time.Second})
	if err != nil || !a.Sound() || a.Found == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	f := a.Found
	if f.Recall.Samples < 200 || math.Abs(f.Recall.Value-.8) > .01 || f.Searches != f.Exact || f.Skipped != 0 {
		t.Errorf("%+v, %+v", f, f.Recall)
	}
	ix.between = func(context.Context) { passed.Add(int64(100 * time.Millisecond)) }
	if a, err = h.Audit(t.Context(), index.AuditOptions{Searching: time.Second}); err != nil || a.Found.Recall.Samples != 10 {
		t.Errorf("%d searches of 100 ms in a second, %v", a.Found.Recall.Samples, err)
	}
	if a, err = h.Audit(t.Context(), index.AuditOptions{}); err != nil || a.Found != nil {
		t.Errorf("%+v without any time, %v", a.Found, err)
	}
}
