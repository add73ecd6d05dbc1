package mem0

import (
	"context"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// mem0Entity is a user, an agent or a session that has memories.
type mem0Entity struct {
	ID            string    `json:"id" doc:"same as name"`
	Name          string    `json:"name"`
	Type          string    `json:"type" enum:"user,agent,run"`
	TotalMemories int       `json:"total_memories"`
	CreatedAt     time.Time `json:"created_at" doc:"time of the first memory"`
	UpdatedAt     time.Time `json:"updated_at" doc:"time of the last memory"`
}

// mem0Entities is the list of entities, always one page.
type mem0Entities struct {
	Count    int          `json:"count"`
	Next     *string      `json:"next" doc:"always null"`
	Previous *string      `json:"previous" doc:"always null"`
	Results  []mem0Entity `json:"results" nullable:"false"`
}

type entitiesInput struct {
	Project
	Page     int `query:"page" minimum:"1" maximum:"1" doc:"ignored"`
	PageSize int `query:"page_size" minimum:"1" maximum:"1000" doc:"ignored"`
}

type entitiesOutput struct{ Body mem0Entities }

// entityTypes maps kinds of owners to mem0's types.
var entityTypes = map[string]string{"user": "user", "agent": "agent", "session": "run"}

func (s *service) entities(ctx context.Context, in *entitiesInput) (*entitiesOutput, error) {
	f := store.MemoryFilter{AnyUser: true, Distilled: true, Limit: engine.MaxPage}
	if user := access.From(ctx).User; user != "" {
		f.AnyUser, f.UserID = false, user
	}
	owners, err := s.engine.Memories().Owners(ctx, in.ProjectID, f)
	out := mem0Entities{Results: []mem0Entity{}}
	for _, o := range owners {
		if !strings.HasPrefix(o.Name, anonymous) {
			out.Results = append(out.Results, mem0Entity{o.Name, o.Name, entityTypes[o.Kind], o.Memories, o.First, o.Last})
		}
	}
	out.Count = len(out.Results)
	return &entitiesOutput{out}, err
}

type entityInput struct {
	Project
	Type string `path:"type" maxLength:"16" doc:"user, agent or run"`
	Name string `path:"name" maxLength:"512" doc:"id of the user, agent or session"`
}

func (s *service) deleteEntity(ctx context.Context, in *entityInput) (*messageOutput, error) {
	var f store.MemoryFilter
	switch in.Type {
	case "user":
		f.UserID, f.Own = in.Name, true
	case "agent":
		f.AgentID, f.AnyUser = in.Name, true
	case "run":
		f.SessionID, f.AnyUser = in.Name, true
	default:
		return nil, ragctx.Invalid("type", "is %q; use user, agent or run", ragctx.Clip(in.Type))
	}
	if user := access.From(ctx).User; f.AnyUser && user != "" {
		f.AnyUser, f.UserID, f.Own = false, user, true
	}
	err := s.engine.Memories().DeleteAll(ctx, in.ProjectID, f)
	return &messageOutput{mem0Message{"Entity deleted successfully!"}}, err
}

// mem0BatchEntry names a memory of a batch, and its changes.
type mem0BatchEntry struct {
	MemoryID string           `json:"memory_id" minLength:"1" maxLength:"512"`
	Text     *string          `json:"text,omitempty" doc:"new text"`
	Metadata request.Metadata `json:"metadata,omitempty" doc:"merged into the memory's metadata"`
}

// mem0Batch is a list of memories to change or delete.
type mem0Batch struct {
	Memories []mem0BatchEntry `json:"memories" minItems:"1" maxItems:"1000" nullable:"false"`
}

type batchInput struct {
	Project
	Body mem0Batch
}

func (s *service) batchUpdate(ctx context.Context, in *batchInput) (*messageOutput, error) {
	for i, m := range in.Body.Memories {
		if m.Text == nil && m.Metadata == nil {
			return nil, request.AtIndex(ragctx.Invalid("text", "is missing, and so is metadata; send at least one of them"), "memories", i)
		}
		if _, err := s.revise(ctx, in.ProjectID, m.MemoryID, mem0Update{Text: m.Text, Metadata: m.Metadata}); err != nil {
			return nil, request.AtIndex(err, "memories", i)
		}
	}
	return &messageOutput{mem0Message{"Successfully updated memories"}}, nil
}

func (s *service) batchDelete(ctx context.Context, in *batchInput) (*messageOutput, error) {
	for i, m := range in.Body.Memories {
		if err := s.engine.Memories().Delete(ctx, in.ProjectID, m.MemoryID, "", true); err != nil {
			return nil, request.AtIndex(err, "memories", i)
		}
	}
	return &messageOutput{mem0Message{"Successfully deleted memories"}}, nil
}
