package stage

import (
	"context"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
)

// MemoryNotes is a [Notes] in memory. The zero value is empty and ready; it is safe for concurrent
// use.
type MemoryNotes struct {
	mu    sync.RWMutex
	notes map[Scope][]Note
}

// Notes implements [Notes].
func (m *MemoryNotes) Notes(_ context.Context, scope Scope) ([]Note, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.notes[scope]), nil
}

// AddNote implements [Notes].
func (m *MemoryNotes) AddNote(_ context.Context, scope Scope, n Note) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	places, err := n.Replaces(m.notes[scope])
	if err != nil {
		return err
	}
	if m.notes == nil {
		m.notes = make(map[Scope][]Note)
	}
	var out []Note
	for i, one := range m.notes[scope] {
		switch {
		case !slices.Contains(places, i):
			out = append(out, one)
		case i == slices.Max(places):
			out = append(out, n)
		}
	}
	if len(places) == 0 {
		out = append(out, n)
	}
	m.notes[scope] = out
	return nil
}

// Replaces returns the indexes of the active notes that a note replaces. It returns
// [ragctx.ErrConflict] if one of them is no longer active.
func (n Note) Replaces(notes []Note) ([]int, error) {
	var out []int
	for _, id := range n.Reflects {
		at := slices.IndexFunc(notes, func(one Note) bool { return one.ID == id })
		if at < 0 {
			return nil, &ragctx.FieldError{
				Field:   "reflects",
				Kind:    ragctx.ErrConflict,
				Problem: "names the observation " + ragctx.Clip(id) + ", which is no longer active; read the observations again",
			}
		}
		out = append(out, at)
	}
	return out, nil
}
