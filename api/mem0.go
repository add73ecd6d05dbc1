package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// mem0Prefix is the path of mem0's REST API, as far as it is supported. mem0's clients are
// configured with it; see docs/mem0.md.
const mem0Prefix = "/mem0"

// mem0Session begins the ids of the sessions of turns that have no run_id. Clients do not see them.
const mem0Session = "mem0-"

// withoutSlash removes the trailing slash of a mem0 path.
func withoutSlash(path string) string {
	if strings.HasPrefix(path, mem0Prefix+"/") {
		return strings.TrimRight(path, "/")
	}
	return path
}

// Mem0Project are the parameters of all mem0 requests.
type Mem0Project struct {
	OrgID     string `query:"org_id" maxLength:"512" doc:"ignored"`
	ProjectID string `query:"project_id" maxLength:"512" doc:"namespace; default is \"default\""`
}

// Mem0Key are the parameters that name a memory.
type Mem0Key struct {
	Mem0Project
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
	if !strings.HasPrefix(m.SessionID, mem0Session) {
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

// mem0Date is a day such as "2026-03-01", or null. An item that expires then is found until the end
// of the day in UTC.
type mem0Date struct {
	Set bool
	Day string
}

// IsZero reports whether the field is absent.
func (d mem0Date) IsZero() bool { return !d.Set }

// Schema implements [huma.SchemaProvider].
func (mem0Date) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date", Nullable: true}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *mem0Date) UnmarshalJSON(b []byte) error {
	d.Set = true
	return json.Unmarshal(b, &d.Day)
}

// expires returns the end of the day; the zero time for null.
func (d mem0Date) expires() (time.Time, error) {
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

type mem0MessageOutput struct{ Body mem0Message }

func (s *Server) mem0Routes() {
	tags := []string{compatibilityGroup}
	add := func(id, method, path, summary, description string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: mem0Prefix + path, Tags: tags, Summary: summary, Description: description,
			DefaultStatus: http.StatusOK,
		}
	}
	const add1 = "With infer=true (the default) the messages are stored as a turn and searchable at once. Facts " +
		"are extracted later, or with async_mode=false before the answer. With infer=false every message becomes " +
		"a memory."
	register(s, add("mem0-ping", http.MethodGet, "/v1/ping", "Check the connection",
		"The first call of mem0 clients."), s.mem0Ping)
	register(s, add("mem0-add", http.MethodPost, "/v1/memories", "Add memories", add1), s.mem0Add)
	register(s, add("mem0-add-v3", http.MethodPost, "/v3/memories/add", "Add memories", add1), s.mem0Add)
	register(s, add("mem0-list", http.MethodGet, "/v1/memories", "List memories",
		"Newest first: a list, or with page and page_size a page."), s.mem0List)
	register(s, add("mem0-list-v2", http.MethodPost, "/v2/memories", "List memories by filters",
		"Newest first: a list."), s.mem0ListV2)
	register(s, add("mem0-list-v3", http.MethodPost, "/v3/memories", "List memories by filters",
		"Newest first: a page."), s.mem0ListV3)
	register(s, add("mem0-delete-all", http.MethodDelete, "/v1/memories", "Delete memories",
		"Deletes the memories that have all the given ids; memories of other users and shared ones stay."), s.mem0DeleteAll)
	register(s, add("mem0-search", http.MethodPost, "/v1/memories/search", "Search memories",
		"A list, or with output_format v1.1 an object."), s.mem0Search)
	register(s, add("mem0-search-v2", http.MethodPost, "/v2/memories/search", "Search memories by filters",
		"A list."), s.mem0SearchV2)
	register(s, add("mem0-search-v3", http.MethodPost, "/v3/memories/search", "Search memories by filters",
		"An object."), s.mem0SearchV3)
	register(s, add("mem0-get", http.MethodGet, "/v1/memories/{id}", "Get a memory", "Returns the current version."),
		s.mem0Get)
	register(s, add("mem0-update", http.MethodPut, "/v1/memories/{id}", "Change a memory", "Absent fields stay "+
		"unchanged; metadata is merged."), s.mem0Update)
	register(s, add("mem0-delete", http.MethodDelete, "/v1/memories/{id}", "Delete a memory", "Removes the "+
		"memory from searches; its history stays."), s.mem0Delete)
	register(s, add("mem0-entities", http.MethodGet, "/v1/entities", "List users, agents and sessions",
		"Those that have memories, at most 1000 of each type."), s.mem0Entities)
	for id, path := range map[string]string{"mem0-delete-entity": "/v1/entities", "mem0-delete-entity-v2": "/v2/entities"} {
		register(s, add(id, http.MethodDelete, path+"/{type}/{name}", "Delete the memories of a user, an agent or a session",
			"Shared memories stay, and so do those of other users."), s.mem0DeleteEntity)
	}
	register(s, add("mem0-batch-update", http.MethodPut, "/v1/batch", "Change memories", "In order, until one fails."), s.mem0BatchUpdate)
	register(s, add("mem0-batch-delete", http.MethodDelete, "/v1/batch", "Delete memories", "In order, until one fails."),
		s.mem0BatchDelete)
	register(s, add("mem0-history", http.MethodGet, strings.TrimPrefix(verbPath(mem0Memories, "history"),
		mem0Prefix), "History of a memory", "Oldest first."), s.mem0History)
}

const mem0Memories = mem0Prefix + "/v1/memories"
