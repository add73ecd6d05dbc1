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
	// DefaultMaxTokens is the budget of a strategy that sets none, or 0.
	DefaultMaxTokens = 100_000
	// MaxContextChars bounds the characters of a context, counted by [budget.Chars].
	MaxContextChars = 500_000
	// MaxSources limits the sources of a strategy.
	MaxSources = 64
	// MaxSourceMessages limits the messages that one source reads and shows.
	MaxSourceMessages = 10_000
)

// Topics with a meaning to strategies and snapshots.
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

// Choice selects messages of a source.
type Choice string

// The choices. The selected messages are shown oldest first.
const (
	Latest Choice = "latest" // the newest, up to the amount
	Oldest Choice = "oldest" // the first, up to the amount
	All    Choice = "all"    // all, or the first if an amount is set
)

// Kind is the origin of a source's material.
type Kind string

// The kinds.
const (
	FromMessages  Kind = "messages" // messages of a topic; the default
	FromDocuments Kind = "documents"
	FromMemories  Kind = "memories"
)

// Strategy describes the composition of an agent's context: the contextStrategy of a template.
// [ParseStrategy] reads it.
type Strategy struct {
	Sources []Source `json:"sources"`
	// MaxTokens is the budget; 0 is [DefaultMaxTokens].
	MaxTokens int `json:"maxTokens,omitempty"`
}

// Source is one source of a context.
type Source struct {
	Kind Kind `json:"kind,omitempty"`
	// Topic is the topic of the messages; a trailing * selects all topics with that prefix.
	Topic string `json:"topic,omitempty"`
	// Sender selects the messages of one sender.
	Sender string `json:"sender,omitempty"`
	// Query is the search in documents or memories; "" is the text of the trigger.
	Query string `json:"query,omitempty"`
	// Since is the inclusive lower bound of a message's time.
	Since Since `json:"since,omitzero"`
	// Choice defaults to latest if an amount is set, otherwise to all.
	Choice Choice `json:"strategy,omitempty"`
	// Amount limits the messages; 0 is no limit. For documents and memories 0 means
	// [ragctx.DefaultMaxResults].
	Amount int `json:"amount,omitempty"`
	// Priority defaults to the topic's priority, see [Source.Rank].
	Priority budget.Priority `json:"priority,omitempty"`
	// CompactAmount and CompactChoice select again if the full selection does not fit. The defaults
	// are 1 message and the source's choice, with latest instead of all.
	CompactAmount int    `json:"compactAmount,omitempty"`
	CompactChoice Choice `json:"compactStrategy,omitempty"`
}

// selection is what a source selects.
type selection struct {
	choice Choice
	amount int // 0 is no limit
}

// selection returns the full or the compact selection of the source.
func (s Source) selection(compact bool) selection {
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
		return selection{base, s.Amount}
	case s.CompactChoice != "":
		base = s.CompactChoice
	case base == All:
		base = Latest
	}
	return selection{base, max(s.CompactAmount, 1)}
}

// Rank returns the priority of the source, by default the topic's: required for state, issue and
// plan, high for results of validation and implementation, medium for all others.
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

// isPrefix reports whether the topic is a prefix.
func (s Source) isPrefix() bool { return strings.HasSuffix(s.Topic, "*") }

// matches reports whether a topic matches the source.
func (s Source) matches(topic string) bool {
	prefix, several := strings.CutSuffix(s.Topic, "*")
	return topic == s.Topic || several && strings.HasPrefix(topic, prefix)
}

// Includes reports whether a topic matches a source of the strategy.
func (s Strategy) Includes(topic string) bool {
	return slices.ContainsFunc(s.Sources, func(src Source) bool { return src.Kind == FromMessages && src.matches(topic) })
}

// Budget returns the token budget of a context.
func (s Strategy) Budget() int {
	if s.MaxTokens == 0 {
		return DefaultMaxTokens
	}
	return s.MaxTokens
}

// Warning describes a setting that is allowed but probably a mistake.
type Warning struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (w Warning) String() string { return w.Field + ": " + w.Message }

// Check returns the first error of a strategy.
func (s Strategy) Check() error {
	if s.MaxTokens < 0 || s.MaxTokens > ragctx.MaxTokensLimit {
		return ragctx.Invalid("maxTokens", "is %d; use 1 to %d, or 0 for %d", s.MaxTokens, ragctx.MaxTokensLimit, DefaultMaxTokens)
	}
	if len(s.Sources) > MaxSources {
		return ragctx.Invalid("sources", "are %d; the limit is %d: a topic that ends in * selects several topics",
			len(s.Sources), MaxSources)
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

// check returns the first error of a source.
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

// Warnings returns the settings that are probably mistakes. Topics are the topics that agents
// publish; if nil, unknown topics give no warning.
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
		if src.Kind == FromMessages && topics != nil && !src.expected(topics) {
			out = append(out, Warning{at + ".topic", fmt.Sprintf("%s is published by no agent", ragctx.Clip(src.Topic))})
		}
	}
	return out
}

// expected reports whether messages of the source's topic can be expected.
func (s Source) expected(topics []string) bool {
	switch s.Topic {
	case TopicIssueOpened, TopicClusterResumed, TopicStateSnapshot:
		return true
	}
	return s.isPrefix() || slices.Contains(topics, s.Topic)
}
