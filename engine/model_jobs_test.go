package engine_test

import (
	"errors"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// bulk hands over documents to store and to delete as a job, and waits for its
// end, often across a restart.
func (m *machine) bulk() {
	s := pick(m, m.active)
	spool, err := m.eng.Jobs().QueueDocuments(m.Context(), engine.DocumentQueueOptions{Namespace: s.name})
	if err != nil {
		m.Fatal(err)
	}
	defer spool.Close()
	var puts []*version
	var ends []key
	for n, id := range m.rand.Perm(documentNames)[:1+m.rand.IntN(12)] {
		k := key{store.KindDocuments, documentName(id)}
		if m.chance(5) {
			ends = append(ends, k)
			err = spool.Delete(m.Context(), n+1, k.id)
		} else {
			puts = append(puts, m.draft(k.id))
			err = spool.Put(m.Context(), n+1, puts[len(puts)-1].doc, engine.Origin{})
		}
		if err != nil {
			m.Fatal(err)
		}
	}
	m.note("bulk %s: %d puts, %d deletes", s.name, len(puts), len(ends))
	if m.chance(8) {
		return // the spool was never accepted: nothing happens
	}
	job, err := spool.Accept(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	if m.chance(2) {
		m.reopen(pick(m, []func(*machine){(*machine).closeEngine, (*machine).crash}))
	}
	if job, err = m.eng.Jobs().Await(m.Context(), job.ID); err != nil || job.State != store.JobDone {
		m.Fatalf("job ended as %+v, %v", job, err)
	}
	m.settle(s, puts, ends)
}

// settle brings the model up to date after a job that is done, and then asks.
func (m *machine) settle(s *modelSpace, puts []*version, ends []key) {
	var gone []*version
	for _, v := range puts {
		if old := s.current(key{v.kind, v.key}); old != nil {
			gone = append(gone, old)
		}
		m.apply(s, v)
	}
	for _, k := range ends {
		if v := s.current(k); v != nil {
			s.end(k, m.clock.now())
			gone = append(gone, v)
		}
	}
	for _, v := range puts {
		m.wantFound(s, v)
		m.compareUnits(s, v)
	}
	for _, v := range gone {
		m.wantGone(s, v)
	}
}

// reembed starts changing the embedder; the change runs concurrently with the next operations.
func (m *machine) reembed() {
	to := pick(m, []embed.Embedder{embed.NewHashing(64), embed.NewHashing(128), builtin.Default()})
	m.note("reembed to %s", to.Identity())
	is := m.eng.Indexes().Embedder() == to.Identity()
	switch _, err := m.eng.Indexes().Reembed(m.Context(), to); {
	case is && !errors.Is(err, ragctx.ErrConflict), err != nil && !errors.Is(err, ragctx.ErrConflict):
		m.Fatalf("reembed to %s: %v", to.Identity(), err)
	}
}

// embedder returns the embedder that questions are compared in; nil while that changes.
func (m *machine) embedder() embed.Embedder {
	for _, st := range []store.JobState{store.JobQueued, store.JobRunning} {
		jobs, err := m.eng.Jobs().List(m.Context(), store.JobFilter{Kind: engine.JobReembed, State: st})
		if err != nil {
			m.Fatal(err)
		}
		if len(jobs) > 0 {
			return nil
		}
	}
	e, ok := builtin.OpenIdentity(m.eng.Indexes().Embedder())
	if !ok {
		m.Fatalf("the embedder is %s", m.eng.Indexes().Embedder())
	}
	return e
}

// vector returns the vector of a piece by an embedder.
func (m *machine) vector(p *piece, by embed.Embedder) []float32 {
	id := by.Identity()
	if _, known := p.vectors[id]; !known {
		v, err := by.EmbedQuery(m.Context(), p.embedded)
		if err != nil {
			m.Fatal(err)
		}
		if p.vectors == nil {
			p.vectors = make(map[embed.Identity][]float32)
		}
		p.vectors[id] = v
	}
	return p.vectors[id]
}
