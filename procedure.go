package ragctx

import "time"

// ProcedureOwner is the owner of a procedure: a user, an agent, both, or everyone in the namespace.
type ProcedureOwner struct {
	UserID  string `json:"user_id,omitempty"`
	AgentID string `json:"agent_id,omitempty"`
}

// VisibleTo reports whether the owner's procedures are visible to a user and an agent: their own and
// shared ones. An empty agent sees the procedures of all agents.
func (o ProcedureOwner) VisibleTo(user, agent string) bool {
	return (o.UserID == "" || o.UserID == user) && (o.AgentID == "" || agent == "" || o.AgentID == agent)
}

// ProcedureBody is the content of a procedure.
type ProcedureBody struct {
	// Trigger states when to use it, such as "Deploy {service} to {target}".
	Trigger string `json:"trigger"`
	// Steps are in order. Placeholders in braces stand for values of the task.
	Steps        []string `json:"steps"`
	Tools        []string `json:"tools"`
	Pitfalls     []string `json:"pitfalls"`
	Verification []string `json:"verification"`
}

// ProcedureState is the state of a version.
type ProcedureState string

// States.
const (
	ProcedureDraft      ProcedureState = "draft"      // editable; invisible to agents
	ProcedurePublished  ProcedureState = "published"  // immutable
	ProcedureSuperseded ProcedureState = "superseded" // published and rolled back
)

// ProcedureRun is a turn in which the procedure succeeded.
type ProcedureRun struct {
	Turn       string    `json:"turn"`
	Confidence float64   `json:"confidence"`
	At         time.Time `json:"at,omitzero"`
	// Words is set if the procedure was extracted from this turn. Other turns did the same.
	Words bool `json:"words,omitempty"`
}

// ProcedureVersion is a draft or a published version.
type ProcedureVersion struct {
	// Number is the version number, from 1; a draft has none.
	Number int            `json:"version,omitempty"`
	State  ProcedureState `json:"state"`
	// Canonical marks the version that agents see.
	Canonical bool `json:"canonical,omitempty"`
	ProcedureBody

	By         string         `json:"by"`
	Written    time.Time      `json:"written,omitzero"`
	Published  time.Time      `json:"published,omitzero"`
	Superseded time.Time      `json:"superseded,omitzero"`
	Sources    []ProcedureRun `json:"sources,omitempty"`
}

// Procedure is a procedure with all its versions.
type Procedure struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	ProcedureOwner

	// Canonical is the version that agents see; 0 means none.
	Canonical int               `json:"canonical,omitempty"`
	Draft     *ProcedureVersion `json:"draft,omitempty"`
	// Versions are the published versions, newest first.
	Versions []ProcedureVersion `json:"versions"`
	Created  time.Time          `json:"created_at,omitzero"`
	Updated  time.Time          `json:"updated_at,omitzero"`
}

// Version returns published version n; 0 is the canonical one.
func (p Procedure) Version(n int) (ProcedureVersion, bool) {
	for _, v := range p.Versions {
		if v.Number == n || n == 0 && v.Canonical {
			return v, true
		}
	}
	return ProcedureVersion{}, false
}

// ProcedureEntry is a list entry of a procedure. Its size does not depend on the body.
type ProcedureEntry struct {
	Name string `json:"name"`
	ProcedureOwner

	Trigger string `json:"trigger"`
	// ProcedureDraft is set if there is a draft. Canonical is the version that agents see, 0 for none.
	// Versions is the number of published versions.
	Draft     bool `json:"draft"`
	Canonical int  `json:"canonical"`
	Versions  int  `json:"versions"`
	// Turns is the number of turns known to have done it.
	Turns   int       `json:"turns"`
	Updated time.Time `json:"updated_at,omitzero"`
}

// ProcedureChange is one entry of a procedure's history.
type ProcedureChange struct {
	At time.Time `json:"at,omitzero"`
	Op ChangeOp  `json:"op"`
	// Version is the canonical version after the change, Before the one before it; 0 means none.
	Version int    `json:"version,omitempty"`
	Before  int    `json:"before,omitempty"`
	By      string `json:"by"`
	Turn    string `json:"turn,omitempty"`
}

// NamedProcedure is an existing procedure, to be compared with an extracted one.
type NamedProcedure struct {
	Name string
	ProcedureBody
}
