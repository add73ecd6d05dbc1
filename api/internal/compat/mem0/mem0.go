// Package mem0 has the routes of mem0's REST API, as far as it is supported.
package mem0

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// Prefix begins the paths of all routes. mem0's clients are configured with it; see docs/mem0.md.
const Prefix = "/mem0"

// anonymous begins the ids of the sessions of turns that have no run_id. Clients do not see them.
const anonymous = "mem0-"

// Project are the parameters of all mem0 requests.
type Project struct {
	OrgID     string `query:"org_id" maxLength:"512" doc:"ignored"`
	ProjectID string `query:"project_id" maxLength:"512" doc:"namespace; default is \"default\""`
}

// Key are the parameters that name a memory.
type Key struct {
	Project
	ID string `path:"id" doc:"memory id"`
}

// mem0Memory is a memory in mem0's format.
type mem0Memory struct {
	ID             string         `json:"id"`
	Memory         string         `json:"memory" doc:"text of the memory"`
	UserID         *string        `json:"user_id" doc:"null for a shared memory"`
	AgentID        *string        `json:"agent_id"`
	RunID          *string        `json:"run_id" doc:"session id"`
	SessionID      *string        `json:"session_id" doc:"same as run_id"`
	Metadata       map[string]any `json:"metadata" nullable:"true"`
	Categories     []string       `json:"categories" nullable:"false" doc:"tags"`
	CreatedAt      time.Time      `json:"created_at" doc:"time at which it was first said"`
	UpdatedAt      time.Time      `json:"updated_at" doc:"time at which this version was recorded"`
	ExpirationDate *string        `json:"expiration_date" doc:"last day of validity, in UTC"`
	Score          *float64       `json:"score,omitempty" doc:"for a search: relevance"`
}

func toMem0(m ragctx.Memory) mem0Memory {
	var run *string
	if !strings.HasPrefix(m.SessionID, anonymous) {
		run = orNull(m.SessionID)
	}
	out := mem0Memory{
		ID: m.ID, Memory: m.Content, UserID: orNull(m.UserID), AgentID: orNull(m.AgentID), RunID: run,
		SessionID: run, Metadata: m.Metadata, Categories: m.Tags, CreatedAt: store.Said(m),
		UpdatedAt: m.Recorded,
	}
	if out.Categories == nil {
		out.Categories = []string{}
	}
	if !m.Expires.IsZero() {
		day := m.Expires.Add(-1).UTC().Format(time.DateOnly)
		out.ExpirationDate = &day
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// date is a day such as "2026-03-01", or null. An item that expires then is found until the end
// of the day in UTC.
type date struct {
	Set bool
	Day string
}

// IsZero reports whether the field is absent.
func (d date) IsZero() bool { return !d.Set }

// Schema implements [huma.SchemaProvider].
func (date) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date", Nullable: true}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *date) UnmarshalJSON(b []byte) error {
	d.Set = true
	return json.Unmarshal(b, &d.Day)
}

// expires returns the end of the day; the zero time for null.
func (d date) expires() (time.Time, error) {
	if d.Day == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, d.Day)
	if err != nil {
		return day, ragctx.Invalid("expiration_date", "is %q; use a day such as 2026-03-01", ragctx.Clip(d.Day))
	}
	return day.AddDate(0, 0, 1), nil
}

// mem0Message confirms a change.
type mem0Message struct {
	Message string `json:"message"`
}

type messageOutput struct{ Body mem0Message }

// Memories is the path of the memories.
const Memories = Prefix + "/v1/memories"

// Options connects the routes to their server.
type Options struct {
	// Stopping is closed when the server stops.
	Stopping <-chan struct{}
	// Wait returns how long an answer waits for the extraction of facts from its turn.
	Wait func() time.Duration
	// Seed returns the id for the object that a request creates; "" lets the engine choose.
	Seed func(context.Context) string
}

type service struct {
	Options

	engine *engine.Engine
}

// Routes returns the routes. The types of their bodies begin with mem0, because the OpenAPI document names them.
func Routes(e *engine.Engine, o Options) []compat.Route {
	s := &service{o, e}
	of := func(id, method, path, summary, description string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: Prefix + path, Tags: []string{compat.Group}, Summary: summary,
			Description: description, DefaultStatus: http.StatusOK,
		}
	}
	const add = "With infer=true (the default) the messages are stored as a turn and searchable at once. Facts " +
		"are extracted later, or with async_mode=false before the answer. With infer=false every message becomes " +
		"a memory."
	return []compat.Route{
		compat.Handle(of("mem0-ping", http.MethodGet, "/v1/ping", "Check the connection",
			"The first call of mem0 clients."), s.ping),
		compat.Handle(of("mem0-add", http.MethodPost, "/v1/memories", "Add memories", add), s.add),
		compat.Handle(of("mem0-add-v3", http.MethodPost, "/v3/memories/add", "Add memories", add), s.add),
		compat.Handle(of("mem0-list", http.MethodGet, "/v1/memories", "List memories",
			"Newest first: a list, or with page and page_size a page."), s.list),
		compat.Handle(of("mem0-list-v2", http.MethodPost, "/v2/memories", "List memories by filters",
			"Newest first: a list."), s.listV2),
		compat.Handle(of("mem0-list-v3", http.MethodPost, "/v3/memories", "List memories by filters",
			"Newest first: a page."), s.listV3),
		compat.Handle(of("mem0-delete-all", http.MethodDelete, "/v1/memories", "Delete memories",
			"Deletes the memories that have all the given ids; memories of other users and shared ones stay."), s.deleteAll),
		compat.Handle(of("mem0-search", http.MethodPost, "/v1/memories/search", "Search memories",
			"A list, or with output_format v1.1 an object."), s.search),
		compat.Handle(of("mem0-search-v2", http.MethodPost, "/v2/memories/search", "Search memories by filters",
			"A list."), s.searchV2),
		compat.Handle(of("mem0-search-v3", http.MethodPost, "/v3/memories/search", "Search memories by filters",
			"An object."), s.searchV3),
		compat.Handle(of("mem0-get", http.MethodGet, "/v1/memories/{id}", "Get a memory",
			"Returns the current version."), s.get),
		compat.Handle(of("mem0-update", http.MethodPut, "/v1/memories/{id}", "Change a memory",
			"Absent fields stay unchanged; metadata is merged."), s.update),
		compat.Handle(of("mem0-delete", http.MethodDelete, "/v1/memories/{id}", "Delete a memory",
			"Removes the memory from searches; its history stays."), s.delete),
		compat.Handle(of("mem0-entities", http.MethodGet, "/v1/entities", "List users, agents and sessions",
			"Those that have memories, at most 1000 of each type."), s.entities),
		compat.Handle(of("mem0-delete-entity", http.MethodDelete, "/v1/entities/{type}/{name}",
			"Delete the memories of a user, an agent or a session",
			"Shared memories stay, and so do those of other users."), s.deleteEntity),
		compat.Handle(of("mem0-delete-entity-v2", http.MethodDelete, "/v2/entities/{type}/{name}",
			"Delete the memories of a user, an agent or a session",
			"Shared memories stay, and so do those of other users."), s.deleteEntity),
		compat.Handle(of("mem0-batch-update", http.MethodPut, "/v1/batch", "Change memories",
			"In order, until one fails."), s.batchUpdate),
		compat.Handle(of("mem0-batch-delete", http.MethodDelete, "/v1/batch", "Delete memories",
			"In order, until one fails."), s.batchDelete),
		compat.Handle(of("mem0-history", http.MethodGet, `/v1/memories\:history/{id}`, "History of a memory", "Oldest first."), s.history),
	}
}
