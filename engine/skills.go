package engine

import (
	"context"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/procedures"
)

// skillCache is the skills provider's source. It caches the published procedures by namespace until any
// procedure changes, because every query reads all of them.
type skillCache struct {
	engine *core

	mu      sync.Mutex
	version uint64 // version of the cached procedures
	cached  map[int64][]procedures.PublishedProcedure
}

// maxSkillNamespaces bounds the namespaces with cached skills.
const maxSkillNamespaces = 1000

// Published implements [procedures.Source].
func (s *skillCache) Published(ctx context.Context, q ragctx.ContextQuery) ([]procedures.PublishedProcedure, error) {
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !q.AsOf.IsZero() {
		return s.read(ctx, ns, q.AsOf)
	}
	state := s.engine.store.ProceduresState() // read before the skills
	if found, ok := s.get(ns, state); ok {
		return found, nil
	}
	found, err := s.read(ctx, ns, q.AsOf)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == state {
		s.cached[ns] = found
	}
	return found, nil
}

// read reads the published procedures from the store and prepares them for matching.
func (s *skillCache) read(ctx context.Context, ns int64, asOf time.Time) ([]procedures.PublishedProcedure, error) {
	stored, err := s.engine.store.Skills(ctx, ns, asOf)
	if err != nil {
		return nil, err
	}
	out := make([]procedures.PublishedProcedure, len(stored))
	for i, p := range stored {
		id := procedures.ID{ProcedureOwner: p.ProcedureOwner, Name: p.Name, Version: p.Version}
		out[i] = procedures.NewPublishedProcedure(id, p.Trigger, p.Published)
	}
	return out, nil
}

func (s *skillCache) get(ns int64, state uint64) ([]procedures.PublishedProcedure, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version < state || s.cached == nil || len(s.cached) > maxSkillNamespaces {
		s.version, s.cached = state, make(map[int64][]procedures.PublishedProcedure)
	}
	found, ok := s.cached[ns]
	return found, ok && s.version == state
}
