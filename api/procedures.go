package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/procedures"
)

// ProcedureKey are the parameters that name a procedure. It is exported because huma ignores
// unexported embedded types.
type ProcedureKey struct {
	Scoped
	Name    string `path:"name" doc:"lower-case letters and digits; hyphens between words" example:"deploy-service"`
	UserID  string `query:"user_id" maxLength:"512" doc:"owner of the procedure; default is shared by all users"`
	AgentID string `query:"agent_id" maxLength:"512" doc:"agent of the procedure; default is shared by all agents"`
}

func (k ProcedureKey) key() engine.ProcedureKey {
	return engine.ProcedureKey{
		Namespace: k.Namespace, Name: k.Name,
		ProcedureOwner: ragctx.ProcedureOwner{UserID: k.UserID, AgentID: k.AgentID},
	}
}

type procedureList struct {
	Scoped
	UserID   string `query:"user_id" maxLength:"512" doc:"this user's and shared procedures; default is shared ones only"`
	AllUsers bool   `query:"all_users" doc:"procedures of all users"`
	AgentID  string `query:"agent_id" maxLength:"512" doc:"procedures of this agent and of none; default is all agents"`
	State    string `query:"state" enum:"draft,published" doc:"only procedures with a draft, or with a canonical version"`
	Page
}

// procedurePage is a page of procedures.
type procedurePage struct {
	Procedures []ragctx.ProcedureEntry `json:"procedures" nullable:"false"`
	NextCursor string                  `json:"next_cursor,omitempty"`
}

type procedurePageOutput struct{ Body procedurePage }

// procedureCursor is the position after a procedure.
type procedureCursor struct {
	Name  string `json:"name"`
	User  string `json:"user"`
	Agent string `json:"agent"`
}

// draftRequest is the draft of a procedure.
type draftRequest struct {
	Trigger      string   `json:"trigger" example:"Deploy {service} to {environment}"`
	Steps        []string `json:"steps" minItems:"1" maxItems:"50" doc:"steps in order, each at most 1000 characters"`
	Tools        []string `json:"tools,omitempty" maxItems:"50" doc:"names of the required tools"`
	Pitfalls     []string `json:"pitfalls,omitempty" maxItems:"50" doc:"known problems and their solutions"`
	Verification []string `json:"verification,omitempty" maxItems:"50" doc:"how to verify success"`
}

type draftInput struct {
	ProcedureKey
	Body draftRequest
}

type rollbackInput struct {
	ProcedureKey
	Body struct {
		Version int `json:"version" minimum:"1" doc:"earlier version that becomes canonical again"`
	}
}

type previewInput struct {
	ProcedureKey
	Version int  `query:"version" minimum:"1" doc:"published version; default is the canonical one"`
	Draft   bool `query:"draft" doc:"preview the draft instead"`
}

type procedureDelete struct {
	ProcedureKey
	Erasable
}

type procedureOutput struct{ Body ragctx.Procedure }

type previewOutput struct{ Body procedures.ProcedurePreview }

// procedureChanges lists the changes of a procedure, oldest first.
type procedureChanges struct {
	Changes []ragctx.ProcedureChange `json:"changes" nullable:"false"`
}

type procedureHistoryOutput struct{ Body procedureChanges }

const (
	proceduresPath = "/v1/procedures"
	procedurePath  = proceduresPath + "/{name}"
)

func (s *Server) procedureRoutes() {
	op := func(id, method, path, summary, about string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{coreGroup},
			Summary: summary, Description: about,
		}
	}
	register(s, op("list-procedures", http.MethodGet, proceduresPath, "List procedures",
		"Lists procedures by name. The size of an entry does not depend on the procedure's length."), s.listProcedures)
	register(s, op("get-procedure", http.MethodGet, procedurePath, "Get a procedure", "Returns a procedure with "+
		"its draft and all versions, newest first."), s.getProcedure)
	register(s, op("put-draft", http.MethodPut, procedurePath+"/draft", "Write a draft",
		"Creates or replaces the draft of a procedure. Published versions do not change."), s.putDraft)
	register(s, op("delete-draft", http.MethodDelete, procedurePath+"/draft", "Delete a draft",
		"Also removes the procedure if it has no published version. 404 if there is no draft."), s.deleteDraft)
	register(s, op("publish-procedure", http.MethodPost, verbPathOf(proceduresPath, "publish", "name"), "Publish a draft",
		"Turns the draft into an immutable version and shows that version to agents."), s.publishProcedure)
	register(s, op("unpublish-procedure", http.MethodPost, verbPathOf(proceduresPath, "unpublish", "name"), "Unpublish a procedure",
		"Stops showing the procedure to agents. Its versions stay stored."), s.unpublishProcedure)
	register(s, op("roll-back-procedure", http.MethodPost, verbPathOf(proceduresPath, "rollback", "name"), "Roll back a procedure",
		"Makes an earlier version canonical again and supersedes all later ones. A superseded version cannot "+
			"become canonical again."), s.rollback)
	register(s, op("preview-procedure", http.MethodGet, procedurePath+"/preview", "Preview a procedure",
		"Returns a procedure as agents see it: the line in contexts, and the body on request."), s.previewProcedure)
	register(s, op("procedure-history", http.MethodGet, procedurePath+"/history", "History of a procedure", "Lists "+
		"the changes of a procedure, oldest first."), s.procedureHistory)
	register(s, op("erase-procedure", http.MethodDelete, procedurePath, "Erase a procedure",
		"Permanently removes a procedure with its versions and its history. Requires erase=true. To hide it from "+
			"agents, unpublish it instead."), s.eraseProcedure)
}

func (s *Server) publishProcedure(ctx context.Context, in *ProcedureKey) (*procedureOutput, error) {
	p, err := s.engine.Procedures().Publish(ctx, in.key())
	return &procedureOutput{p}, err
}

func (s *Server) unpublishProcedure(ctx context.Context, in *ProcedureKey) (*procedureOutput, error) {
	p, err := s.engine.Procedures().Unpublish(ctx, in.key())
	return &procedureOutput{p}, err
}

func (s *Server) listProcedures(ctx context.Context, in *procedureList) (*procedurePageOutput, error) {
	if in.AllUsers && in.UserID != "" {
		return nil, ragctx.Invalid("all_users", "contradicts user_id; send one of them")
	}
	c, err := decodeCursor[procedureCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Procedures().List(ctx, in.Namespace, store.ProcedureFilter{
		ProcedureOwner: ragctx.ProcedureOwner{
			UserID:  in.UserID,
			AgentID: in.AgentID,
		}, AnyUser: in.AllUsers, State: ragctx.ProcedureState(in.State), Limit: in.Limit + 1,
		After: ragctx.ProcedureEntry{Name: c.Name, ProcedureOwner: ragctx.ProcedureOwner{UserID: c.User, AgentID: c.Agent}},
	})
	found, next := pageOf(in.Page, found, func(p ragctx.ProcedureEntry) procedureCursor {
		return procedureCursor{p.Name, p.UserID, p.AgentID}
	})
	return &procedurePageOutput{procedurePage{found, next}}, err
}

func (s *Server) getProcedure(ctx context.Context, in *ProcedureKey) (*procedureOutput, error) {
	p, err := s.engine.Procedures().Get(ctx, in.key())
	return &procedureOutput{p}, err
}

func (s *Server) putDraft(ctx context.Context, in *draftInput) (*procedureOutput, error) {
	p, err := s.engine.Procedures().PutDraft(ctx, in.key(), ragctx.ProcedureBody(in.Body))
	return &procedureOutput{p}, err
}

func (s *Server) deleteDraft(ctx context.Context, in *ProcedureKey) (*struct{}, error) {
	return nil, s.engine.Procedures().DeleteDraft(ctx, in.key())
}

func (s *Server) rollback(ctx context.Context, in *rollbackInput) (*procedureOutput, error) {
	p, err := s.engine.Procedures().Rollback(ctx, in.key(), in.Body.Version)
	return &procedureOutput{p}, err
}

func (s *Server) previewProcedure(ctx context.Context, in *previewInput) (*previewOutput, error) {
	if in.Draft && in.Version != 0 {
		return nil, ragctx.Invalid("draft", "contradicts version; send one of them")
	}
	p, err := s.engine.Procedures().Preview(ctx, in.key(), in.Version, in.Draft)
	return &previewOutput{p}, err
}

func (s *Server) procedureHistory(ctx context.Context, in *ProcedureKey) (*procedureHistoryOutput, error) {
	changes, err := s.engine.Procedures().History(ctx, in.key())
	return &procedureHistoryOutput{procedureChanges{changes}}, err
}

func (s *Server) eraseProcedure(ctx context.Context, in *procedureDelete) (*struct{}, error) {
	if err := in.confirmed(); err != nil {
		return nil, err
	}
	_, err := s.engine.Procedures().Erase(ctx, in.key())
	return nil, err
}
