package mem0

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// mem0Add adds memories from messages.
type mem0Add struct {
	Messages       mem0Said         `json:"messages"`
	UserID         string           `json:"user_id,omitempty" maxLength:"512"`
	AgentID        string           `json:"agent_id,omitempty" maxLength:"512"`
	RunID          string           `json:"run_id,omitempty" maxLength:"512"`
	Metadata       request.Metadata `json:"metadata,omitempty"`
	Infer          *bool            `json:"infer,omitempty" default:"true"`
	AsyncMode      *bool            `json:"async_mode,omitempty" default:"true"`
	Timestamp      int64            `json:"timestamp,omitempty" minimum:"0"`
	ExpirationDate date             `json:"expiration_date,omitzero"`
	OrgID          string           `json:"org_id,omitempty" maxLength:"512" doc:"ignored"`
	ProjectID      string           `json:"project_id,omitempty" maxLength:"512" doc:"namespace"`
	Version        string           `json:"version,omitempty" doc:"ignored"`
	OutputFormat   string           `json:"output_format,omitempty" doc:"ignored"`
	Filters        request.Metadata `json:"filters,omitempty" doc:"may have user_id, agent_id and run_id instead"`
}

// owners takes the owners from the filters, where clients since version 2 put them.
func (r *mem0Add) owners() error {
	for _, name := range slices.Sorted(maps.Keys(r.Filters)) {
		value, isText := r.Filters[name].(string)
		to := map[string]*string{"user_id": &r.UserID, "agent_id": &r.AgentID, "run_id": &r.RunID}[name]
		if to == nil || !isText || *to != "" && *to != value {
			return ragctx.Invalid("filters."+name, "names no owner of the new memories; send user_id, agent_id or run_id, each one text")
		}
		*to = value
	}
	return nil
}

// mem0Said are messages, or the text of a user message.
type mem0Said request.Messages

// Schema implements [huma.SchemaProvider].
func (mem0Said) Schema(r huma.Registry) *huma.Schema {
	length := ragctx.MaxMemoryBytes
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString, MaxLength: &length}, request.Messages{}.Schema(r)}}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *mem0Said) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*m = mem0Said{ragctx.TextMessage(ragctx.RoleUser, text)}
		return nil
	}
	return json.Unmarshal(b, (*request.Messages)(m))
}

// mem0Added is the result of adding messages.
type mem0Added struct {
	Results []mem0Result `json:"results" nullable:"false"`
	Status  string       `json:"status,omitempty" enum:"PENDING"`
}

// mem0Result is a created or changed memory.
type mem0Result struct {
	ID     string `json:"id"`
	Memory string `json:"memory"`
	Event  string `json:"event" enum:"ADD,UPDATE,DELETE,NONE"`
	Role   string `json:"role,omitempty" doc:"speaker, with infer=false"`
}

type addInput struct {
	Project
	Body mem0Add
}

type addOutput struct{ Body mem0Added }

type mem0PingOutput struct {
	Body struct {
		Status    string `json:"status"`
		OrgID     string `json:"org_id" doc:"always ragctx"`
		ProjectID string `json:"project_id" doc:"namespace of the requests that name none"`
		UserEmail string `json:"user_email" doc:"id of the API key, or local"`
	}
}

// mem0Ping answers the constructors of mem0's clients, which fail without a project.
func (s *service) ping(ctx context.Context, in *Project) (*mem0PingOutput, error) {
	out := new(mem0PingOutput)
	out.Body.Status, out.Body.OrgID = "ok", "ragctx"
	out.Body.ProjectID = cmp.Or(in.ProjectID, ragctx.DefaultNamespace)
	out.Body.UserEmail = cmp.Or(access.From(ctx).Key, "local")
	return out, nil
}

func (s *service) add(ctx context.Context, in *addInput) (*addOutput, error) {
	r := in.Body
	r.ProjectID = cmp.Or(in.ProjectID, r.ProjectID)
	if err := r.owners(); err != nil {
		return nil, err
	}
	if r.AgentID+r.RunID == "" {
		r.UserID = cmp.Or(r.UserID, access.From(ctx).User)
	}
	if r.UserID+r.AgentID+r.RunID == "" {
		return nil, ragctx.Invalid("user_id", "is missing, and so are agent_id and run_id; send at least one of them")
	}
	if r.Infer != nil && !*r.Infer {
		return s.verbatim(ctx, r)
	}
	if r.ExpirationDate.Set {
		return nil, ragctx.Invalid("expiration_date", "is given, but extracted memories do not expire; send "+
			"infer=false, or leave it out")
	}
	return s.turn(ctx, r)
}

func (r mem0Add) occurred() time.Time {
	if r.Timestamp == 0 {
		return time.Time{}
	}
	return time.Unix(r.Timestamp, 0).UTC()
}

// mem0Verbatim stores every message except system messages as a memory.
func (s *service) verbatim(ctx context.Context, r mem0Add) (*addOutput, error) {
	out := mem0Added{Results: []mem0Result{}}
	seed := s.Seed(ctx)
	expires, err := r.ExpirationDate.expires()
	if err != nil {
		return nil, err
	}
	for i, said := range r.Messages {
		role := cmp.Or(said.Role, ragctx.RoleUser)
		if role == ragctx.RoleSystem || role == ragctx.RoleDeveloper {
			continue
		}
		m := ragctx.Memory{
			Namespace: r.ProjectID, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.RunID, Type: ragctx.MemoryEpisodic,
			Content: said.Content.String(), Importance: ragctx.DefaultImportance, Tags: []string{}, Metadata: r.Metadata,
			Occurred: r.occurred(), Expires: expires,
		}
		if role == ragctx.RoleTool {
			m.Origin = ragctx.FromTool
		}
		if seed != "" {
			m.ID = fmt.Sprintf("%s-%d", seed, i)
		}
		m, status, err := s.engine.Memories().Put(ctx, m)
		if err != nil {
			return nil, request.AtIndex(err, "messages", i)
		}
		out.Results = append(out.Results, mem0Result{m.ID, m.Content, eventOf(status), string(role)})
	}
	return &addOutput{out}, nil
}

func eventOf(status store.Status) string {
	switch status {
	case store.Created:
		return "ADD"
	case store.Replaced:
		return "UPDATE"
	default:
		return "NONE"
	}
}

// mem0Turn stores the messages as a turn.
func (s *service) turn(ctx context.Context, r mem0Add) (*addOutput, error) {
	t := ragctx.Turn{
		ID: cmp.Or(s.Seed(ctx), s.engine.NewID()), Namespace: r.ProjectID, UserID: r.UserID, AgentID: r.AgentID,
		SessionID: r.RunID,
		Messages:  request.Messages(r.Messages), Occurred: r.occurred(), Metadata: r.Metadata,
	}
	t.SessionID = cmp.Or(t.SessionID, anonymous+t.ID)
	done, err := s.engine.CompleteTurn(ctx, t)
	if err != nil {
		return nil, err
	}
	out := mem0Added{Results: []mem0Result{}}
	wait := s.Wait()
	if r.AsyncMode == nil || *r.AsyncMode {
		wait = min(wait, asyncWait)
	}
	extracted, pending, err := s.awaitExtraction(ctx, t, wait)
	if err != nil {
		return nil, err
	}
	if pending {
		out.Status = "PENDING"
	}
	if out.Results = append(out.Results, extracted...); len(extracted) > 0 || done.MemoryID == "" {
		return &addOutput{out}, nil
	}
	m, err := s.engine.Memories().Get(ctx, t.Namespace, done.MemoryID, "", true)
	out.Results = append(out.Results, mem0Result{ID: m.ID, Memory: m.Content, Event: eventOf(done.Status)})
	return &addOutput{out}, err
}

// An answer waits for extraction: at most DefaultWait, which must be below the timeouts of clients,
// and asyncWait with async_mode, which is enough for an extractor without a language model.
const (
	DefaultWait = 30 * time.Second
	asyncWait   = time.Second
)

// awaitExtraction waits for the extraction from a turn, until the caller disconnects or the server
// stops. It returns the results so far, and whether more may follow.
func (s *service) awaitExtraction(
	ctx context.Context, t ragctx.Turn, most time.Duration,
) (extracted []mem0Result, pending bool, err error) {
	wait, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	go func() {
		select {
		case <-s.Stopping:
			cancel()
		case <-wait.Done():
		}
	}()
	if err := s.engine.Sessions().Settle(wait, t.Namespace, t.SessionID); err != nil {
		if pending = wait.Err() != nil && ctx.Err() == nil; !pending {
			return nil, false, err
		}
	}
	changes, err := s.engine.Sessions().TurnChanges(ctx, t.Namespace, t.ID, engine.Viewer{Anyone: true})
	for _, c := range changes {
		switch c.Op {
		case ragctx.OpQuarantined, ragctx.OpDiscarded:
		default:
			extracted = append(extracted, mem0Result{
				ID: c.MemoryID, Memory: cmp.Or(c.Content, c.Previous),
				Event: eventOfChange(c.MemoryChange),
			})
		}
	}
	return extracted, pending, err
}

type memoryOutput struct{ Body mem0Memory }

func (s *service) get(ctx context.Context, in *Key) (*memoryOutput, error) {
	m, err := s.engine.Memories().Get(ctx, in.ProjectID, in.ID, "", true)
	return &memoryOutput{toMem0(m)}, err
}

// mem0Update changes a memory.
type mem0Update struct {
	Text           *string          `json:"text,omitempty"`
	Metadata       request.Metadata `json:"metadata,omitempty" doc:"merged into the memory's metadata"`
	ExpirationDate date             `json:"expiration_date,omitzero" doc:"null is never"`
}

type updateInput struct {
	Key
	Body mem0Update
}

func (s *service) update(ctx context.Context, in *updateInput) (*memoryOutput, error) {
	m, err := s.revise(ctx, in.ProjectID, in.ID, in.Body)
	return &memoryOutput{toMem0(m)}, err
}

func (s *service) revise(ctx context.Context, namespace, id string, r mem0Update) (ragctx.Memory, error) {
	p := memory.Patch{Content: r.Text, Metadata: r.Metadata}
	if r.ExpirationDate.Set {
		at, err := r.ExpirationDate.expires()
		if err != nil {
			return ragctx.Memory{}, err
		}
		p.Expires = &at
	}
	m, _, err := s.engine.Memories().Revise(ctx, namespace, id, engine.Viewer{Anyone: true}, p)
	return m, err
}

func (s *service) delete(ctx context.Context, in *Key) (*messageOutput, error) {
	if _, err := s.engine.Memories().Get(ctx, in.ProjectID, in.ID, "", true); err != nil {
		return nil, err
	}
	err := s.engine.Memories().Delete(ctx, in.ProjectID, in.ID, "", true)
	return &messageOutput{mem0Message{"Memory deleted successfully!"}}, err
}

type deleteInput struct {
	Project
	UserID  string `query:"user_id" maxLength:"512"`
	AgentID string `query:"agent_id" maxLength:"512"`
	RunID   string `query:"run_id" maxLength:"512" doc:"session id"`
}

func (s *service) deleteAll(ctx context.Context, in *deleteInput) (*messageOutput, error) {
	scope := selection{user: in.UserID, agent: in.AgentID, run: in.RunID}
	if !scope.named() || in.UserID == "*" || in.AgentID == "*" || in.RunID == "*" {
		return nil, ragctx.Invalid("user_id", "is missing or *, and so are agent_id and run_id; name the owner "+
			"of the memories to delete")
	}
	f := scope.memories()
	f.Own, f.Distilled = true, false
	return &messageOutput{mem0Message{"Memories deleted successfully!"}}, s.engine.Memories().DeleteAll(ctx,
		in.ProjectID, f)
}
