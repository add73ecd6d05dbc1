package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// Priorities of the built-in stages. The gaps are for other stages.
const (
	ObservationPriority = 10
	CompactionPriority  = 20
	TruncationPriority  = 30
)

// Stage transforms the messages for a model.
type Stage interface {
	// Name is short, stable and unique in a pipeline. Reports and logs use it.
	Name() string
	// Priority determines the order: lower priorities run first, equal ones in the order of
	// registration.
	Priority() int
	// EstimateTokens returns the approximate number of tokens that the stage will add, or 0.
	// Pipelines do not call it; it is for clients that divide budgets.
	EstimateTokens(ctx context.Context, s *State) int
	// Apply returns the transformed messages. It must not change the given ones. Nil leaves them
	// unchanged; an empty list does not. After an error its result and its persisted messages are
	// discarded; [Skipped] means that there was nothing to do. Apply returns soon after ctx is
	// done. An error of a [ragctx.FailurePolicy] that fails closed ends the run.
	Apply(ctx context.Context, s *State, messages []ragctx.Message, b Budget) ([]ragctx.Message, error)
}

// ClosedError is the error of a failed stage with failure mode [ragctx.FailClosed]: messages must
// not be shown without it.
type ClosedError struct {
	Stage string
	Err   error // the cause, in words for the client
}

// Error implements error.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("the stage %q failed, and it must not be skipped: %v; "+
		"repair it, or let it fail open (on_failure in the setting stages)", e.Stage, e.Err)
}

// Unwrap returns only [ragctx.ErrStage], whatever the cause.
func (*ClosedError) Unwrap() error { return ragctx.ErrStage }

// failsClosed reports whether messages must not be shown without a stage.
func failsClosed(s Stage) bool {
	p, ok := s.(ragctx.FailurePolicy)
	return ok && p.FailureMode() == ragctx.FailClosed
}

// The built-in stages do not change given lists and are idempotent.
func (Observation) ours() {}
func (Compaction) ours()  {}
func (Truncation) ours()  {}

// Budget is the token budget of a model call.
type Budget struct {
	// Tokens limits the messages; 0 means no limit.
	Tokens int
	// Window is the model's context window. Fixed is the part that each call needs for
	// system prompt and tools. A window of 0 selects the stages' own.
	Window, Fixed int
}

// Layer is the compression of a session. Layers exclude each other.
type Layer string

// Layers.
const (
	AnyLayer         Layer = ""            // the default: compaction
	LayerObservation Layer = "observation" // observations of a model replace the messages that they cover; no compaction
	LayerCompaction  Layer = "compaction"  // a summary replaces older messages
	LayerBuffer      Layer = "buffer"      // messages move into a buffer, which is summarized
	LayerNone        Layer = "none"        // only truncation
)

// Scope identifies a conversation.
type Scope struct{ Namespace, UserID, SessionID string }

// State is what stages know about a session from run to run. It belongs to one session and is not
// safe for concurrent use.
type State struct {
	Scope

	Phase session.Phase
	Layer Layer
	// Messages are the input of the next run. A run does not store its result here; stages store
	// lasting changes by Persist.
	Messages []ragctx.Message
	// Used is the token usage that the model reported for its last call; 0 means unknown. A
	// compaction updates it.
	Used int
	// Records are the compactions, oldest first; the compaction stage appends its own.
	Records []compact.Record
	// Observed is set if the session has observations in use.
	Observed bool
	// Original returns the full message if Messages shorten it; nil means that they are not
	// shortened. A foreign stage has not seen the full text, which it may have to hide; a run
	// therefore sets Original to nil after such a stage.
	Original func(ragctx.Message) ragctx.Message
	// Costs returns the cost of each message in tokens of the pipeline's counter, for clients that
	// know it; nil means that messages are counted. The result is shared.
	Costs func([]ragctx.Message) []int
	// OnPersist, if not nil, is called for each stage that persisted messages, with the messages
	// before. The state already has the new ones.
	OnPersist func(stage string, before []ragctx.Message)
}

// costs returns the costs of messages. The result is shared.
func (s *State) costs(scale session.Scale, messages []ragctx.Message) []int {
	if s.Costs == nil {
		return scale.Messages(messages)
	}
	return s.Costs(messages)
}

// Persist makes messages the input of the next run.
func (s *State) Persist(messages []ragctx.Message) { s.Messages = slices.Clip(messages) }

// Skipped is the error of a stage that had nothing to do; its text is the reason.
type Skipped string

// Error implements error.
func (s Skipped) Error() string { return string(s) }
