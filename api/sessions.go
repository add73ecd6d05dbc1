package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// SessionRequest creates a session.
type SessionRequest struct {
	Said
	ID         string   `json:"id,omitempty" maxLength:"512" doc:"default is a generated id; an existing id is 409"`
	Namespace  string   `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	UserID     string   `json:"user_id,omitempty" maxLength:"512" doc:"owner of the session; default is none"`
	Layer      string   `json:"layer,omitempty" enum:"any,observation,compaction,buffer,none" default:"any"`
	Parameters Metadata `json:"parameters,omitempty" doc:"custom values, at most 64 KiB of JSON"`
}

// SessionPatch changes a session. Absent fields stay unchanged.
type SessionPatch struct {
	Layer      *string  `json:"layer,omitempty" enum:"any,observation,compaction,buffer,none" doc:"compression layer"`
	Parameters Metadata `json:"parameters,omitempty" doc:"values to set; null removes one"`
}

// Session is a stored session without its messages.
type Session struct {
	session.Info

	Namespace    string      `json:"namespace"`
	UserID       string      `json:"user_id,omitempty" doc:"owner of the session; absent for none"`
	Layer        stage.Layer `json:"layer" enum:"any,observation,compaction,buffer,none" doc:"compression layer"`
	Observations int         `json:"observations" doc:"number of observations"`
}

// sessionOf converts a session for the answer. Its layer is not one of the caller's parameters.
func sessionOf(d view.Summary) Session {
	out := Session{
		Info: d.Info, Namespace: d.Key.Namespace, UserID: d.Key.User, Layer: cmp.Or(d.Layer, anyLayer),
		Observations: d.Observations,
	}
	out.Parameters = maps.Clone(out.Parameters)
	delete(out.Parameters, view.ParameterLayer)
	if out.Sections == nil {
		out.Sections = []session.SectionInfo{}
	}
	return out
}

// anyLayer is the name of [stage.AnyLayer].
const anyLayer stage.Layer = "any"

// SessionEntry is a session in a list, without counts of its contents.
type SessionEntry struct {
	ID         string         `json:"id" doc:"session id, unique per user"`
	Namespace  string         `json:"namespace"`
	UserID     string         `json:"user_id,omitempty" doc:"owner of the session; absent for none"`
	CreatedAt  time.Time      `json:"created_at" doc:"time of creation"`
	UpdatedAt  time.Time      `json:"updated_at" doc:"time of the last change"`
	Leaf       string         `json:"leaf,omitempty"`
	Messages   int            `json:"messages" doc:"number of messages on all branches"`
	Bytes      int64          `json:"bytes"`
	Layer      stage.Layer    `json:"layer" enum:"any,observation,compaction,buffer,none" doc:"compression layer"`
	Parameters map[string]any `json:"parameters,omitempty" doc:"custom values"`
}

// SessionPage is a page of sessions.
type SessionPage struct {
	Sessions   []SessionEntry `json:"sessions" nullable:"false" doc:"newest first, by creation"`
	NextCursor string         `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// sessionCursor is the position before a session, in order of creation.
type sessionCursor struct {
	Before int64 `json:"before"`
}

// ForkRequest copies a branch of a session into a new one.
type ForkRequest struct {
	To        string `json:"to,omitempty" maxLength:"512"`
	MessageID string `json:"message_id,omitempty" maxLength:"512" doc:"last message to copy; default is the leaf"`
}

// navigateRequest moves the leaf of a session.
type navigateRequest struct {
	MessageID string `json:"message_id" maxLength:"512" doc:"message that the next one follows; empty is the beginning"`
}

func (k SessionKey) kept() session.Key {
	return session.Key{Namespace: k.Namespace, User: k.UserID, ID: k.ID}
}

type (
	sessionInput struct{ Body SessionRequest }
	sessionList  struct {
		Scoped
		UserID   string `query:"user_id" maxLength:"512" doc:"owner of the sessions; default is none"`
		AllUsers bool   `query:"all_users" doc:"sessions of all users (admins only)"`
		Page
	}
	sessionPatchInput struct {
		SessionKey
		SessionMatching

		Body SessionPatch
	}
	sectionInput struct {
		SectionKey
		SessionMatching

		Body Said
	}
	noSectionInput struct {
		SectionKey
		SessionMatching
	}
	forkInput struct {
		SessionKey
		SessionMatching

		Body ForkRequest
	}
	navigateInput struct {
		SessionKey
		SessionMatching

		Body navigateRequest
	}
	sessionOutput struct {
		SessionTag

		Body Session
	}
	newSessionOutput  sessionOutput
	noSectionOutput   struct{ SessionMade }
	sessionPageOutput struct{ Body SessionPage }
)

func (o *newSessionOutput) made() string { return o.Body.ID }

// SectionKey are the parameters that name a section. It is exported because huma ignores unexported
// embedded types.
type SectionKey struct {
	SessionKey
	Name string `path:"section" example:"messages"`
}

func (k SectionKey) section() (string, error) { return memberName("section", k.Name) }

const sessionPath = sessionsRoot + "/{id}"

// sessionOp describes an operation on sessions.
func sessionOp(id, method, path, summary, about string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Tags: []string{conversationsGroup}, Summary: summary,
		Description: about, DefaultStatus: http.StatusOK,
	}
}

func (s *Server) sessionRoutes() {
	create := sessionOp("create-session", http.MethodPost, sessionsRoot, "Create a session", "Creates a session, "+
		"optionally with messages, atomically.")
	create.DefaultStatus = http.StatusCreated
	register(s, create, s.createSession)
	register(s, sessionOp("list-sessions", http.MethodGet, sessionsRoot, "List sessions", "Lists the stored "+
		"sessions of a user, or those without an owner, newest first. A change does not move a session. A "+
		"conversation known only from turns is not a stored session."), s.listSessions)
	register(s, sessionOp("get-session", http.MethodGet, sessionPath, "Get a session", "Returns "+
		"sections, branches, compactions and observations, without messages."),
		func(ctx context.Context, in *SessionKey) (*sessionOutput, error) {
			return s.sessionAt(ctx, in.kept(), session.Version{})
		})
	register(s, sessionOp("change-session", http.MethodPatch, sessionPath, "Change a session", "Changes the "+
		"compression layer and custom values."), s.changeSession)
	register(s, sessionOp("put-session-section", http.MethodPut, memberPath("section"), "Replace a section", "Creates "+
		"a section, or replaces its messages. Labels of removed messages go too, and so do compactions of "+
		"changed ones."), s.putSection)
	remove := sessionOp("delete-session-section", http.MethodDelete, memberPath("section"), "Remove a section",
		"Removes a section with its messages on all branches. 404 if it does not exist.")
	remove.DefaultStatus = http.StatusNoContent
	register(s, remove, s.deleteSection)
	fork := sessionOp("fork-session", http.MethodPost, verbPath(sessionsRoot, "fork"), "Fork a session", "Copies "+
		"the messages up to a given one into a new session, with labels and compactions. Later messages of one "+
		"session do not appear in the other. Erasing the original also erases the fork.")
	fork.DefaultStatus = http.StatusCreated
	register(s, fork, s.forkSession)
	register(s, sessionOp("navigate-session", http.MethodPost, verbPath(sessionsRoot, "navigate"), "Move the "+
		"leaf of a session", "The "+
		"next message follows the given one. Later messages stay stored, as a branch."), s.navigateSession)
	s.sessionMessageRoutes()
	s.sessionTransferRoutes()
	s.compileRoutes()
	s.compactRoutes()
}

func (s *Server) createSession(ctx context.Context, in *sessionInput) (*newSessionOutput, error) {
	r := in.Body
	messages, _, err := s.parseMessages(r.Said, "messages")
	if err != nil {
		return nil, err
	}
	k := session.Key{Namespace: r.Namespace, User: r.UserID, ID: cmp.Or(r.ID, seedOf(ctx), s.opts.NewID())}
	o := view.CreateOptions{
		Parameters: r.Parameters, Layer: stage.Layer(r.Layer), Messages: messages, Request: seedOf(ctx),
	}
	at, err := s.engine.Sessions().Views().Create(ctx, k, o)
	if err != nil {
		return nil, err
	}
	d, err := s.sessionAt(ctx, k, at)
	return (*newSessionOutput)(d), err
}

// sessionAt returns a session with its tag: that of the version that a change made, or of the session
// as read if that is zero. Concurrent changes may be in the answer, but not in the tag.
func (s *Server) sessionAt(ctx context.Context, k session.Key, at session.Version) (*sessionOutput, error) {
	d, err := s.engine.Sessions().Views().Describe(ctx, k)
	return &sessionOutput{SessionTag(sessionMade(cmp.Or(at, d.Version))), sessionOf(d)}, err
}

func (s *Server) changeSession(ctx context.Context, in *sessionPatchInput) (*sessionOutput, error) {
	c := view.Changes{Layer: (*stage.Layer)(in.Body.Layer), Parameters: in.Body.Parameters}
	at, err := s.engine.Sessions().Views().Change(ctx, in.kept(), c, in.when())
	if err != nil {
		return nil, err
	}
	return s.sessionAt(ctx, in.kept(), at)
}

func (s *Server) putSection(ctx context.Context, in *sectionInput) (*sessionOutput, error) {
	name, err := in.section()
	if err != nil {
		return nil, err
	}
	messages, _, err := s.parseMessages(in.Body, "messages")
	if err != nil {
		return nil, err
	}
	at, err := s.engine.Sessions().Views().Edit(ctx, in.kept(), name, messages, in.when())
	if err != nil {
		return nil, err
	}
	return s.sessionAt(ctx, in.kept(), at)
}

func (s *Server) deleteSection(ctx context.Context, in *noSectionInput) (*noSectionOutput, error) {
	name, err := in.section()
	if err != nil {
		return nil, err
	}
	at, err := s.engine.Sessions().Views().Remove(ctx, in.kept(), name, in.when())
	return &noSectionOutput{sessionMade(at)}, err
}

func (s *Server) forkSession(ctx context.Context, in *forkInput) (*newSessionOutput, error) {
	to := in.kept()
	to.ID = cmp.Or(in.Body.To, seedOf(ctx), s.opts.NewID())
	f := session.Fork{Leaf: in.Body.MessageID, ID: to.ID, Request: seedOf(ctx)}
	at, err := s.engine.Sessions().Storage().Fork(ctx, in.kept(), f, in.when())
	if errors.Is(err, ragctx.ErrConflict) {
		err = fieldNamed(err, "to")
	}
	if err != nil {
		return nil, err
	}
	d, err := s.sessionAt(ctx, to, at)
	return (*newSessionOutput)(d), err
}

func (s *Server) navigateSession(ctx context.Context, in *navigateInput) (*sessionOutput, error) {
	u := session.Update{Leaf: &in.Body.MessageID}
	at, err := s.engine.Sessions().Storage().Update(ctx, in.kept(), u, in.when())
	if err != nil {
		return nil, err
	}
	return s.sessionAt(ctx, in.kept(), at)
}

// fieldNamed replaces the field in an error.
func fieldNamed(err error, field string) error {
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		return &ragctx.FieldError{Field: field, Problem: f.Problem, Kind: f.Kind}
	}
	return err
}

func (s *Server) listSessions(ctx context.Context, in *sessionList) (*sessionPageOutput, error) {
	if in.AllUsers && in.UserID != "" {
		return nil, ragctx.Invalid("all_users", "contradicts user_id; send one of them")
	}
	c, err := decodeCursor[sessionCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	f := engine.SessionFilter{UserID: in.UserID, AnyUser: in.AllUsers, Before: c.Before, Limit: in.Limit}
	found, next, err := s.engine.Sessions().List(ctx, in.Namespace, f)
	page := SessionPage{Sessions: make([]SessionEntry, len(found))}
	for i, d := range found {
		one := sessionOf(d)
		page.Sessions[i] = SessionEntry{
			one.ID, one.Namespace, one.UserID, one.CreatedAt, one.UpdatedAt, one.Leaf,
			one.Messages, one.Bytes, one.Layer, one.Parameters,
		}
	}
	if next != 0 {
		page.NextCursor = encodeCursor(in.list, sessionCursor{next})
	}
	return &sessionPageOutput{page}, err
}
