package session

import "github.com/ragctx/ragctx"

// Phase is the purpose of a model call.
type Phase string

// Phases.
const (
	PhaseLoop      Phase = "loop"      // to continue, with tools; the default
	PhaseSynthesis Phase = "synthesis" // for the final answer, without tools and their cost
)

// Validate reports whether the phase is known; "" is [PhaseLoop].
func (p Phase) Validate() error {
	if p != "" && p != PhaseLoop && p != PhaseSynthesis {
		return ragctx.Invalid("phase", "%q is unknown; use loop or synthesis", ragctx.Clip(string(p)))
	}
	return nil
}
