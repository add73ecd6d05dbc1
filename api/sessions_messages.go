package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/view"
	"github.com/ragctx/ragctx/session/wire"
)

// AppendRequest appends messages to a session.
type AppendRequest struct {
	Said
	Section  string       `json:"section,omitempty" maxLength:"512"`
	ParentID string       `json:"parent_id,omitempty" maxLength:"512"`
	Step     *StepRequest `json:"step,omitempty"`
	Create   bool         `json:"create,omitempty" doc:"create the session if it does not exist"`
}

// StepRequest is a step of an execution: an answer of the model with the results of its tools.
type StepRequest struct {
	ExecutionRequest
	StepID         string            `json:"step_id,omitempty" maxLength:"512" doc:"step id"`
	Final          bool              `json:"final,omitempty"`
	ToolExecutions map[string]string `json:"tool_executions,omitempty" doc:"execution ids of tools, by tool call id"`
}

// ExecutionRequest names a run of an agent, from a user's instruction to the answer.
type ExecutionRequest struct {
	ExecutionID string `json:"execution_id,omitempty" maxLength:"512"`
	AgentID     string `json:"agent_id,omitempty" maxLength:"512" doc:"agent of the run"`
}

func (e ExecutionRequest) execution() session.Execution {
	return session.Execution{ID: e.ExecutionID, AgentID: e.AgentID}
}

// step converts the request; the zero value is no step.
func (r *StepRequest) step() session.Step {
	if r == nil {
		return session.Step{}
	}
	return session.Step{Execution: r.execution(), ID: r.StepID, Final: r.Final, ToolExecutions: r.ToolExecutions}
}

// check rejects an empty step, whose messages would belong to no step.
func (r *StepRequest) check() error {
	if r == nil || r.StepID != "" || r.ExecutionID != "" || r.AgentID != "" || r.Final {
		return nil
	}
	return ragctx.Invalid("step", "does not identify a step; send a step_id or an execution_id, set final, or "+
		"leave it out")
}

// Appended lists the appended messages.
type Appended struct {
	Messages []AppendedMessage `json:"messages" nullable:"false" doc:"stored messages in order"`
	Leaf     string            `json:"leaf" doc:"id of the last message, which the next message follows"`
	Losses   []FormLoss        `json:"losses" nullable:"false" doc:"content of the vendor's format that was not stored"`
}

// AppendedMessage is a stored message without its content.
type AppendedMessage struct {
	ID       string      `json:"id" doc:"as sent, or generated"`
	ParentID string      `json:"parent_id,omitempty" doc:"preceding message; absent for the first"`
	Role     ragctx.Role `json:"role" enum:"system,developer,user,assistant,tool" doc:"role of the speaker"`
}

// SessionMessage is a message with its section and label.
type SessionMessage struct {
	ragctx.Message

	Section string `json:"section"`
	Label   string `json:"label,omitempty"`
}

// Schema implements [huma.SchemaProvider].
func (SessionMessage) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[request.Message]()) // a new schema
	s.Properties["section"] = &huma.Schema{Type: huma.TypeString, Description: "section of the message"}
	s.Properties["label"] = &huma.Schema{Type: huma.TypeString, Description: "label; absent for none"}
	return s
}

// SessionMessages is a page of messages of a session.
type SessionMessages struct {
	Messages   []SessionMessage `json:"messages" nullable:"false" doc:"oldest first"`
	NextCursor string           `json:"next_cursor,omitempty" doc:"cursor of the page of earlier messages; absent on the last page"`
}

// sessionMessageCursor is the position before a message.
type sessionMessageCursor struct {
	Before string `json:"before"`
}

// MessageKey are the parameters that name a message of a session. It is exported because huma
// ignores unexported embedded types.
type MessageKey struct {
	SessionKey
	Message string `path:"message_id" doc:"message id, at most 512 bytes; send a slash in it as %2F" example:"m-1"`
}

// message returns the id of the message.
func (k MessageKey) message() (string, error) { return memberName("message_id", k.Message) }

// memberName unescapes the name of an entry in a route.
func memberName(field, routed string) (string, error) {
	name, err := url.PathUnescape(routed)
	if err != nil {
		return "", ragctx.Invalid(field, "cannot be read; percent-encode it")
	}
	return name, ragctx.ValidName(field, name)
}

type (
	appendInput struct {
		SessionKey
		SessionMatching

		Body AppendRequest
	}
	appendOutput struct {
		SessionMade

		Body Appended
	}
	sessionMessagesInput struct {
		SessionKey
		Section string `query:"section" maxLength:"512" doc:"only this section, on all branches; default is the branch up to leaf"`
		Leaf    string `query:"leaf" maxLength:"512" doc:"last message of another branch"`
		Page
	}
	sessionMessagesOutput struct{ Body SessionMessages }
	sessionMessageOutput  struct{ Body SessionMessage }
	labelOutput           struct {
		SessionMade

		Body SessionMessage
	}
	labelInput struct {
		MessageKey
		SessionMatching

		Body labelRequest
	}
	labelsOutput struct{ Body labelList }
)

// labelRequest labels a message.
type labelRequest struct {
	Label string `json:"label" maxLength:"512" doc:"the label; empty removes it" example:"before the refactoring"`
}

// Label is the label of a message.
type Label struct {
	MessageID string `json:"message_id" doc:"labelled message"`
	Label     string `json:"label" doc:"the label"`
}

// labelList holds the labels of a session.
type labelList struct {
	Labels []Label `json:"labels" nullable:"false" doc:"in order of message ids"`
}

func (s *Server) sessionMessageRoutes() {
	appending := sessionOp("append-session-messages", http.MethodPost, verbPath(sessionsRoot, "messages"),
		"Append messages to a session",
		"Each message follows the previous one, the first follows the leaf, and the last becomes the leaf. The "+
			"messages are durable when the server answers, all or none.")
	appending.DefaultStatus = http.StatusCreated
	register(s, appending, s.appendToSession)
	register(s, sessionOp("list-session-messages", http.MethodGet, verbPath(sessionsRoot, "messages"), "List the "+
		"messages of a session",
		"Lists the newest messages of the current branch or of a section in their original form, without "+
			"compactions. The next pages have earlier ones; a cursor names the branch, so leaf may be left out. For "+
			"the view of a model, see compile."), s.sessionMessages)
	register(s, sessionOp("get-session-message", http.MethodGet, memberPath("message"), "Get a message of a session",
		"Returns a message with its section and its label."), s.sessionMessage)
	register(s, sessionOp("label-session-message", http.MethodPut, memberPath("label"), "Label a message",
		"A message has at most one label; a new label replaces it, an empty one removes it."), s.labelMessage)
	register(s, sessionOp("list-session-labels", http.MethodGet, verbPath(sessionsRoot, "labels"), "List the "+
		"labels of a session", "Lists "+
		"the labelled messages."), s.sessionLabels)
}

func (s *Server) appendToSession(ctx context.Context, in *appendInput) (*appendOutput, error) {
	r, k := in.Body, in.kept()
	messages, losses, err := s.parseAppended(ctx, k, r.ParentID, r.Said)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, ragctx.Invalid("messages", "are none; send at least one")
	}
	if err := r.Step.check(); err != nil {
		return nil, err
	}
	if r.ParentID != "" {
		messages[0].ParentID = r.ParentID
	}
	assignIDs(messages, seedOf(ctx))
	stored, at, err := s.appendOnce(ctx, k, r, in.when(), messages)
	if err != nil {
		return nil, err
	}
	out := Appended{Losses: losses, Leaf: stored[len(stored)-1].ID}
	for _, m := range stored {
		out.Messages = append(out.Messages, AppendedMessage{m.ID, m.ParentID, m.Role})
	}
	return &appendOutput{sessionMade(at), out}, nil
}

// parseAppended parses messages to append after parent.
func (s *Server) parseAppended(ctx context.Context, k session.Key, parent string, said Said) ([]ragctx.Message,
	[]FormLoss, error,
) {
	if v, err := vendor(said.Format); err != nil || v != wire.Gemini {
		return s.parseMessages(said, "messages")
	}
	path, err := s.engine.Sessions().Views().Branch(ctx, k, parent) // tool results without ids refer to its calls
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		return nil, nil, err
	}
	return s.parseMessages(said, "messages", messagesOf(path)...)
}

// messagesOf returns the messages of entries.
func messagesOf(entries []session.Entry) []ragctx.Message {
	out := make([]ragctx.Message, len(entries))
	for i, e := range entries {
		out[i] = e.Message
	}
	return out
}

// assignIDs assigns deterministic ids to messages without one, so that a repeated request assigns the
// same.
func assignIDs(messages []ragctx.Message, seed string) {
	for i := range messages {
		if seed != "" && messages[i].ID == "" {
			messages[i].ID = fmt.Sprintf("%s-%d", seed, i)
		}
	}
}

// appendOnce appends messages. A repeated request finds the messages of its first attempt. Ids that
// belong to other messages are a conflict, as they are without an idempotency key.
func (s *Server) appendOnce(
	ctx context.Context, k session.Key, r AppendRequest, when session.Condition, messages []ragctx.Message,
) ([]ragctx.Message, session.Version, error) {
	o := view.AppendOptions{Section: cmp.Or(r.Section, session.SectionMessages), Step: r.Step.step(), When: when}
	stored, at, err := s.appendMaking(ctx, k, r.Create, o, messages)
	if !errors.Is(err, ragctx.ErrConflict) && !errors.Is(err, ragctx.ErrPrecondition) || seedOf(ctx) == "" {
		return stored, at, err
	}
	parent := ""
	for _, m := range messages {
		e, _, getErr := s.storedMessage(ctx, k, m.ID)
		if m.ParentID = cmp.Or(m.ParentID, parent); getErr != nil || e.Section != o.Section || !repeats(m, e.Message) {
			return nil, at, err
		}
		stored, parent = append(stored, e.Message), m.ID
	}
	return stored, session.Version{}, nil
}

// storedMessage returns a message of a session and its label.
func (s *Server) storedMessage(
	ctx context.Context, k session.Key, id string,
) (e session.Entry, label string, err error) {
	q := session.Query{Messages: session.OneMessage, ID: id, Labels: true}
	a, _, err := s.engine.Sessions().Storage().Read(ctx, k, q)
	if err != nil {
		return e, "", err
	}
	return a.Entries[0], a.Labels[id], nil
}

// repeats reports whether a sent message equals a stored one at its position, ignoring attributes
// that storing adds: the time, a default parent and the step.
func repeats(sent, stored ragctx.Message) bool {
	sent.CreatedAt, sent.ParentID = stored.CreatedAt, cmp.Or(sent.ParentID, stored.ParentID)
	a, errSent := session.EncodeMessage(session.Untag(sent))
	b, errStored := session.EncodeMessage(session.Untag(stored))
	return errSent == nil && errStored == nil && bytes.Equal(a, b)
}

// appendMaking appends messages. If the session is missing and may be created, it creates the
// session and retries, since most sessions exist.
func (s *Server) appendMaking(
	ctx context.Context, k session.Key, create bool, o view.AppendOptions, messages []ragctx.Message,
) ([]ragctx.Message, session.Version, error) {
	stored, at, err := s.engine.Sessions().Views().Append(ctx, k, o, messages...)
	if !create || !errors.Is(err, ragctx.ErrNotFound) {
		return stored, at, err
	}
	_, err = s.engine.Sessions().Storage().Create(ctx, k, session.Archive{}, "")
	if err != nil && !errors.Is(err, ragctx.ErrConflict) {
		return nil, at, err
	}
	return s.engine.Sessions().Views().Append(ctx, k, o, messages...)
}

func (s *Server) sessionMessages(ctx context.Context, in *sessionMessagesInput) (*sessionMessagesOutput, error) {
	found, err := s.selectEntries(ctx, in)
	if err != nil {
		return nil, err
	}
	a, _, err := s.engine.Sessions().Storage().Read(ctx, in.kept(), session.Query{Labels: true})
	if err != nil {
		return nil, err
	}
	page, more := newest(found, in.Limit)
	out := SessionMessages{Messages: make([]SessionMessage, len(page))}
	for i, e := range page {
		out.Messages[i] = SessionMessage{e.Message, e.Section, a.Labels[e.Message.ID]}
	}
	if more {
		out.NextCursor = encodeCursor(in.list, sessionMessageCursor{page[0].Message.ID})
	}
	return &sessionMessagesOutput{out}, nil
}

// selectEntries returns the selected messages; a page is the end of them.
func (s *Server) selectEntries(ctx context.Context, in *sessionMessagesInput) ([]session.Entry, error) {
	k := in.kept()
	c, err := decodeCursor[sessionMessageCursor](in.Cursor, in.list)
	switch {
	case err != nil:
		return nil, err
	case in.Section != "" && in.Leaf != "":
		return nil, ragctx.Invalid("leaf", "contradicts section, which covers all branches; send one of them")
	case in.Section != "":
		return sectionBefore(ctx, s.engine.Sessions().Storage(), k, in.Section, in.Limit, c.Before)
	case c.Before != "":
		branch, err := s.engine.Sessions().Views().BranchBefore(ctx, k, c.Before)
		return branch, noMessageIn(err, "cursor")
	}
	branch, err := s.engine.Sessions().Views().Branch(ctx, k, in.Leaf)
	return branch, noMessageIn(err, "leaf")
}

// noMessageIn converts a missing message into an error about the field that names it.
func noMessageIn(err error, field string) error {
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok && f.Field == "message_id" {
		return fieldNamed(err, field)
	}
	return err
}

// sectionBefore returns the messages of a section up to the end of a page: before a message, or the
// newest ones, one more than limit.
func sectionBefore(ctx context.Context, stored session.Storage, k session.Key, section string, limit int, before string,
) ([]session.Entry, error) {
	limit++ // one extra entry detects more
	if before != "" {
		limit = 0
	}
	q := session.Query{Messages: session.NewestMessages, Section: section, Limit: limit}
	a, _, err := stored.Read(ctx, k, q)
	if err != nil {
		return nil, err
	}
	if before != "" {
		at := slices.IndexFunc(a.Entries, func(e session.Entry) bool { return e.Message.ID == before })
		if at < 0 {
			return nil, ragctx.Invalid("cursor", "refers to the message %q, which the section no longer has; begin again "+
				"without a cursor", ragctx.Clip(before))
		}
		return a.Entries[:at], nil
	}
	return a.Entries, nil
}

// newest returns at most limit entries of at most the bytes of a page, apart from the last message,
// and whether there are more.
func newest(entries []session.Entry, limit int) (page []session.Entry, more bool) {
	size, from := 0, len(entries)
	for ; from > 0 && len(entries)-from < limit; from-- {
		b, _ := json.Marshal(entries[from-1].Message) // encoding errors are reported when the message is sent
		if size += len(b); size > maxPageBytes && from < len(entries) {
			break
		}
	}
	return entries[from:], from > 0
}

func (s *Server) sessionMessage(ctx context.Context, in *MessageKey) (*sessionMessageOutput, error) {
	id, err := in.message()
	if err != nil {
		return nil, err
	}
	out, err := s.oneMessage(ctx, in.kept(), id)
	return &sessionMessageOutput{out}, err
}

func (s *Server) oneMessage(ctx context.Context, k session.Key, id string) (SessionMessage, error) {
	e, label, err := s.storedMessage(ctx, k, id)
	return SessionMessage{e.Message, e.Section, label}, err
}

func (s *Server) labelMessage(ctx context.Context, in *labelInput) (*labelOutput, error) {
	id, err := in.message()
	if err != nil {
		return nil, err
	}
	u := session.Update{Labels: map[string]string{id: in.Body.Label}}
	at, err := s.engine.Sessions().Storage().Update(ctx, in.kept(), u, in.when())
	if err != nil {
		return nil, err
	}
	out, err := s.oneMessage(ctx, in.kept(), id)
	return &labelOutput{sessionMade(at), out}, err
}

func (s *Server) sessionLabels(ctx context.Context, in *SessionKey) (*labelsOutput, error) {
	a, _, err := s.engine.Sessions().Storage().Read(ctx, in.kept(), session.Query{Labels: true})
	out := labelList{Labels: []Label{}}
	for id, label := range a.Labels {
		out.Labels = append(out.Labels, Label{id, label})
	}
	slices.SortFunc(out.Labels, func(a, b Label) int { return cmp.Compare(a.MessageID, b.MessageID) })
	return &labelsOutput{out}, err
}

// AppendToSession appends messages to a session.
func (c *Client) AppendToSession(ctx context.Context, k session.Key, r AppendRequest) (out Appended, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+"/messages", ofKept(k), r, &out)
	return out, err
}

// SessionMessages returns the newest messages of a section, or if section is "" of the branch up to
// leaf. The cursor of a page leads to earlier messages.
func (c *Client) SessionMessages(ctx context.Context, k session.Key, section, leaf, cursor string,
	limit int,
) (out SessionMessages, err error) {
	q := ofKept(k)
	set(q, "section", section)
	set(q, "leaf", leaf)
	set(q, "cursor", cursor)
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	err = c.do(ctx, http.MethodGet, keptAt(k)+"/messages", q, nil, &out)
	return out, err
}

// SessionMessage returns a message of a session.
func (c *Client) SessionMessage(ctx context.Context, k session.Key, id string) (out SessionMessage, err error) {
	err = c.do(ctx, http.MethodGet, keptAt(k)+"/messages/"+escaped(id), ofKept(k), nil, &out)
	return out, err
}

// LabelMessage labels a message of a session; "" removes the label.
func (c *Client) LabelMessage(ctx context.Context, k session.Key, id, label string) (out SessionMessage, err error) {
	err = c.do(ctx, http.MethodPut, keptAt(k)+"/messages/"+escaped(id)+"/label", ofKept(k), labelRequest{label}, &out)
	return out, err
}

// SessionLabels returns the labels of a session.
func (c *Client) SessionLabels(ctx context.Context, k session.Key) ([]Label, error) {
	var out labelList
	err := c.do(ctx, http.MethodGet, keptAt(k)+"/labels", ofKept(k), nil, &out)
	return out.Labels, err
}
