package memory

import (
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// State says whether a memory is found, and why not.
type State string

// The states.
const (
	Active      State = "active"
	Superseded  State = "superseded"  // another memory took its place; found as of earlier times
	Quarantined State = "quarantined" // it waits for somebody to release or discard it
	Expired     State = "expired"     // its time is over; found as of earlier times
	Deleted     State = "deleted"     // found as of earlier times
)

// Origin is whose words a memory has.
type Origin string

// The origins.
const (
	FromCaller   Origin = "" // of whoever sends it; the default
	FromUser     Origin = "user"
	FromAgent    Origin = "agent"
	FromTool     Origin = "tool"
	FromDocument Origin = "document"
)

// ParseOrigin reads an origin in any letter case.
func ParseOrigin(s string) (Origin, error) {
	switch o := Origin(strings.ToLower(s)); o {
	case FromCaller, FromUser, FromAgent, FromTool, FromDocument:
		return o, nil
	}
	return "", ragctx.Invalid("origin", "%q is unknown; use user, agent, tool or document", ragctx.Clip(s))
}

// About is what is known of a memory that was found in a turn.
type About struct {
	Kind facts.Kind `json:"kind"`
	// Subject, Attribute and Value say what the memory is about; Exclusive that a new
	// value takes the place of the old. See [facts.Fact].
	Subject   string `json:"subject,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	Exclusive bool   `json:"exclusive,omitempty"`
	// Confidence is 0 to 1; Rule names what found it, Reason says why.
	Confidence float64 `json:"confidence"`
	Rule       string  `json:"rule"`
	Reason     string  `json:"reason"`
	// When is how the turn puts the time that Occurred says.
	When string `json:"when,omitempty"`
}

// Evidence is a place in a turn that says what a memory says.
type Evidence struct {
	facts.Span

	Turn string    `json:"turn"`
	At   time.Time `json:"at"` // when the turn occurred
}

// Op is what happened to a memory.
type Op string

// The ops.
const (
	OpCreated     Op = "created"
	OpUpdated     Op = "updated"
	OpMerged      Op = "merged"      // another turn says the same
	OpSuperseded  Op = "superseded"  // by another memory
	OpDeleted     Op = "deleted"     // by a caller
	OpPruned      Op = "pruned"      // by a policy or a full tier
	OpQuarantined Op = "quarantined" // instead of being stored
	OpReleased    Op = "released"    // from quarantine
	OpDiscarded   Op = "discarded"   // from quarantine
	OpUndone      Op = "undone"      // the newest change before it
)

// Change is one entry of a memory's history.
type Change struct {
	ID int64     `json:"-"`
	At time.Time `json:"at"`
	Op Op        `json:"op"`
	// Version is the one that was current afterwards, Before the one before it; 0
	// is none.
	Version int    `json:"version,omitempty"`
	Before  int    `json:"before,omitempty"`
	By      string `json:"by"` // caller, turn, model or policy
	Turn    string `json:"turn,omitempty"`
	// Other is the memory that took its place, or whose place it took.
	Other  string `json:"other,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Undone says that an undo has taken it back.
	Undone bool `json:"undone,omitempty"`
	// Content and Was are the texts after and before, as far as they are kept.
	Content string `json:"content,omitempty"`
	Was     string `json:"was,omitempty"`
}

// Who changes memories.
const (
	ByCaller = "caller"
	ByTurn   = "turn"
	ByLLM    = "model"
	ByPolicy = "policy"
)

// Fact is what was found in a turn, as it is shown beside the turn's own words.
type Fact struct {
	ID       string    `json:"id"`
	Content  string    `json:"content"`
	About    About     `json:"about"`
	Occurred time.Time `json:"occurred"`
	// Since is what has taken its place; "" while it holds.
	Since string `json:"since,omitempty"`
}
