package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// AskOptions says how a model is asked for what a turn says that is worth
// remembering. The zero value works.
type AskOptions struct {
	// MaxItems is how many items of an answer are taken; 0 is 5. It is brought to 1
	// to 10.
	MaxItems int
	// MaxChars is about how much of a turn is shown, in Unicode code points; 0 is
	// 24,000, and the least is 1,000. What is too long is shortened: tool traffic
	// first, then what the assistant said, then the oldest messages go.
	MaxChars int
	// MaxTokens bounds the answer; 0 is enough for MaxItems. A model that thinks
	// before it answers needs more.
	MaxTokens int
	// Clean removes from a text what its speaker did not say, such as context that an
	// engine put there; nil removes nothing. What goes is neither shown to the model
	// nor evidence for what it says.
	Clean func(string) string

	Now func() time.Time // the clock, for turns without a time; nil is the system's
}

// MaxRelated is how many memories a model is shown beside a turn.
const MaxRelated = 5

const (
	defaultItems, mostItems     = 5, 10
	defaultChars, leastChars    = 24_000, 1000
	tokensPerItem, tokensBeside = 512, 256
)

func (o AskOptions) withDefaults() AskOptions {
	o.MaxItems = min(max(cmp.Or(o.MaxItems, defaultItems), 1), mostItems)
	o.MaxChars = max(cmp.Or(o.MaxChars, defaultChars), leastChars)
	o.MaxTokens = cmp.Or(max(o.MaxTokens, 0), o.MaxItems*tokensPerItem+tokensBeside)
	if o.Clean == nil {
		o.Clean = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Asker asks a language model what a turn says that is worth remembering, and
// believes little of the answer: each item must pass gates, and its words must be
// those of the turn. It is safe for concurrent use.
type Asker struct {
	model  llm.Generator
	redact func(string) (string, bool)
	opts   AskOptions
}

// NewAsker returns an asker. redact takes secrets out of a text and reports whether
// there were any; nothing is shown to the model that it has not seen, and no item
// is taken in which it finds any.
func NewAsker(model llm.Generator, redact func(string) (string, bool), o AskOptions) (*Asker, error) {
	switch {
	case model == nil:
		return nil, ragctx.Invalid("model", "is missing; without a model, extract by rules")
	case redact == nil:
		return nil, ragctx.Invalid("redact", "is missing; secrets in turns must not be sent to a service")
	}
	return &Asker{model: model, redact: redact, opts: o.withDefaults()}, nil
}

// ItemSource is what a model says an item is.
type ItemSource string

// The sources. The first three are of type [Semantic], the others [Procedural].
const (
	ProjectFact   ItemSource = "project_fact"
	UserPref      ItemSource = "preference"
	TakenDecision ItemSource = "decision"
	Workflow      ItemSource = "workflow"
	Failure       ItemSource = "failure"
)

// ItemScope says whom an item is about.
type ItemScope string

// The scopes.
const (
	ScopeUser      ItemScope = "user"
	ScopeWorkspace ItemScope = "workspace"
)

// Voice is whose words an item rests on.
type Voice string

// The voices. What rests on tools or documents, and not on the user, was written by
// anybody: quarantine it, or at least what of it reads like an instruction. What
// rests on the assistant was taken up by the user in few words ("yes, Postgres").
const (
	VoiceUser      Voice = "user"
	VoiceAssistant Voice = "assistant"
	VoiceTool      Voice = "tool"
)

// LLMItem is something worth remembering that a model found and that passed all
// gates.
type LLMItem struct {
	Type    Type   `json:"memory_type"`
	Content string `json:"content"`
	// Importance and Confidence are the model's, at least [MinImportance] and
	// [MinConfidence].
	Importance float64    `json:"importance"`
	Confidence float64    `json:"confidence"`
	Tags       []string   `json:"tags,omitempty"`
	Source     ItemSource `json:"source"`
	Scope      ItemScope  `json:"scope"`
	Reason     string     `json:"reason"`
	// Supersedes and ConflictsWith are ids of related memories that were shown. They
	// are empty unless the item rests on the user's words: no tool and no document
	// ends what a user said. A conflict changes no memory: the reason of the item's
	// fact names those that it conflicts with, for whoever looks at it.
	Supersedes    []string `json:"supersedes,omitempty"`
	ConflictsWith []string `json:"conflicts_with,omitempty"`
	// Occurred is a day that the turn names, as the model resolved it, and When how
	// the words put it, which do stand there; both are empty otherwise.
	Occurred time.Time `json:"occurred,omitzero"`
	When     string    `json:"when,omitempty"`

	From Voice `json:"from"`
	// Shared is the part of the content's words that stand where it comes from, 0 to
	// 1, and Span the message of it that has most of them, as a whole. The text of a
	// message that is tool traffic only is empty, and so is the span.
	Shared float64    `json:"shared"`
	Span   facts.Span `json:"span"`
}

// RuleLLM is the rule that facts from a model name.
const RuleLLM = "llm"

// Fact returns the item as a fact. The memory's type is that of the kind: [Procedural]
// for instructions and outcomes, else [Semantic].
func (i *LLMItem) Fact() facts.Fact {
	return facts.Fact{
		Kind: i.Source.kind(), Content: i.Content, Confidence: i.Confidence, Importance: i.Importance,
		Rule: RuleLLM, Reason: i.why(), Span: i.Span, Occurred: i.Occurred, When: i.When, Tags: i.Tags, Supersedes: i.Supersedes,
		Profile: i.Source == UserPref && i.Scope == ScopeUser && i.From == VoiceUser,
	}
}

// why returns the reason with what the item conflicts with.
func (i *LLMItem) why() string {
	if len(i.ConflictsWith) == 0 {
		return i.Reason
	}
	ids := make([]string, len(i.ConflictsWith))
	for n, id := range i.ConflictsWith {
		ids[n] = ragctx.Clip(id)
	}
	return i.Reason + " (conflicts with " + strings.Join(ids, ", ") + ")"
}

func (s ItemSource) kind() facts.Kind {
	switch s {
	case UserPref:
		return facts.Preference
	case TakenDecision:
		return facts.Decision
	case Workflow:
		return facts.Instruction
	case Failure:
		return facts.Outcome
	case ProjectFact:
	}
	return facts.Identity
}

// memoryType returns the type that a source is consistent with, "" for what is no
// source.
func (s ItemSource) memoryType() Type {
	switch s {
	case ProjectFact, UserPref, TakenDecision:
		return Semantic
	case Workflow, Failure:
		return Procedural
	}
	return ""
}

// Asked is what came of asking. Usage is what the question cost, for callers that do
// not count by a model of their own.
type Asked struct {
	Items    []LLMItem   `json:"items"`
	Rejected []Rejection `json:"rejected,omitempty"`
	Usage    llm.Usage   `json:"usage"`
}

// Rejection says why an item of an answer was not taken, without its words.
type Rejection struct {
	// Index is the item's place in the answer, from 0.
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

// ErrNoItems is the error of an answer in which no list of items can be found.
var ErrNoItems = errors.New("the model's answer contains no list of items")

// Ask asks what a turn says that is worth remembering. Of the related memories the
// first [MaxRelated] are shown, so that an item can say what it supersedes; they must
// be ones that the turn's user may see. A turn in which neither the user nor a tool
// says anything is not asked about.
//
// The usage is that of the model, also beside an error. [ragctx.ErrUnavailable] says
// that the turn may be asked about later; after another error it will not be
// answered better.
//
// Where no item is left, and after an error, the caller stores what the user
// explicitly asked for: the facts of kind [facts.Instruction] and
// [facts.Preference] that the rules of package facts find in the user's messages.
func (a *Asker) Ask(ctx context.Context, turn ragctx.Turn, related []Memory) (Asked, error) {
	if turn.Occurred.IsZero() {
		turn.Occurred = a.opts.Now()
	}
	shown := related[:min(len(related), MaxRelated)]
	pieces := fit(a.pieces(turn), a.opts.MaxChars)
	if !evident(pieces) {
		return Asked{}, nil
	}
	prompt, err := a.prompt(turn, pieces, shown)
	if err != nil {
		return Asked{}, fmt.Errorf("ask for memories: %w", err)
	}
	answer, err := a.model.Generate(ctx, llm.Request{
		System: a.system(), Messages: []llm.Message{{Role: ragctx.RoleUser, Text: prompt}},
		MaxTokens: a.opts.MaxTokens, Temperature: new(0.0), JSON: true,
	})
	out := Asked{Usage: answer.Usage}
	if err != nil && !errors.Is(err, llm.ErrTruncated) {
		return out, fmt.Errorf("ask for memories: %w", err)
	}
	list, ok := llm.FindList(answer.Text, "items")
	if !ok {
		return out, fmt.Errorf("ask for memories: %w", errors.Join(ErrNoItems, err))
	}
	j := newJudge(a, turn, pieces, shown)
	for i, raw := range list {
		j.judge(i, raw)
	}
	out.Items, out.Rejected = j.items, j.rejected
	return out, nil
}
