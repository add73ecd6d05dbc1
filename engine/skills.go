package engine

import (
	"context"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/procedures"
)

// shelf gives the skills provider its view of the store. What is published is kept in
// memory, by namespace, until a procedure changes: every question looks at all of it.
type shelf struct {
	engine *Engine

	mu    sync.Mutex
	state uint64 // of the procedures that are kept
	kept  map[int64][]procedures.Skill
}

// maxShelves bounds the namespaces whose skills are kept.
const maxShelves = 1000

// Skills implements [procedures.Source].
func (s *shelf) Skills(ctx context.Context, q ragctx.ContextQuery) ([]procedures.Skill, error) {
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !q.AsOf.IsZero() {
		return s.engine.store.Skills(ctx, ns, q.AsOf)
	}
	state := s.engine.store.ProceduresState() // before reading
	if found, ok := s.get(ns, state); ok {
		return found, nil
	}
	found, err := s.engine.store.Skills(ctx, ns, q.AsOf)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == state {
		s.kept[ns] = found
	}
	return found, nil
}

func (s *shelf) get(ns int64, state uint64) ([]procedures.Skill, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state < state || s.kept == nil || len(s.kept) > maxShelves {
		s.state, s.kept = state, make(map[int64][]procedures.Skill)
	}
	found, ok := s.kept[ns]
	return found, ok && s.state == state
}
