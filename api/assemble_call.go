package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/assemble"
	"github.com/ragctx/ragctx/session/wire"
)

// AssembleCall is a parsed request with the details of its original format that the answer needs.
type AssembleCall struct {
	Request assemble.Request

	vendor wire.Vendor       // "" is ragctx's own format
	sent   []json.RawMessage // original messages in ragctx's format; if nil, they are encoded again
	heads  []ragctx.Message  // the vendor's messages that hold the system prompt
	skip   int               // number of the request's messages that hold the system prompt
	stored int               // number of session messages before those of the request
	marks  bool              // write cache breakpoints
	losses []FormLoss
}

// Call parses a request.
func (r AssembleRequest) Call() (AssembleCall, error) {
	v, err := vendor(r.Format)
	if err != nil {
		return AssembleCall{}, err
	}
	if v != "" {
		messages, losses, err := wire.Read(v, wire.Conversation{System: r.System, Messages: r.Messages})
		if err != nil {
			return AssembleCall{}, ragctx.Invalid("messages", "cannot be read in the format of %s: %v; send what "+
				"its documentation says, or name another format", v, err)
		}
		return r.call(messages, lossesOf(losses))
	}
	messages := make([]ragctx.Message, len(r.Messages))
	for i, raw := range r.Messages {
		messages[i].Role = ragctx.RoleUser
		if err := json.Unmarshal(raw, &messages[i]); err != nil {
			return AssembleCall{}, ragctx.Invalid(fmt.Sprintf("messages[%d]", i), "cannot be read: %v", err)
		}
	}
	return r.call(messages, nil)
}

// call returns the call of a request with parsed messages.
func (r AssembleRequest) call(messages []ragctx.Message, losses []FormLoss) (AssembleCall, error) {
	c, err := r.AssembleOptions.call(r.Said, messages, losses)
	c.Request.Context.Namespace, c.Request.Context.UserID, c.Request.Context.SessionID = r.Namespace, r.UserID, r.SessionID
	c.Request.ContextTokens = r.ContextTokens
	if c.vendor == "" {
		c.sent = r.Messages
	}
	return c, err
}

// call returns the call of a parsed conversation.
func (o AssembleOptions) call(said Said, messages []ragctx.Message, losses []FormLoss) (AssembleCall, error) {
	q, err := contextRequest(o.Context).query()
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		f.Field = "context." + f.Field
	}
	if err != nil {
		return AssembleCall{}, err
	}
	q.Query, q.AgentID = o.Query, o.AgentID
	c := AssembleCall{losses: losses, marks: o.CacheControl == nil || *o.CacheControl}
	if c.vendor, err = vendor(said.Format); err != nil {
		return AssembleCall{}, err
	}
	c.Request = assemble.Request{
		SystemPrompt: o.SystemPrompt, Messages: messages, Context: q, Phase: session.Phase(o.Phase),
		Placement: assemble.Placement(o.Placement),
		Tools:     o.Tools, ToolsTokens: o.ToolsTokens,
		Budget: assemble.Budget{
			Window: o.Budget.Window, Reserve: o.Budget.ReserveOutput,
			ContextShare: o.Budget.ContextShare,
		},
	}
	if c.vendor == wire.Anthropic && c.marks {
		c.Request.SystemExtra = slices.Repeat([]json.RawMessage{wire.CacheMark}, wire.MaxCacheMarks)
	}
	if c.vendor != "" {
		c.takePrompt(len(said.System) > 0)
		if c.Request.Placement == "" {
			c.Request.Placement = assemble.Inline
		}
	}
	return c, nil
}

// takePrompt takes the system prompt from the vendor's place. If the request has another one, the
// vendor's prompt stays a message. separate says that the first message is not part of the list.
func (c *AssembleCall) takePrompt(separate bool) {
	list := c.Request.Messages
	n := slices.IndexFunc(list, func(m ragctx.Message) bool { return !session.IsSystem(m) })
	if n < 0 {
		n = len(list)
	}
	if separate {
		c.skip = -1
	}
	if n == 0 || c.Request.SystemPrompt != "" {
		return
	}
	c.heads, c.skip = list[:n:n], c.skip+n
	c.Request.SystemPrompt, c.Request.Messages = said(c.heads), list[n:]
	for i, m := range c.heads {
		if i > 0 {
			c.Request.SystemExtra = append(c.Request.SystemExtra, json.RawMessage(`{"role":"system"}`))
		}
		c.Request.SystemExtra = append(c.Request.SystemExtra, wire.VendorFields(m)...)
		for _, b := range m.Content {
			if b.Text = ""; !b.IsPlain() {
				raw, _ := json.Marshal(b) // b was JSON before
				c.Request.SystemExtra = append(c.Request.SystemExtra, raw)
			}
		}
	}
}

// said returns the text of a system prompt that spans several messages.
func said(heads []ragctx.Message) string {
	texts := make([]string, len(heads))
	for i, m := range heads {
		texts[i] = m.Content.String()
	}
	return strings.Join(texts, "\n\n")
}

// Answer returns the model input.
func (c AssembleCall) Answer(a engine.Assembled) (AssembleAnswer, error) {
	out, err := c.answer(a)
	out.drop(out.Dropped)
	return out, err
}

// answer is Answer with all omitted messages.
func (c AssembleCall) answer(a engine.Assembled) (AssembleAnswer, error) {
	out := AssembleAnswer{
		Format: ownForm, Blocks: []AssembledBlock{}, Items: a.Context.Items, Budget: a.Budget,
		Dropped: []DroppedMessage{}, Note: a.Note,
	}
	if out.Items == nil {
		out.Items = []ragctx.ContextItem{}
	}
	for _, b := range a.Context.Blocks {
		out.Blocks = append(out.Blocks, AssembledBlock{b, places[b.Name]})
	}
	for _, cut := range a.View.Dropped {
		m, index := a.Messages[cut.Index], c.index(cut.Index)
		out.Dropped = append(out.Dropped, DroppedMessage{&index, m.ID, m.Role, cut.Partial, cut.Tokens, cut.Reason})
	}
	if len(a.Context.Blocks) > 0 {
		out.Context = &AssembledContext{
			Query: a.Query, Truncated: a.Context.Truncated, Providers: a.Context.Providers, Dropped: a.Context.Dropped,
			Shortened: a.Context.Shortened, Degraded: a.Context.Degraded, Note: a.Context.Note,
		}
	}
	if c.vendor != "" {
		return out, c.write(&out, a)
	}
	var err error
	out.SystemPrompt = a.SystemPrompt
	out.Messages, err = c.own(a)
	return out, err
}

// write adds the system prompt and the messages to an answer, in the vendor's format.
func (c AssembleCall) write(out *AssembleAnswer, a engine.Assembled) error {
	heads := c.prompt(a.SystemPrompt)
	said, losses, err := wire.Write(c.vendor, slices.Concat(heads, a.View.Messages))
	if err != nil {
		return err
	}
	if c.vendor == wire.Anthropic {
		said = wire.WithCacheMarks(said, c.marks, c.Request.Tools)
	}
	out.Format, out.System, out.Messages = string(c.vendor), said.System, said.Messages
	if out.Messages == nil {
		out.Messages = []json.RawMessage{}
	}
	for _, l := range losses {
		if l.Index = max(l.Index-len(heads), -1); l.Index >= 0 {
			l.Index = c.index(a.View.Indexes[l.Index])
		}
		c.losses = append(c.losses, FormLoss(l))
	}
	out.Losses = c.losses
	return nil
}

// index returns a message's position in the request; for a session's message, its position after
// the stages.
func (c AssembleCall) index(at int) int {
	if at < c.stored {
		return at
	}
	return at - c.stored + c.skip
}

// prompt returns the messages that hold the system prompt, unmodified if nothing was appended. An
// appended text joins the last text, or becomes a part of its own after other parts.
func (c AssembleCall) prompt(text string) []ragctx.Message {
	before := said(c.heads)
	more, follows := strings.CutPrefix(text, before)
	switch {
	case len(c.heads) == 0 && text == "":
		return nil
	case len(c.heads) == 0 || !follows:
		return []ragctx.Message{ragctx.TextMessage(ragctx.RoleSystem, text)}
	case more == "":
		return c.heads
	}
	heads := slices.Clone(c.heads)
	last := &heads[len(heads)-1]
	if len(last.Content) == 1 && last.Content[0].IsPlain() {
		last.Content = ragctx.Text(last.Content[0].Text + more)
	} else {
		last.Content = append(slices.Clip(last.Content), ragctx.Block{
			Type: ragctx.BlockText,
			Text: strings.TrimPrefix(more, "\n\n"),
		})
	}
	return heads
}

// own returns the messages of a view in ragctx's format; complete messages keep their original
// encoding.
func (c AssembleCall) own(a engine.Assembled) ([]json.RawMessage, error) {
	changed := map[int]bool{}
	for _, cut := range a.View.Dropped {
		changed[cut.Index] = true
	}
	out := make([]json.RawMessage, len(a.View.Messages))
	for i, m := range a.View.Messages {
		if at := a.View.Indexes[i]; c.sent != nil && !changed[at] && i != a.Carrier {
			out[i] = c.sent[at]
			continue
		}
		var raw bytes.Buffer
		enc := json.NewEncoder(&raw)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m); err != nil {
			return nil, fmt.Errorf("message %d: %w", a.View.Indexes[i], err)
		}
		out[i] = bytes.TrimSpace(raw.Bytes())
	}
	return out, nil
}
