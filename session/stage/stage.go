package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// The priorities of this package's stages. The gaps are for others.
const (
	ObservationPriority = 10
	CompactionPriority  = 20
	TruncationPriority  = 30
)

// Stage changes what a model is shown of a conversation.
type Stage interface {
	// Name is short, stable and unique in a pipeline. It names the stage in reports and logs.
	Name() string
	// Priority says when the stage runs: lower ones first, equal ones as they were
	// registered.
	Priority() int
	// EstimateTokens says about how many tokens the stage will add; 0 if that means
	// nothing. A pipeline never asks; it is for those who divide budgets.
	EstimateTokens(ctx context.Context, s *State) int
	// Apply returns what the stage makes of messages, which it must not change. Nil leaves
	// them as they are, an empty list is one. With an error what it returns does not
	// count, nor does what it persisted; [Skipped] says that there was nothing to do. It
	// returns soon after ctx is done. An error of a stage that is a [ragctx.FailurePolicy]
	// and fails closed ends the run.
	Apply(ctx context.Context, s *State, messages []ragctx.Message, b Budget) ([]ragctx.Message, error)
}

// ClosedError is the error of a stage that failed, and whose failure mode is
// [ragctx.FailClosed]: what it would have changed must not be shown as it is.
type ClosedError struct {
	Stage string
	Err   error // why, in words for those who asked
}

// Error implements error.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("the stage %q failed, and nothing may be sent to a model without it: %v; repair it, or let it fail open (on_failure in the setting stages)", e.Stage, e.Err)
}

// Unwrap returns [ragctx.ErrStage] alone, whatever went wrong.
func (*ClosedError) Unwrap() error { return ragctx.ErrStage }

// closed reports whether nothing may be shown without what a stage does.
func closed(s Stage) bool {
	p, ok := s.(ragctx.FailurePolicy)
	return ok && p.FailureMode() == ragctx.FailClosed
}

// The stages of this package change no list that they are given, and add nothing twice.
func (Observation) ours() {}
func (Compaction) ours()  {}
func (Truncation) ours()  {}

// Budget is what a model call may cost, in tokens.
type Budget struct {
	// Tokens is what the messages may cost; 0 is as much as they do.
	Tokens int
	// Window is the model's, Fixed what each call has beside the messages: system prompt,
	// tools. A window of 0 is the stages' own.
	Window, Fixed int
}

// Phase says what the model is called for.
type Phase string

// The phases. Stages run in both.
const (
	Loop      Phase = "loop"      // to go on, with tools; the default
	Synthesis Phase = "synthesis" // for the final answer
)

// Layer is how a session is compressed. One excludes the others.
type Layer string

// The layers.
const (
	AnyLayer         Layer = ""            // compaction, which is the default
	LayerObservation Layer = "observation" // a model's observations take the place of what they tell of; compaction where there are none
	LayerCompaction  Layer = "compaction"  // a summary takes the place of older messages
	LayerBuffer      Layer = "buffer"      // messages go into a buffer, which becomes a summary
	LayerNone        Layer = "none"        // nothing but truncation
)

// Scope says whose conversation it is.
type Scope struct{ Namespace, UserID, SessionID string }

// State is what stages know of a session, from run to run. It belongs to one session and
// is not safe for concurrent use.
type State struct {
	Scope

	Phase Phase
	Layer Layer
	// Messages are what the next run begins with. A run does not write its result here;
	// stages do what is to last, by Persist.
	Messages []ragctx.Message
	// Used is what the model said that its last call cost, in tokens; 0 is not known. A
	// compaction brings it up to date.
	Used int
	// Records are the compactions so far, oldest first; the stage appends its own.
	Records []compact.Record
	// Observed says that there are observations.
	Observed bool
	// Data is for stages of others, by their names.
	Data map[string]any

	// Original returns a message as it was said, where one of the state shows less of it; nil
	// has them as they are. A stage that is not of this package has not seen the rest, which
	// it may be there to hide, so that a run sets this to nil behind one.
	Original func(ragctx.Message) ragctx.Message
	// Costs returns what each message of a list costs, in the tokens of the pipeline's
	// counter, for those who know it; nil has messages counted. What it returns is shared.
	Costs func([]ragctx.Message) []int
	// Kept is told of each stage that put something into the state, and what there was
	// before the stage; nil is not. The state has it then.
	Kept func(stage string, before []ragctx.Message)
}

// costs returns what messages cost, which is shared.
func (s *State) costs(scale session.Scale, messages []ragctx.Message) []int {
	if s.Costs == nil {
		return scale.Messages(messages)
	}
	return s.Costs(messages)
}

// Persist has the next run begin with messages.
func (s *State) Persist(messages []ragctx.Message) { s.Messages = slices.Clip(messages) }

// Skipped is the error of a stage that had nothing to do, and why.
type Skipped string

// Error implements error.
func (s Skipped) Error() string { return string(s) }
