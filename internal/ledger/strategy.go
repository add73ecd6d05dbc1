package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// Limits of a strategy.
const (
	// DefaultMaxTokens is the budget of a strategy that names none, or 0.
	DefaultMaxTokens = 100_000
	// MaxContextChars bounds the characters of a context, as [budget.Chars] counts them.
	MaxContextChars = 500_000
	// MaxSources is how many sources a strategy may have.
	MaxSources = 64
	// MaxSourceMessages is how many messages of one source are looked at, and how many
	// it shows.
	MaxSourceMessages = 10_000
)

// Topics that the strategy and the snapshot know.
const (
	TopicIssueOpened         = "ISSUE_OPENED"
	TopicPlanReady           = "PLAN_READY"
	TopicWorkerProgress      = "WORKER_PROGRESS"
	TopicImplementationReady = "IMPLEMENTATION_READY"
	TopicValidationResult    = "VALIDATION_RESULT"
	TopicInvestigation       = "INVESTIGATION_COMPLETE"
	TopicStateSnapshot       = "STATE_SNAPSHOT"
	TopicContextMetrics      = "CONTEXT_METRICS"
	TopicAgentLifecycle      = "AGENT_LIFECYCLE"
	TopicClusterResumed      = "CLUSTER_RESUMED"
)

// Choice says which of the messages of a source are taken.
type Choice string

// The choices. Whatever is taken is shown oldest first.
const (
	Latest Choice = "latest" // the newest, as many as the amount says
	Oldest Choice = "oldest" // the first
	All    Choice = "all"    // all, or the first where there is an amount
)

// Kind says where a source has its material from.
type Kind string

// The kinds.
const (
	FromMessages  Kind = "messages" // the messages of a topic; the default
	FromDocuments Kind = "documents"
	FromMemories  Kind = "memories"
)

// Strategy says what the context of an agent is made of: the contextStrategy of a
// template. [ParseStrategy] reads it.
type Strategy struct {
	Sources []Source `json:"sources"`
	// MaxTokens is the budget; 0 is [DefaultMaxTokens].
	MaxTokens int `json:"maxTokens,omitempty"`
}

// Source is one part of a context.
type Source struct {
	Kind Kind `json:"kind,omitempty"`
	// Topic is the topic of the messages; with a * at its end all topics that begin so.
	Topic string `json:"topic,omitempty"`
	// Sender keeps to the messages of one sender.
	Sender string `json:"sender,omitempty"`
	// Query is what documents or memories are searched for; "" is the text of the
	// triggering message.
	Query string `json:"query,omitempty"`
	// Since is the earliest time of a message, included.
	Since Since `json:"since,omitzero"`
	// Choice is latest where it is not set and there is an amount, otherwise all.
	Choice Choice `json:"strategy,omitempty"`
	// Amount is how many messages are taken at most; 0 is no limit. Of documents and
	// memories, 0 is [ragctx.DefaultMaxResults].
	Amount int `json:"amount,omitempty"`
	// Priority is that of the topic where it is not set, see [Source.Rank].
	Priority budget.Priority `json:"priority,omitempty"`
	// CompactAmount and CompactChoice choose again where all that was chosen does not
	// fit: 1 message, in the choice of the source, of which all becomes latest.
	CompactAmount int    `json:"compactAmount,omitempty"`
	CompactChoice Choice `json:"compactStrategy,omitempty"`
}

// take is what a source takes.
type take struct {
	choice Choice
	amount int // 0 is no limit
}

// take returns what the source takes, or takes where that does not fit.
func (s Source) take(compact bool) take {
	base := s.Choice
	switch {
	case base != "":
	case s.Amount > 0:
		base = Latest
	default:
		base = All
	}
	switch {
	case !compact:
		return take{base, s.Amount}
	case s.CompactChoice != "":
		base = s.CompactChoice
	case base == All:
		base = Latest
	}
	return take{base, max(s.CompactAmount, 1)}
}

// Rank returns the priority of the source: its own, otherwise that of its topic.
// State, issue and plan are required; results of validation and of implementation are
// of high priority, all others of medium.
func (s Source) Rank() budget.Priority {
	switch {
	case s.Priority != "":
		return s.Priority
	case s.Kind != FromMessages:
		return budget.Medium
	}
	switch s.Topic {
	case TopicStateSnapshot, TopicIssueOpened, TopicPlanReady:
		return budget.Required
	case TopicValidationResult, TopicImplementationReady:
		return budget.High
	default:
		return budget.Medium
	}
}

// several reports whether the source means more than one topic.
func (s Source) several() bool { return strings.HasSuffix(s.Topic, "*") }

// wants reports whether messages of a topic are meant.
func (s Source) wants(topic string) bool {
	prefix, several := strings.CutSuffix(s.Topic, "*")
	return topic == s.Topic || several && strings.HasPrefix(topic, prefix)
}

// Wants reports whether messages of a topic are among the sources.
func (s Strategy) Wants(topic string) bool {
	return slices.ContainsFunc(s.Sources, func(src Source) bool { return src.Kind == FromMessages && src.wants(topic) })
}

// Budget returns the tokens that a context may have.
func (s Strategy) Budget() int {
	if s.MaxTokens == 0 {
		return DefaultMaxTokens
	}
	return s.MaxTokens
}

// Warning is something about a strategy that is allowed and probably not meant.
type Warning struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (w Warning) String() string { return w.Field + ": " + w.Message }

// Check returns an error that names the first fault of a strategy.
func (s Strategy) Check() error {
	if s.MaxTokens < 0 || s.MaxTokens > ragctx.MaxTokensLimit {
		return ragctx.Invalid("maxTokens", "is %d; use 1 to %d, or 0 for %d", s.MaxTokens, ragctx.MaxTokensLimit, DefaultMaxTokens)
	}
	if len(s.Sources) > MaxSources {
		return ragctx.Invalid("sources", "are %d; the limit is %d: one source can have several topics by a * at its end", len(s.Sources), MaxSources)
	}
	for i, src := range s.Sources {
		if err := src.check(fmt.Sprintf("sources[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

var (
	choices    = []Choice{Latest, Oldest, All}
	priorities = []budget.Priority{budget.Required, budget.High, budget.Medium, budget.Low}
	kinds      = []Kind{FromMessages, FromDocuments, FromMemories}
)

// check returns the first fault of a source.
func (s Source) check(at string) error {
	switch {
	case !slices.Contains(kinds, s.Kind):
		return ragctx.Invalid(at+".kind", "%q is unknown; use messages, documents or memories", ragctx.Clip(string(s.Kind)))
	case s.Kind == FromMessages && s.Topic == "":
		return ragctx.Invalid(at+".topic", "is missing; name the topic of the messages")
	case s.Kind == FromMessages && s.Query != "":
		return ragctx.Invalid(at+".query", "does not go with messages; remove it, or set kind to documents or memories")
	case s.Kind != FromMessages && (s.Topic != "" || s.Sender != ""):
		return ragctx.Invalid(at+".topic", "and sender do not go with %s; remove them", s.Kind)
	case s.Choice != "" && !slices.Contains(choices, s.Choice):
		return ragctx.Invalid(at+".strategy", "%q is unknown; use latest, oldest or all", ragctx.Clip(string(s.Choice)))
	case s.CompactChoice != "" && !slices.Contains(choices, s.CompactChoice):
		return ragctx.Invalid(at+".compactStrategy", "%q is unknown; use latest, oldest or all", ragctx.Clip(string(s.CompactChoice)))
	case s.Priority != "" && !slices.Contains(priorities, s.Priority):
		return ragctx.Invalid(at+".priority", "%q is unknown; use required, high, medium or low", ragctx.Clip(string(s.Priority)))
	case s.Amount < 0 || s.Amount > MaxSourceMessages:
		return ragctx.Invalid(at+".amount", "is %d; use 1 to %d", s.Amount, MaxSourceMessages)
	case s.CompactAmount < 0 || s.CompactAmount > MaxSourceMessages:
		return ragctx.Invalid(at+".compactAmount", "is %d; use 1 to %d", s.CompactAmount, MaxSourceMessages)
	case len(s.Query) > ragctx.MaxQueryBytes:
		return ragctx.Invalid(at+".query", "is %d bytes long; the limit is %d", len(s.Query), ragctx.MaxQueryBytes)
	case s.Kind != FromMessages && max(s.Amount, s.CompactAmount) > ragctx.MaxResultsLimit:
		return ragctx.Invalid(at+".amount", "is beyond %d, the limit of %s", ragctx.MaxResultsLimit, s.Kind)
	}
	return s.Since.check(at+".since", s.Topic)
}

// Warnings returns what is probably not meant. Topics are those that some agent
// publishes; nil is unknown, and a topic that nobody publishes is then no warning.
func (s Strategy) Warnings(topics []string) []Warning {
	var out []Warning
	if len(s.Sources) == 0 {
		out = append(out, Warning{"sources", "is empty; the context has nothing of the ledger but the triggering message"})
	}
	for i, src := range s.Sources {
		at := fmt.Sprintf("sources[%d]", i)
		if src.Choice != "" && src.Choice != All && src.Amount == 0 {
			out = append(out, Warning{at + ".amount", fmt.Sprintf("is missing; %s without an amount takes every message", src.Choice)})
		}
		if src.Kind == FromMessages && topics != nil && !src.produced(topics) {
			out = append(out, Warning{at + ".topic", fmt.Sprintf("%s is published by no agent", ragctx.Clip(src.Topic))})
		}
	}
	return out
}

// produced reports whether messages of the topic can be expected.
func (s Source) produced(topics []string) bool {
	switch s.Topic {
	case TopicIssueOpened, TopicClusterResumed, TopicStateSnapshot:
		return true
	}
	return s.several() || slices.Contains(topics, s.Topic)
}
