package pipeline

import (
	"context"
	"slices"
	"sync"
)

// MemoryNotes are [Notes] in memory. The zero value is empty and ready; it is safe for
// concurrent use.
type MemoryNotes struct {
	mu    sync.RWMutex
	notes map[Scope][]Note
}

// Notes implements [Notes].
func (m *MemoryNotes) Notes(_ context.Context, of Scope) ([]Note, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Clone(m.notes[of]), nil
}

// AddNote implements [Notes].
func (m *MemoryNotes) AddNote(_ context.Context, of Scope, n Note) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes == nil {
		m.notes = make(map[Scope][]Note)
	}
	have := m.notes[of]
	if n.Reflects > 0 {
		m.notes[of] = append([]Note{n}, have[min(n.Reflects, len(have)):]...)
		return nil
	}
	m.notes[of] = append(slices.Clip(have), n)
	return nil
}
