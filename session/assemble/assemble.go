// Package assemble divides the tokens of one model call: among the system prompt, the
// definitions of tools, context, the conversation, and what the model is to answer. It is
// pure; who finds the context is asked in between, with what [Request.Plan] leaves it.
//
// What must be there comes first: the system prompt, the tools, the tokens of the answer,
// and the messages that stay whatever they cost (see [session.Truncate]). Of what is left
// context may take its share, and more if the whole conversation leaves more. The
// conversation gets the rest.
package assemble

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Phase says what the model is called for.
type Phase string

// The phases.
const (
	Loop      Phase = "loop"      // to go on, with tools; the default
	Synthesis Phase = "synthesis" // for the final answer, without tools, which then cost nothing
)

// Placement says where context goes.
type Placement string

// The placements.
const (
	Blocks  Placement = "blocks"  // the caller places it; the default
	Prepend Placement = "prepend" // after the system prompt
	// Inline is the stable block after the system prompt, and the other one before what the
	// user said last, in the same message: so all before it comes from a prompt's cache in
	// the next turn, and all of it in the calls of this one. Without words of a user it is
	// as Prepend.
	Inline Placement = "inline"
)

// Defaults and limits of a [Request].
const (
	DefaultWindow       = 200_000
	DefaultReserve      = 4096 // at most a quarter of the window
	DefaultContextShare = .5
	MaxMessages         = 10_000
	MaxTools            = 1000
)

// Budget divides the tokens of a call. What is zero has its default.
type Budget struct {
	// Window is how many tokens the model takes and gives; Reserve of them are for its answer, -1
	// is none.
	Window  int
	Reserve int
	// ContextShare is how much of what the system prompt, tools and reserve leave context
	// may take from a conversation that needs it, 0 to 1; -1 is nothing.
	ContextShare float64
}

func (b Budget) withDefaults() Budget {
	if b.Window == 0 {
		b.Window = DefaultWindow
	}
	switch b.Reserve {
	case 0:
		b.Reserve = min(DefaultReserve, b.Window/4)
	case -1:
		b.Reserve = 0
	}
	switch b.ContextShare {
	case 0:
		b.ContextShare = DefaultContextShare
	case -1:
		b.ContextShare = 0
	}
	return b
}

// Request asks for everything that a model call is made of.
type Request struct {
	SystemPrompt string
	// SystemBeside is JSON that the call has beside the text of the system prompt: other parts
	// of it, marks of a cache.
	SystemBeside []json.RawMessage
	Messages     []ragctx.Message
	// Costs are those of the first messages, where they are known; the others are counted.
	Costs []int
	// Context says what to look for. Without a query it is the newest instruction.
	Context   ragctx.ContextQuery
	Phase     Phase
	Placement Placement
	// Tools are definitions of tools, as the provider is sent them; ToolsTokens is what
	// they cost, where that is known.
	Tools       []json.RawMessage
	ToolsTokens int
	Budget      Budget
	// KeptTokens is what context costs that the caller keeps from an earlier call of the
	// same execution; nil has it looked for.
	KeptTokens *int
}

// Validate checks what [ragctx.ContextQuery.Validate] does not.
func (r Request) Validate() error {
	b := r.Budget.withDefaults()
	switch {
	case r.Phase != "" && r.Phase != Loop && r.Phase != Synthesis:
		return ragctx.Invalid("phase", "%q is unknown; use loop or synthesis", ragctx.Clip(string(r.Phase)))
	case r.Placement != "" && r.Placement != Blocks && r.Placement != Prepend && r.Placement != Inline:
		return ragctx.Invalid("placement", "%q is unknown; use blocks, prepend or inline", ragctx.Clip(string(r.Placement)))
	case len(r.Messages) > MaxMessages:
		return ragctx.Invalid("messages", "are %d; the limit is %d: leave out the oldest", len(r.Messages), MaxMessages)
	case len(r.Tools) > MaxTools:
		return ragctx.Invalid("tools", "are %d; the limit is %d", len(r.Tools), MaxTools)
	case b.Window < 1 || b.Window > ragctx.MaxTokensLimit:
		return ragctx.Invalid("budget.window", "is %d; use 1 to %d", b.Window, ragctx.MaxTokensLimit)
	case b.Reserve < 0 || b.Reserve >= b.Window:
		return ragctx.Invalid("budget.reserve_output", "is %d of %d tokens; leave some for what the model is sent", b.Reserve, b.Window)
	case !(b.ContextShare >= 0 && b.ContextShare <= 1):
		return ragctx.Invalid("budget.context_share", "is %v; use 0 to 1, or -1 for nothing", r.Budget.ContextShare)
	case r.ToolsTokens < 0 || r.ToolsTokens > ragctx.MaxTokensLimit:
		return ragctx.Invalid("tools_tokens", "is %d; use 0 to %d", r.ToolsTokens, ragctx.MaxTokensLimit)
	case r.KeptTokens != nil && (*r.KeptTokens < 0 || *r.KeptTokens > ragctx.MaxTokensLimit):
		return ragctx.Invalid("context_tokens", "is %d; use 0 to %d", *r.KeptTokens, ragctx.MaxTokensLimit)
	}
	return nil
}

// Plan is a request whose tokens are divided.
type Plan struct {
	// Query is what to look for, within what context may take; Ask is whether to. Note
	// says why not.
	Query ragctx.ContextQuery
	Ask   bool
	Note  string

	request Request
	scale   session.Scale
	costs   []int
	budget  Budget
	system  int // with beside
	beside  int
	tools   int
	context int // the most that context may cost with its frame, if it is looked for
}

// instructionRoom is kept for what a system prompt says of spotlighted blocks.
const instructionRoom = 160

// Plan divides the tokens of a valid request, all counted by c. That the system prompt and
// the tools leave nothing is an error.
func (r Request) Plan(c ragctx.Counter) (Plan, error) {
	p := r.divided(c)
	known := r.Costs[:min(len(r.Costs), len(r.Messages))]
	p.costs = append(slices.Clip(known), p.scale.Messages(r.Messages[len(known):])...)
	room := p.room(p.system)
	if room <= 0 {
		return p, ragctx.Invalid("budget.window", "is %d, of which %d are reserved; the system prompt takes %d and the tools %d: raise it, or send less",
			p.budget.Window, p.budget.Reserve, p.system, p.tools)
	}
	p.ask(room)
	return p, nil
}

// Fixed returns the tokens of the model's window but those of its answer and those that
// context may take from a conversation, and how many of them are for what is not in messages:
// the system prompt and the tools. So a conversation that is compacted within that window is
// not cut for the context's sake.
func (r Request) Fixed(c ragctx.Counter) (window, fixed int) {
	p := r.divided(c)
	room := p.room(p.system)
	q := r.Context.WithDefaults()
	context := min(q.MaxTokens+frame(q), int(float64(room)*p.budget.ContextShare))
	return p.budget.Window - p.budget.Reserve - max(context, 0), p.system + p.tools
}

// divided returns a plan with what does not depend on messages.
func (r Request) divided(c ragctx.Counter) Plan {
	p := Plan{request: r, scale: session.Scale{Counter: c}, budget: r.Budget.withDefaults()}
	if p.system = c.Count(r.SystemPrompt); p.system > 0 {
		p.system += session.MessageOverhead
	}
	for _, raw := range r.SystemBeside {
		p.beside += p.scale.JSON(raw)
	}
	p.system += p.beside
	if p.tools = r.ToolsTokens; p.tools == 0 {
		p.tools = p.scale.Tools(r.Tools)
	}
	if r.Phase == Synthesis {
		p.tools = 0
	}
	return p
}

// room returns what is left for messages and context beside a system prompt.
func (p *Plan) room(system int) int { return p.budget.Window - p.budget.Reserve - p.tools - system }

// ask decides what is looked for, and how much of it there may be. The stable block's
// share depends on nothing that changes from turn to turn.
func (p *Plan) ask(room int) {
	q := p.request.Context.WithDefaults()
	q.Blocks, q.Messages = true, talk(p.request.Messages)
	if strings.TrimSpace(q.Query) == "" {
		q.Query = question(p.request.Messages)
	}
	share := int(float64(room) * p.budget.ContextShare)
	if q.StableTokens == 0 {
		most := q.WithMaxTokens(min(q.MaxTokens, max(share, 1)))
		q.StableTokens = max(most.StableBudget(), 1)
	}
	limits := session.Limits{Scale: p.scale, Costs: p.costs}
	least, whole := session.Truncate(p.request.Messages, limits).Tokens, session.Sound(p.request.Messages, limits).Tokens
	beside := frame(q)
	q.MaxTokens = min(q.MaxTokens, max(share, room-whole)-beside, room-least-beside)
	switch {
	case p.request.KeptTokens != nil:
	case q.Query == "":
		p.Note = "there is neither a query nor a message of a user: no context was looked for"
	case q.MaxTokens < 1:
		p.Note = "what must be sent leaves no room for context"
	default:
		p.Query, p.Ask, p.context = q, true, q.MaxTokens+beside
	}
}

// frame returns what context costs beside its own tokens.
func frame(q ragctx.ContextQuery) int {
	n := 2 * session.MessageOverhead
	if q.Spotlight {
		n += instructionRoom
	}
	return n
}

// question returns what the user asked last, as far as it can be searched for.
func question(messages []ragctx.Message) string {
	i := session.LastInstruction(messages)
	if i < 0 {
		return ""
	}
	s := strings.ReplaceAll(messages[i].Content.String(), "\x00", " ")
	return strings.ToValidUTF8(s[:min(len(s), ragctx.MaxQueryBytes)], "")
}

// talk returns the newest messages that a question may lean on: up to what the user said
// last, so that what tools say after it does not change what is found for it.
func talk(messages []ragctx.Message) []ragctx.Message {
	const most = 100
	if i := session.LastInstruction(messages); i >= 0 {
		messages = messages[:i+1]
	}
	return messages[max(0, len(messages)-most):]
}

// Part is context that was found.
type Part struct {
	Text   string
	Tokens int
	// Instruction is what a model has to be told of it.
	Instruction string
}

// whole returns the text behind what is said of it.
func (p Part) whole() string { return paragraphs(p.Instruction, p.Text) }

// paragraphs joins texts with a blank line; those that are empty are left out.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// Report says where the tokens went.
type Report struct {
	Window   int `json:"window" doc:"how many tokens the model takes and gives"`
	Reserved int `json:"reserved" doc:"for what the model answers"`
	System   int `json:"system" doc:"the system prompt with what it says of the blocks, and separators; not the blocks"`
	Tools    int `json:"tools" doc:"definitions of tools; none at synthesis"`
	Stable   int `json:"stable"`
	Volatile int `json:"volatile" doc:"what answers the query, or was kept by the caller"`
	Messages int `json:"messages"`
	Used     int `json:"used" doc:"all of these but what is reserved"`
	Over     int `json:"over" doc:"by how many tokens used and reserved exceed the window; only messages that must stay do that"`
}

// Result is what a model is to be sent.
type Result struct {
	// SystemPrompt is as it was sent, or with context after it.
	SystemPrompt string
	View         session.View
	// Carrier is the message of the view that context was put into, -1 if none was.
	Carrier int
	Budget  Report
	Note    string
}

// Compose puts a call together of the context that was found.
func (p *Plan) Compose(stable, volatile Part) Result {
	res := Result{Carrier: -1, Note: p.Note}
	r := Report{Window: p.budget.Window, Reserved: p.budget.Reserve, Tools: p.tools, Stable: stable.Tokens, Volatile: volatile.Tokens}
	if p.request.KeptTokens != nil {
		r.Volatile = *p.request.KeptTokens
	}
	res.SystemPrompt, r.System = p.prompt(stable, volatile)
	fixed := r.System + r.Stable + r.Volatile
	// What context leaves of its part stays free: a budget that is another one in every turn
	// would cut the conversation elsewhere in every turn.
	res.View = p.view(min(p.room(fixed), p.room(p.system+p.context)))
	if p.request.Placement == Inline && volatile.Text != "" {
		res.Carrier = session.LastInstruction(res.View.Messages)
		carry(res.View.Messages, res.Carrier, volatile.whole())
	}
	r.Messages = res.View.Tokens
	r.Used = r.Tools + fixed + r.Messages
	r.Over = max(r.Used+r.Reserved-r.Window, 0)
	if n := shortened(res.View); n > 0 {
		res.note(fmt.Sprintf("the newest tool calls and results do not fit whole: %d messages are shown shorter", n))
	}
	if r.Over > 0 {
		res.note("the newest instruction, pending tool calls, the newest exchange in its smallest form and system messages alone exceed the budget")
	}
	res.Budget = r
	return res
}

// note adds what is missing to the result's note.
func (r *Result) note(what string) { r.Note = strings.TrimPrefix(r.Note+"; "+what, "; ") }

// shortened returns how many messages of a view are cut to what fits.
func shortened(v session.View) (n int) {
	for _, c := range v.Dropped {
		if c.Partial && c.Reason == session.ReasonBudget {
			n++
		}
	}
	return n
}

// Shown returns the messages that the call has when context takes its part. A system prompt
// that context makes longer than the sum of both can leave a few tokens less.
func (p *Plan) Shown() []ragctx.Message { return p.view(p.room(p.system + p.context)).Messages }

// view returns what fits of the messages.
func (p *Plan) view(room int) session.View {
	return session.Truncate(p.request.Messages, session.Limits{Tokens: room, Scale: p.scale, Costs: p.costs, Steady: true})
}

// prompt returns the system prompt with the context that goes there, and what it costs
// without that, together with the frames of what goes elsewhere.
func (p *Plan) prompt(stable, volatile Part) (text string, tokens int) {
	text, tokens = p.request.SystemPrompt, p.system
	inside := 0
	for i, part := range []Part{stable, volatile} {
		switch {
		case part.Text == "":
		case p.request.Placement == Prepend, p.request.Placement == Inline && (i == 0 || session.LastInstruction(p.request.Messages) < 0):
			text = paragraphs(text, part.whole())
			inside += part.Tokens
			// Text that is joined has other tokens than its parts.
			tokens = p.beside + session.MessageOverhead + p.scale.Counter.Count(text) - inside
		default:
			tokens += session.MessageOverhead + p.scale.Counter.Count(part.Instruction)
		}
	}
	return text, tokens
}

// carry puts a text before the words of a message, and does nothing for -1.
func carry(messages []ragctx.Message, at int, text string) {
	if at < 0 {
		return
	}
	m := &messages[at]
	words := slices.IndexFunc(m.Content, func(b ragctx.Block) bool { return b.Type == ragctx.BlockText })
	m.Content = slices.Insert(slices.Clone(m.Content), words, ragctx.Block{Type: ragctx.BlockText, Text: text})
}
