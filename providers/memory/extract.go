package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// ExtractOptions configures extraction by a language model. The zero value works.
type ExtractOptions struct {
	// Clean removes from a text what its speaker did not say, such as context that an engine
	// inserted; nil removes nothing. Removed text is neither shown to the model nor used as
	// evidence.
	Clean func(string) string
	// Embedder recognizes notes that report the turn in other words; without one, a note must share
	// its words with the turn.
	Embedder embed.Embedder

	Now func() time.Time // the clock for turns without a time; nil is the system clock
}

// MaxRelated is the largest number of related memories shown with a turn.
const MaxRelated = 5

// Limits of a request to the model.
const (
	maxItems = 5 // items taken from an answer
	// maxChars is the approximate number of code points of a turn shown to the model. A longer turn
	// is shortened: first tool traffic, then the assistant's words, then the oldest messages.
	maxChars        = 24_000
	leastChars      = 1000 // a message that is shortened last keeps half of them
	maxAnswerTokens = maxItems*512 + 256
)

func (o ExtractOptions) withDefaults() ExtractOptions {
	if o.Clean == nil {
		o.Clean = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// FactExtractor extracts facts from a turn with a language model. It verifies the answer: each item must
// pass gates, and its words must occur in the turn. It is safe for concurrent use.
type FactExtractor struct {
	model  llm.Generator
	redact func(string) (string, bool)
	opts   ExtractOptions
}

// NewFactExtractor returns an extractor. redact removes secrets from a text and reports whether it found
// any. It is applied to everything shown to the model; items in which it finds a secret are
// rejected.
func NewFactExtractor(model llm.Generator, redact func(string) (string, bool), o ExtractOptions) (*FactExtractor, error) {
	switch {
	case model == nil:
		return nil, ragctx.Invalid("model", "is missing; without a model, extract by rules")
	case redact == nil:
		return nil, ragctx.Invalid("redact", "is missing; secrets in turns must not be sent to a service")
	}
	return &FactExtractor{model: model, redact: redact, opts: o.withDefaults()}, nil
}

// ItemSource is the model's classification of an item.
type ItemSource string

// Item sources. The first three are of type [ragctx.MemorySemantic], the others [ragctx.MemoryProcedural].
const (
	ProjectFact   ItemSource = "project_fact"
	UserPref      ItemSource = "preference"
	TakenDecision ItemSource = "decision"
	Workflow      ItemSource = "workflow"
	Failure       ItemSource = "failure"
)

// ItemScope is the subject of an item: the user or the workspace.
type ItemScope string

// Item scopes.
const (
	ScopeUser      ItemScope = "user"
	ScopeWorkspace ItemScope = "workspace"
)

// Speaker is the speaker whose words support an item.
type Speaker string

// Speakers. Tools and documents can contain anyone's text, so an item supported by them alone must
// be quarantined, at least if it reads like an instruction. An item of the assistant was confirmed
// by the user in few words ("yes, Postgres").
const (
	SpeakerUser      Speaker = "user"
	SpeakerAssistant Speaker = "assistant"
	SpeakerTool      Speaker = "tool"
)

// LLMItem is an item of a model's answer that passed all gates.
type LLMItem struct {
	Type    ragctx.MemoryType `json:"memory_type"`
	Content string            `json:"content"`
	// Importance and Confidence are set by the model, and are at least [MinImportance] and
	// [MinConfidence].
	Importance float64    `json:"importance"`
	Confidence float64    `json:"confidence"`
	Tags       []string   `json:"tags,omitempty"`
	Source     ItemSource `json:"source"`
	Scope      ItemScope  `json:"scope"`
	Reason     string     `json:"reason"`
	// Supersedes and ConflictsWith are ids of related memories that were shown. They are empty
	// unless the user's words support the item: tools and documents cannot end a user's statement.
	// A conflict changes no memory; the reason of the item's fact lists the conflicting ids.
	Supersedes    []string `json:"supersedes,omitempty"`
	ConflictsWith []string `json:"conflicts_with,omitempty"`
	// Occurred is a day named in the turn, as the model resolved it, and When its wording in the
	// turn. Both are empty otherwise.
	Occurred time.Time `json:"occurred,omitzero"`
	When     string    `json:"when,omitempty"`

	From Speaker `json:"from"`
	// Shared is the fraction of the content's words that occur in the supporting messages, 0 to 1.
	// Span is the message with most of them, as a whole. It is empty for a message of tool traffic
	// only, whose text is empty.
	Shared float64         `json:"shared"`
	Span   ragctx.TurnSpan `json:"span"`
}

// RuleLLM is the rule name of facts from a model.
const RuleLLM = "llm"

// Fact converts the item to a fact. Instructions and outcomes become [ragctx.MemoryProcedural] memories, other
// kinds [ragctx.MemorySemantic].
func (i *LLMItem) Fact() facts.Fact {
	return facts.Fact{
		Kind: i.Source.kind(), Content: i.Content, Confidence: i.Confidence, Importance: i.Importance,
		Rule: RuleLLM, Reason: i.reasonWithConflicts(), Span: i.Span, Occurred: i.Occurred, When: i.When,
		Tags: i.Tags, Supersedes: i.Supersedes,
		Profile: i.From == SpeakerUser && (i.Source == UserPref && i.Scope == ScopeUser || i.Source == Workflow),
	}
}

// reasonWithConflicts returns the reason, with the conflicting memories appended.
func (i *LLMItem) reasonWithConflicts() string {
	if len(i.ConflictsWith) == 0 {
		return i.Reason
	}
	ids := make([]string, len(i.ConflictsWith))
	for n, id := range i.ConflictsWith {
		ids[n] = ragctx.Clip(id)
	}
	return i.Reason + " (conflicts with " + strings.Join(ids, ", ") + ")"
}

func (s ItemSource) kind() ragctx.FactKind {
	switch s {
	case UserPref:
		return ragctx.FactPreference
	case TakenDecision:
		return ragctx.FactDecision
	case Workflow:
		return ragctx.FactInstruction
	case Failure:
		return ragctx.FactOutcome
	case ProjectFact:
	}
	return ragctx.FactIdentity
}

// memoryType returns the memory type that a source requires, or "" for an unknown source.
func (s ItemSource) memoryType() ragctx.MemoryType {
	switch s {
	case ProjectFact, UserPref, TakenDecision:
		return ragctx.MemorySemantic
	case Workflow, Failure:
		return ragctx.MemoryProcedural
	}
	return ""
}

// Extraction is the result of an extraction. Usage is its token usage, for callers whose model does not
// count.
type Extraction struct {
	Items    []LLMItem   `json:"items"`
	Rejected []Rejection `json:"rejected,omitempty"`
	Usage    llm.Usage   `json:"usage"`
}

// Rejection explains why an item of an answer was rejected. It does not quote the item.
type Rejection struct {
	// Index is the item's position in the answer, from 0.
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

// ErrNoItems is returned for an answer without a list of items.
var ErrNoItems = errors.New("the model's answer contains no list of items")

// Extract extracts items from a turn. It shows the first [MaxRelated] related memories, so that an item
// can supersede them; they must be visible to the turn's user. The model is not called for a turn
// without words of a user or a tool.
//
// The usage is set even if an error is returned. [ragctx.ErrUnavailable] means that a retry may
// succeed; after any other error a retry will not help.
//
// If no item is left, or after an error, the caller stores what the user explicitly asked for: the
// facts of kind [ragctx.FactInstruction] and [ragctx.FactPreference] that the rules of package facts find in
// the user's messages.
func (a *FactExtractor) Extract(ctx context.Context, turn ragctx.Turn, related []ragctx.Memory) (Extraction, error) {
	if turn.Occurred.IsZero() {
		turn.Occurred = a.opts.Now()
	}
	shown := related[:min(len(related), MaxRelated)]
	pieces := fit(a.pieces(turn), maxChars)
	if !hasEvidence(pieces) {
		return Extraction{}, nil
	}
	prompt, err := a.prompt(turn, pieces, shown)
	if err != nil {
		return Extraction{}, fmt.Errorf("ask for memories: %w", err)
	}
	answer, err := a.model.Generate(ctx, llm.Request{
		System: a.system(), Messages: []llm.Message{{Role: ragctx.RoleUser, Text: prompt}},
		MaxTokens: maxAnswerTokens, Temperature: new(0.0), JSON: true,
	})
	out := Extraction{Usage: answer.Usage}
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
