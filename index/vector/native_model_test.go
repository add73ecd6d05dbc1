package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// batch is what is applied under a sequence number: that of its place, from 1.
type batch struct {
	upserts []index.VectorChunk
	deletes []uint64
}

// nativeMachine is a native index under test and a flat one that has the same.
type nativeMachine struct {
	o     Options
	ills  *ills // nil for a real graph
	fs    *faultfs.FS
	ix    *native
	log   []batch
	model *flat
}

// open opens the index.
func (m *nativeMachine) open(t *rapid.T) {
	ix, err := New(m.o)
	if err != nil {
		t.Fatal(err)
	}
	m.ix = ix.(*native)
}

// catchUp applies what the index lacks, as the engine does. Before that it answers
// as of its cursor.
func (m *nativeMachine) catchUp(t *rapid.T) {
	cursor := int(m.ix.Cursor())
	m.model = newFlat(nativeDim)
	for i, b := range m.log {
		if i == cursor {
			m.search(t)
		}
		if err := m.model.Apply(t.Context(), 0, b.upserts, b.deletes); err != nil {
			t.Fatal(err)
		}
		if i < cursor {
			continue
		}
		if err := m.ix.Apply(t.Context(), uint64(i+1), b.upserts, b.deletes); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *nativeMachine) apply(t *rapid.T) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var b batch
	for range rapid.IntRange(0, 60).Draw(t, "upserts") {
		u := random(r, r.Uint64N(400), 1, nativeDim)[0]
		switch r.IntN(12) {
		case 0:
			clear(u.Vector)
		case 1:
			u.Vector = axis(0, float64(r.IntN(4))).Vector // ties
		}
		b.upserts = append(b.upserts, u)
	}
	for range rapid.IntRange(0, 20).Draw(t, "deletes") {
		b.deletes = append(b.deletes, r.Uint64N(400))
	}
	m.log = append(m.log, b)
	for _, ix := range []index.VectorIndex{m.ix, m.model} {
		if err := ix.Apply(t.Context(), uint64(len(m.log)), b.upserts, b.deletes); err != nil {
			t.Fatal(err)
		}
	}
}

// search compares an answer with the model's: all of it if it must be exact;
// otherwise how many there are, which, and how they are scored.
func (m *nativeMachine) search(t *rapid.T) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	q := index.VectorQuery{
		Vector: random(r, 0, 1, nativeDim)[0].Vector,
		K:      rapid.SampledFrom([]int{1, 3, 10, 40, 1000}).Draw(t, "k"),
		Exact:  rapid.Bool().Draw(t, "exact"),
	}
	if every := rapid.SampledFrom([]uint64{0, 2, 7, 50}).Draw(t, "every"); every > 0 {
		q.Accept = func(id uint64) bool { return id%every == 0 }
	}
	got, err := m.ix.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.model.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if q.Exact && !slices.Equal(got, want) || len(got) != len(want) || !slices.IsSortedFunc(got, better) {
		t.Fatalf("%v, want %v", got, want)
	}
	for _, h := range got {
		if score, ok := m.model.Similarity(q.Vector)(h.ID); !ok || score != h.Score || q.Accept != nil && !q.Accept(h.ID) {
			t.Fatalf("%+v, whose score is %v, %v", h, score, ok)
		}
	}
}

func (m *nativeMachine) damage(t *rapid.T) {
	files := graphFiles(m.fs)
	if len(files) == 0 {
		t.Skip("there is no graph")
	}
	m.fs.Edit(rapid.SampledFrom(files).Draw(t, "file"), func(b []byte) []byte {
		if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		return b
	})
}

func (m *nativeMachine) actions() map[string]func(*rapid.T) {
	reopen := func(t *rapid.T) {
		if err := m.ix.Close(); err != nil {
			t.Fatal(err)
		}
		m.open(t)
		m.catchUp(t)
	}
	actions := map[string]func(*rapid.T){
		"apply":  m.apply,
		"search": m.search,
		"settle": func(t *rapid.T) { m.ix.retry.Store(1); m.ix.wake(); m.ix.background.Wait() },
		"reopen": reopen,
		"flush": func(t *rapid.T) {
			if err := m.ix.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"compact": func(t *rapid.T) {
			if err := m.ix.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"crash": func(t *rapid.T) {
			m.ix.stop()
			m.ix.background.Wait()
			m.fs.Restart(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3)))
			_ = m.ix.Close()
			m.open(t)
			m.catchUp(t)
		},
		"damage": func(t *rapid.T) {
			m.damage(t)
			reopen(t)
		},
	}
	if m.ills != nil {
		actions["ill"] = func(t *rapid.T) {
			m.ills.fails.Store(rapid.Bool().Draw(t, "fails"))
			m.ills.linger.Store(rapid.Bool().Draw(t, "linger"))
			m.ills.misses.Store(rapid.Int64Range(0, 4).Draw(t, "misses"))
		}
	}
	return actions
}

func TestNativeModel(t *testing.T) {
	for name, fake := range map[string]bool{"Fake": true, "Real": false} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := &nativeMachine{fs: faultfs.New(), model: newFlat(nativeDim)}
				if fake {
					m.ills = new(ills)
				}
				m.o = tiny("/leg", m.fs, m.ills)
				m.open(t)
				defer func() { _ = m.ix.Close() }()
				t.Repeat(m.actions())
			})
		})
	}
}
