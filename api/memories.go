package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// memoryRequest is a memory to store.
type memoryRequest struct {
	ID         string    `json:"id,omitempty" maxLength:"512"`
	Namespace  string    `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	UserID     string    `json:"user_id,omitempty" maxLength:"512"`
	AgentID    string    `json:"agent_id,omitempty" maxLength:"512"`
	SessionID  string    `json:"session_id,omitempty" maxLength:"512"`
	Type       string    `json:"memory_type,omitempty" enum:"episodic,semantic,procedural,working" default:"episodic"`
	Content    string    `json:"content" example:"The customer prefers answers in French."`
	Importance *float64  `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"default 0.5"`
	Tags       []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata   Metadata  `json:"metadata,omitempty" doc:"at most 64 KiB of JSON"`
	Profile    bool      `json:"profile,omitempty" doc:"a lasting description of its user"`
	Pinned     bool      `json:"pinned,omitempty" doc:"included in every context, and never pruned"`
	Occurred   time.Time `json:"occurred,omitzero" doc:"default is now"`
	Expires    time.Time `json:"expires,omitzero" doc:"expiry time, in the future; default is never"`
	Origin     string    `json:"origin,omitempty" enum:"user,agent,tool,document"`
	TTL        ttl       `json:"ttl,omitempty" doc:"lifetime, in place of expires"`
}

func (r memoryRequest) memory(now time.Time) (ragctx.Memory, error) {
	m := ragctx.Memory{
		ID: r.ID, Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.SessionID,
		Content: r.Content, Importance: ragctx.DefaultImportance, Tags: r.Tags, Metadata: r.Metadata,
		Occurred: r.Occurred, Expires: r.Expires, Profile: r.Profile, Pinned: r.Pinned,
	}
	if m.Tags == nil {
		m.Tags = []string{}
	}
	if r.Importance != nil {
		m.Importance = *r.Importance
	}
	if err := r.TTL.apply(&m, now); err != nil {
		return m, err
	}
	var err error
	if m.Type, err = ragctx.ParseMemoryType(r.Type); err != nil {
		return m, err
	}
	m.Origin, err = ragctx.ParseMemoryOrigin(r.Origin)
	return m, err
}

// memoryPut is the result of storing a memory.
type memoryPut struct {
	ragctx.Memory

	Status store.Status `json:"status" enum:"created,replaced,unchanged,quarantined"`
}

type memoryInput struct{ Body memoryRequest }

type memoryPutOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"version tag for If-Match"`
	Body   memoryPut
}

func toMemoryPut(status int, m ragctx.Memory, done store.Status) *memoryPutOutput {
	return &memoryPutOutput{status, memoryTag(m), memoryPut{m, done}}
}

type memoryOutput struct {
	ETag string `header:"ETag" doc:"tag of this answer for If-None-Match, and of this version for If-Match"`
	Body store.Quarantined
}

// Viewed are the parameters of every route of one memory. It is exported because huma ignores
// unexported embedded types.
type Viewed struct {
	Scoped
	UserID string `query:"user_id" maxLength:"512" doc:"act as this user, with own and shared memories; default is any user"`
}

// viewer returns the viewing user. Without API keys the caller is admin.
func (v Viewed) viewer() engine.Viewer { return engine.Viewer{User: v.UserID, Anyone: v.UserID == ""} }

// MemoryKey are the parameters that name a memory.
type MemoryKey struct {
	Viewed
	ID string `path:"id" doc:"memory id"`
}

const searchMemoriesPath = `/v1/memories\:search`

func (s *Server) memoryRoutes() {
	tags := []string{coreGroup}
	register(s, huma.Operation{
		OperationID: "remember", Method: http.MethodPost, Path: "/v1/memories", Tags: tags,
		Summary: "Store a memory", DefaultStatus: http.StatusCreated,
		Description: "Stores a memory, or a new version of the memory with this id. 200 if the id existed, 202 " +
			"if the memory was quarantined.",
	}, s.remember, http.StatusOK, http.StatusAccepted)
	register(s, huma.Operation{
		OperationID: "list-memories", Method: http.MethodGet, Path: "/v1/memories", Tags: tags,
		Summary: "List memories", Description: "Lists current memories by importance and recency, best first; " +
			"parameters select another order or state.",
	}, s.listMemories)
	register(s, huma.Operation{
		OperationID: "search-memories", Method: http.MethodPost, Path: searchMemoriesPath, Tags: tags,
		Summary: "Search memories", Description: "Same as /v1/search with the type memory.",
	}, s.searchMemories)
	register(s, huma.Operation{
		OperationID: "get-memory", Method: http.MethodGet, Path: "/v1/memories/{id}", Tags: tags, Summary: "Get a memory",
		Description: "Also returns a quarantined memory; its state and reason say so.",
	}, s.getMemory)
	register(s, huma.Operation{
		OperationID: "delete-memory", Method: http.MethodDelete, Path: "/v1/memories/{id}", Tags: tags,
		Summary: "Delete a memory",
		Description: "Answers no longer include the memory, except queries with an earlier as_of. With " +
			"erase=true it is erased permanently, together with its turn, and so are traces of a memory that is gone.",
	}, s.deleteMemory)
}

func (s *Server) remember(ctx context.Context, in *memoryInput) (*memoryPutOutput, error) {
	m, err := in.Body.memory(s.engine.Now())
	if err != nil {
		return nil, err
	}
	m.ID = cmp.Or(m.ID, seedOf(ctx))
	m, status, err := s.engine.Memories().Put(ctx, m)
	return toMemoryPut(created(status), m, status), err
}

func (s *Server) getMemory(ctx context.Context, in *MemoryKey) (*memoryOutput, error) {
	m, err := s.engine.Memories().Find(ctx, in.Namespace, in.ID, in.viewer())
	return &memoryOutput{memoryTag(m.Memory), m}, err
}
