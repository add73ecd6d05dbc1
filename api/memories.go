package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/store"
)

// MemoryRequest is a memory as it is sent.
type MemoryRequest struct {
	ID         string    `json:"id,omitempty" maxLength:"512" doc:"replaces the memory that has this id; chosen by the server if absent"`
	Namespace  string    `json:"namespace,omitempty" maxLength:"512" doc:"default is the one called default"`
	UserID     string    `json:"user_id,omitempty" maxLength:"512" doc:"whose memory it is; without it everyone's in the namespace"`
	AgentID    string    `json:"agent_id,omitempty" maxLength:"512"`
	SessionID  string    `json:"session_id,omitempty" maxLength:"512"`
	Type       string    `json:"memory_type,omitempty" enum:"episodic,semantic,procedural,working" default:"episodic" doc:"in any letter case"`
	Content    string    `json:"content" doc:"what to remember, at most 1 MiB" example:"The customer prefers answers in French."`
	Importance *float64  `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"default 0.5"`
	Tags       []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata   Metadata  `json:"metadata,omitempty" doc:"at most 64 KiB of JSON"`
	Occurred   time.Time `json:"occurred,omitzero" doc:"default is now"`
	Expires    time.Time `json:"expires,omitzero" doc:"when it stops being found, a time to come; default is never"`
}

func (r MemoryRequest) memory() (memory.Memory, error) {
	m := memory.Memory{
		ID: r.ID, Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.SessionID,
		Content: r.Content, Importance: memory.DefaultImportance, Tags: r.Tags, Metadata: r.Metadata,
		Occurred: r.Occurred, Expires: r.Expires,
	}
	if m.Tags == nil {
		m.Tags = []string{}
	}
	if r.Importance != nil {
		m.Importance = *r.Importance
	}
	var err error
	m.Type, err = memory.ParseType(r.Type)
	return m, err
}

// MemoryPut is a memory as it was stored.
type MemoryPut struct {
	memory.Memory

	Status store.Status `json:"status" enum:"created,replaced,unchanged"`
}

type memoryInput struct{ Body MemoryRequest }

type memoryPutOutput struct {
	Status int
	Body   MemoryPut
}

type memoryOutput struct{ Body memory.Memory }

type memoryKey struct {
	Scoped
	ID string `path:"id" doc:"the memory's id"`
}

type memoryList struct {
	Scoped
	UserID    string   `query:"user_id" maxLength:"512" doc:"lists the memories of this user and those of no user; without it only those of no user"`
	AllUsers  bool     `query:"all_users" doc:"lists the memories of every user"`
	AgentID   string   `query:"agent_id" maxLength:"512"`
	SessionID string   `query:"session_id" maxLength:"512"`
	Types     []string `query:"type,explode" maxItems:"4" enum:"episodic,semantic,procedural,working" doc:"types to list, one parameter each; default is all"`
	Tag       string   `query:"tag" maxLength:"512"`
	Limit     int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor    string   `query:"cursor" doc:"next_cursor of the page before"`
}

// MemoryPage is a page of memories.
type MemoryPage struct {
	Memories   []memory.Memory `json:"memories" nullable:"false"`
	NextCursor string          `json:"next_cursor,omitempty" doc:"asks for the next page; absent on the last"`
}

type memoryPageOutput struct{ Body MemoryPage }

func (s *Server) memoryRoutes() {
	tags := []string{"memory"}
	register(s, huma.Operation{
		OperationID: "remember", Method: http.MethodPost, Path: "/v1/memories", Tags: tags,
		Summary: "Remember something", DefaultStatus: http.StatusCreated,
		Description: "Stores a memory, or a new version of the one that has the id. 200 if the id existed.",
	}, s.remember, http.StatusOK)
	register(s, huma.Operation{
		OperationID: "list-memories", Method: http.MethodGet, Path: "/v1/memories", Tags: tags,
		Summary: "List memories", Description: "By importance and recency, best first.",
	}, s.listMemories)
	register(s, huma.Operation{
		OperationID: "search-memories", Method: http.MethodPost, Path: "/v1/memories/search", Tags: tags,
		Summary: "Search memories", Description: "The same as /v1/search with the type memory.",
	}, s.searchMemories)
	register(s, huma.Operation{
		OperationID: "get-memory", Method: http.MethodGet, Path: "/v1/memories/{id}", Tags: tags, Summary: "Get a memory",
	}, s.getMemory)
	register(s, huma.Operation{
		OperationID: "delete-memory", Method: http.MethodDelete, Path: "/v1/memories/{id}", Tags: tags, Summary: "Delete a memory",
		Description: "It is in no answer from then on, except to questions about an earlier time (as_of). " +
			"With erase=true it is removed for good, with the turn that it was made of, and it is no error if it is not there.",
	}, s.deleteMemory)
}

func (s *Server) remember(ctx context.Context, in *memoryInput) (*memoryPutOutput, error) {
	m, err := in.Body.memory()
	if err != nil {
		return nil, err
	}
	m.ID = cmp.Or(m.ID, seedOf(ctx))
	m, status, err := s.engine.Remember(ctx, m)
	return &memoryPutOutput{created(status), MemoryPut{m, status}}, err
}

// getMemory may read anyone's memory: without API keys the caller is admin.
func (s *Server) getMemory(ctx context.Context, in *memoryKey) (*memoryOutput, error) {
	m, err := s.engine.Memory(ctx, in.Namespace, in.ID, "", true)
	return &memoryOutput{m}, err
}

func (s *Server) listMemories(ctx context.Context, in *memoryList) (*memoryPageOutput, error) {
	f := store.MemoryFilter{
		UserID: in.UserID, AnyUser: in.AllUsers, AgentID: in.AgentID, SessionID: in.SessionID, Limit: in.Limit,
	}
	if in.Tag != "" {
		f.Filter.Tags = []string{in.Tag}
	}
	if in.AllUsers && in.UserID != "" {
		return nil, ragctx.Invalid("all_users", "contradicts user_id; send one of them")
	}
	for _, name := range in.Types {
		t, err := memory.ParseType(name)
		if err != nil {
			return nil, err
		}
		f.Types = append(f.Types, t)
	}
	c, err := decodeCursor[memoryCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	f.After = store.Place(c)
	found, next, err := s.engine.ListMemories(ctx, in.Namespace, f)
	if err != nil {
		return nil, err
	}
	page := MemoryPage{Memories: found}
	if next.ID != "" {
		page.NextCursor = encodeCursor(memoryCursor(next))
	}
	return &memoryPageOutput{page}, nil
}
