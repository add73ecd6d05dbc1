// Package assemble divides the tokens of a model call among the system prompt, tool definitions,
// retrieved context, the conversation, and the model's answer. It has no side effects: the caller
// retrieves context between [Request.Plan] and [Plan.Compose], within the tokens of the plan.
//
// Required parts come first: the system prompt, the tools, the tokens of the answer, and the
// essential messages (see [session.Truncate]). Context may take its share of the rest, and more if
// the whole conversation needs less. The conversation gets the remaining tokens.
package assemble

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Placement is the place of context in the call.
type Placement string

// Placements.
const (
	Blocks  Placement = "blocks"  // the caller places it; the default
	Prepend Placement = "prepend" // after the system prompt
	// Inline puts the stable block after the system prompt, and the volatile block before the
	// newest user text in the same message. In the next turn everything before that message is a
	// cache hit, and in further calls of this turn the volatile block as well. Without a user text
	// it is the same as Prepend.
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

// Budget divides the tokens of a call. Zero fields have defaults.
type Budget struct {
	// Window is the model's context window including its answer. Reserve is the part for the
	// answer; -1 means none.
	Window  int
	Reserve int
	// ContextShare is the share of the tokens left by system prompt, tools and reserve that context
	// may take from a conversation that needs them, 0 to 1; -1 means nothing.
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

// Request describes a model call.
type Request struct {
	SystemPrompt string
	// SystemExtra is JSON of the system prompt in addition to its text: other parts, cache marks.
	SystemExtra []json.RawMessage
	Messages    []ragctx.Message
	// Costs are the known costs of the first messages; the others are counted.
	Costs []int
	// Context is the query for context. An empty query stands for the newest instruction.
	Context   ragctx.ContextQuery
	Phase     session.Phase
	Placement Placement
	// Tools are tool definitions in the provider's format. ToolsTokens is their cost, if known.
	Tools       []json.RawMessage
	ToolsTokens int
	Budget      Budget
	// ContextTokens is the cost of context that the caller kept from an earlier call of the same
	// execution; nil means that context is retrieved.
	ContextTokens *int
}

// Validate checks the fields that [ragctx.ContextQuery.Validate] does not check.
func (r Request) Validate() error {
	if err := r.Phase.Validate(); err != nil {
		return err
	}
	b := r.Budget.withDefaults()
	switch {
	case r.Placement != "" && r.Placement != Blocks && r.Placement != Prepend && r.Placement != Inline:
		return ragctx.Invalid("placement", "%q is unknown; use blocks, prepend or inline", ragctx.Clip(string(r.Placement)))
	case len(r.Messages) > MaxMessages:
		return ragctx.Invalid("messages", "are %d; the limit is %d: leave out the oldest", len(r.Messages), MaxMessages)
	case len(r.Tools) > MaxTools:
		return ragctx.Invalid("tools", "are %d; the limit is %d", len(r.Tools), MaxTools)
	case b.Window < 1 || b.Window > ragctx.MaxTokensLimit:
		return ragctx.Invalid("budget.window", "is %d; use 1 to %d", b.Window, ragctx.MaxTokensLimit)
	case b.Reserve < 0 || b.Reserve >= b.Window:
		return ragctx.Invalid("budget.reserve_output", "is %d of %d tokens; leave some for the input of the model", b.Reserve, b.Window)
	case !(b.ContextShare >= 0 && b.ContextShare <= 1):
		return ragctx.Invalid("budget.context_share", "is %v; use 0 to 1, or -1 for nothing", r.Budget.ContextShare)
	case r.ToolsTokens < 0 || r.ToolsTokens > ragctx.MaxTokensLimit:
		return ragctx.Invalid("tools_tokens", "is %d; use 0 to %d", r.ToolsTokens, ragctx.MaxTokensLimit)
	case r.ContextTokens != nil && (*r.ContextTokens < 0 || *r.ContextTokens > ragctx.MaxTokensLimit):
		return ragctx.Invalid("context_tokens", "is %d; use 0 to %d", *r.ContextTokens, ragctx.MaxTokensLimit)
	}
	return nil
}

// Plan is a request with divided tokens.
type Plan struct {
	// Query is the context query within the plan's limits, and Retrieve whether to run it. Note
	// says why not.
	Query    ragctx.ContextQuery
	Retrieve bool
	Note     string

	request Request
	scale   session.Scale
	costs   []int
	budget  Budget
	system  int // including extra
	extra   int
	tools   int
	context int // the maximum cost of retrieved context with its overhead
}

// instructionTokens is reserved for the system prompt's instruction about spotlighted blocks.
const instructionTokens = 160

// Plan divides the tokens of a valid request, counted by c. It returns an error if the system
// prompt and the tools leave no tokens.
func (r Request) Plan(c ragctx.Counter) (Plan, error) {
	p := r.newPlan(c)
	known := r.Costs[:min(len(r.Costs), len(r.Messages))]
	p.costs = append(slices.Clip(known), p.scale.Messages(r.Messages[len(known):])...)
	room := p.available(p.system)
	if room <= 0 {
		return p, ragctx.Invalid("budget.window",
			"is %d, of which %d are reserved; the system prompt takes %d and the tools %d: raise it, or send less",
			p.budget.Window, p.budget.Reserve, p.system, p.tools)
	}
	p.planContext(room)
	return p, nil
}

// Fixed returns the window without the tokens for the answer and for context, and the part of it
// that the system prompt and the tools take. A conversation compacted to that window needs no
// truncation to make room for context.
func (r Request) Fixed(c ragctx.Counter) (window, fixed int) {
	p := r.newPlan(c)
	room := p.available(p.system)
	q := r.Context.WithDefaults()
	context := min(q.MaxTokens+contextOverhead(q), int(float64(room)*p.budget.ContextShare))
	return p.budget.Window - p.budget.Reserve - max(context, 0), p.system + p.tools
}

// newPlan returns a plan with the parts that do not depend on messages.
func (r Request) newPlan(c ragctx.Counter) Plan {
	p := Plan{request: r, scale: session.Scale{Counter: c}, budget: r.Budget.withDefaults()}
	if p.system = c.Count(r.SystemPrompt); p.system > 0 {
		p.system += session.MessageOverhead
	}
	for _, raw := range r.SystemExtra {
		p.extra += p.scale.JSON(raw)
	}
	p.system += p.extra
	if p.tools = r.ToolsTokens; p.tools == 0 {
		p.tools = p.scale.Tools(r.Tools)
	}
	if r.Phase == session.PhaseSynthesis {
		p.tools = 0
	}
	return p
}

// available returns the tokens for messages and context with a system prompt of the given cost.
func (p *Plan) available(system int) int {
	return p.budget.Window - p.budget.Reserve - p.tools - system
}

// planContext decides whether context is retrieved, and its limits. The share of the stable block
// does not vary from turn to turn.
func (p *Plan) planContext(room int) {
	q := p.request.Context.WithDefaults()
	q.Blocks, q.Messages = true, dialogue(p.request.Messages)
	if strings.TrimSpace(q.Query) == "" {
		q.Query = newestQuestion(p.request.Messages)
	}
	share := int(float64(room) * p.budget.ContextShare)
	if q.StableTokens == 0 {
		most := q.WithMaxTokens(min(q.MaxTokens, max(share, 1)))
		q.StableTokens = max(most.StableBudget(), 1)
	}
	limits := session.Limits{Scale: p.scale, Costs: p.costs}
	least, whole := session.Truncate(p.request.Messages, limits).Tokens, session.Sound(p.request.Messages, limits).Tokens
	beside := contextOverhead(q)
	q.MaxTokens = min(q.MaxTokens, max(share, room-whole)-beside, room-least-beside)
	switch {
	case p.request.ContextTokens != nil:
	case q.Query == "":
		p.Note = "there is neither a query nor a message of a user: no context was retrieved"
	case q.MaxTokens < 1:
		p.Note = "the required parts leave no room for context"
	default:
		p.Query, p.Retrieve, p.context = q, true, q.MaxTokens+beside
	}
}

// contextOverhead returns the cost of context beyond its own tokens.
func contextOverhead(q ragctx.ContextQuery) int {
	n := 2 * session.MessageOverhead
	if q.Spotlight {
		n += instructionTokens
	}
	return n
}

// newestQuestion returns the newest instruction as a query.
func newestQuestion(messages []ragctx.Message) string {
	i := session.LastInstruction(messages)
	if i < 0 {
		return ""
	}
	s := strings.ReplaceAll(messages[i].Content.String(), "\x00", " ")
	return strings.ToValidUTF8(s[:min(len(s), ragctx.MaxQueryBytes)], "")
}

// dialogue returns the newest messages that a question may refer to. It ends with the newest
// instruction, so that later tool results do not change the context.
func dialogue(messages []ragctx.Message) []ragctx.Message {
	const most = 100
	if i := session.LastInstruction(messages); i >= 0 {
		messages = messages[:i+1]
	}
	return messages[max(0, len(messages)-most):]
}

// Part is a retrieved block of context.
type Part struct {
	Text   string
	Tokens int
	// Instruction explains the block to the model.
	Instruction string
}

// whole returns the text preceded by its instruction.
func (p Part) whole() string { return paragraphs(p.Instruction, p.Text) }

// paragraphs joins the non-empty texts with blank lines.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// Report describes how the tokens are used.
type Report struct {
	Window   int `json:"window" doc:"how many tokens the model takes and gives"`
	Reserved int `json:"reserved" doc:"tokens reserved for the answer of the model"`
	System   int `json:"system" doc:"the system prompt with the instructions about blocks, and separators; not the blocks"`
	Tools    int `json:"tools" doc:"definitions of tools; none at synthesis"`
	Stable   int `json:"stable"`
	Volatile int `json:"volatile" doc:"items that answer the query, or that the caller kept"`
	Messages int `json:"messages"`
	Used     int `json:"used" doc:"sum of all of these except the reserved tokens"`
	Over     int `json:"over" doc:"by how many tokens used and reserved exceed the window; only messages that must stay do that"`
}

// Result is the content of a model call.
type Result struct {
	// SystemPrompt is the given one, or the given one followed by context.
	SystemPrompt string
	View         session.View
	// Carrier is the index of the message in the view that contains context, or -1.
	Carrier int
	Budget  Report
	Note    string
}

// Compose builds the call from the retrieved context.
func (p *Plan) Compose(stable, volatile Part) Result {
	res := Result{Carrier: -1, Note: p.Note}
	r := Report{Window: p.budget.Window, Reserved: p.budget.Reserve, Tools: p.tools, Stable: stable.Tokens, Volatile: volatile.Tokens}
	if p.request.ContextTokens != nil {
		r.Volatile = *p.request.ContextTokens
	}
	res.SystemPrompt, r.System = p.prompt(stable, volatile)
	fixed := r.System + r.Stable + r.Volatile
	// Tokens that context does not use stay free: a budget that changes in every turn would move
	// the cut of the conversation in every turn.
	res.View = p.truncate(min(p.available(fixed), p.available(p.system+p.context)))
	if p.request.Placement == Inline && volatile.Text != "" {
		res.Carrier = session.LastInstruction(res.View.Messages)
		insertText(res.View.Messages, res.Carrier, volatile.whole())
	}
	r.Messages = res.View.Tokens
	r.Used = r.Tools + fixed + r.Messages
	r.Over = max(r.Used+r.Reserved-r.Window, 0)
	if n := countShortened(res.View); n > 0 {
		res.addNote(fmt.Sprintf("the newest tool calls and results do not fit: %d messages are shortened", n))
	}
	if r.Over > 0 {
		res.addNote("the newest instruction, pending tool calls, the newest exchange in its smallest form " +
			"and system messages alone exceed the budget")
	}
	res.Budget = r
	return res
}

// addNote appends to the result's note.
func (r *Result) addNote(what string) { r.Note = strings.TrimPrefix(r.Note+"; "+what, "; ") }

// countShortened returns the number of shortened messages in a view.
func countShortened(v session.View) (n int) {
	for _, c := range v.Dropped {
		if c.Partial && c.Reason == session.ReasonBudget {
			n++
		}
	}
	return n
}

// Preview returns the messages of the call if context takes its full part. If context makes the
// system prompt longer than the sum of both, the call can have a few tokens less.
func (p *Plan) Preview() []ragctx.Message {
	return p.truncate(p.available(p.system + p.context)).Messages
}

// truncate returns the messages that fit.
func (p *Plan) truncate(room int) session.View {
	return session.Truncate(p.request.Messages, session.Limits{Tokens: room, Scale: p.scale, Costs: p.costs, Steady: true})
}

// prompt returns the system prompt with the context that belongs there, and its cost without that
// context but with the overhead of blocks placed elsewhere.
func (p *Plan) prompt(stable, volatile Part) (text string, tokens int) {
	text, tokens = p.request.SystemPrompt, p.system
	inside := 0
	for i, part := range []Part{stable, volatile} {
		switch {
		case part.Text == "":
		case p.request.Placement == Prepend, p.request.Placement == Inline && (i == 0 || session.LastInstruction(p.request.Messages) < 0):
			text = paragraphs(text, part.whole())
			inside += part.Tokens
			// Joined text has other tokens than its parts.
			tokens = p.extra + session.MessageOverhead + p.scale.Counter.Count(text) - inside
		default:
			tokens += session.MessageOverhead + p.scale.Counter.Count(part.Instruction)
		}
	}
	return text, tokens
}

// insertText inserts a text before the first text of a message. It does nothing for -1.
func insertText(messages []ragctx.Message, at int, text string) {
	if at < 0 {
		return
	}
	m := &messages[at]
	words := slices.IndexFunc(m.Content, func(b ragctx.Block) bool { return b.Type == ragctx.BlockText })
	m.Content = slices.Insert(slices.Clone(m.Content), words, ragctx.Block{Type: ragctx.BlockText, Text: text})
}
