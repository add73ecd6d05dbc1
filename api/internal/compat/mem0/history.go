package mem0

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// mem0Change is an entry of a memory's history in mem0's format.
type mem0Change struct {
	ID        string    `json:"id"`
	MemoryID  string    `json:"memory_id"`
	Input     []any     `json:"input" nullable:"false" doc:"always empty; the turn has the messages"`
	OldMemory *string   `json:"old_memory"`
	NewMemory *string   `json:"new_memory"`
	UserID    *string   `json:"user_id"`
	Event     string    `json:"event" enum:"ADD,UPDATE,DELETE"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type historyOutput struct{ Body []mem0Change }

func (s *service) history(ctx context.Context, in *Key) (*historyOutput, error) {
	anyone := engine.Viewer{Anyone: true}
	changes, err := s.engine.Memories().History(ctx, in.ProjectID, in.ID, anyone)
	if err != nil {
		return nil, err
	}
	m, _ := s.engine.Memories().Find(ctx, in.ProjectID, in.ID, anyone) // for the owner, if it still exists
	out := []mem0Change{}
	for i, c := range changes {
		if c.Op == ragctx.OpQuarantined || c.Op == ragctx.OpDiscarded {
			continue // was never visible
		}
		out = append(out, mem0Change{
			ID: fmt.Sprintf("%s:%d", in.ID, i+1), MemoryID: in.ID, Input: []any{}, OldMemory: orNull(c.Previous),
			NewMemory: orNull(c.Content),
			UserID:    orNull(m.UserID), Event: eventOfChange(c), CreatedAt: c.At, UpdatedAt: c.At,
		})
	}
	return &historyOutput{out}, nil
}

func eventOfChange(c ragctx.MemoryChange) string {
	switch {
	case c.Version == 0:
		return "DELETE"
	case c.Before == 0:
		return "ADD"
	default:
		return "UPDATE"
	}
}
