// Package procedures stores successful ways of doing a task for reuse. A procedure is extracted
// from a turn with many tool calls, or written by hand. It is a draft until a person publishes it.
// Agents then see its name and trigger, about 50 tokens whatever its length, and fetch the body on
// demand. It is guidance, not a script.
//
// Published versions are immutable. A newer version replaces an older one; a rollback supersedes
// the newer ones. The version that agents see is the canonical one.
package procedures

import (
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// Limits of a procedure.
const (
	MaxNameRunes    = 64
	MaxTriggerRunes = 200
	MaxEntries      = 50   // of each list
	MaxEntryRunes   = 1000 // of a step, a pitfall or a check
	MaxToolBytes    = 128  // of a tool's name
)

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
	Number int   `json:"version,omitempty"`
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
	Created  time.Time          `json:"created,omitzero"`
	Updated  time.Time          `json:"updated,omitzero"`
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
	Updated time.Time `json:"updated,omitzero"`
}

// ProcedureChange is one entry of a procedure's history.
type ProcedureChange struct {
	At time.Time       `json:"at,omitzero"`
	Op ragctx.ChangeOp `json:"op"`
	// Version is the canonical version after the change, Before the one before it; 0 means none.
	Version int    `json:"version,omitempty"`
	Before  int    `json:"before,omitempty"`
	By      string `json:"by"`
	Turn    string `json:"turn,omitempty"`
}

// ProcedurePreview is a procedure as an agent sees it.
type ProcedurePreview struct {
	ID string `json:"id,omitempty"`
	// Line is included in every matching context. Body is returned on demand.
	Line string `json:"line"`
	Body string `json:"body"`
}

// MaxLineBytes bounds a procedure's line in a context to about 50 tokens.
const MaxLineBytes = 220

// Line returns the line of a procedure in a context.
func Line(name, trigger string) string {
	return clip(name+": "+strings.Join(strings.Fields(trigger), " "), MaxLineBytes)
}

// clip shortens s to at most n bytes, at a nearby word boundary if there is one.
func clip(s string, n int) string {
	const sign = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(sign)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	if i := strings.LastIndexByte(s[:cut], ' '); i > cut*3/4 {
		cut = i
	}
	return s[:cut] + sign
}

// TrimBody returns b with trimmed entries and without empty ones. Lists are never nil.
func TrimBody(b ProcedureBody) ProcedureBody {
	b.Trigger = strings.Join(strings.Fields(b.Trigger), " ")
	for _, list := range []*[]string{&b.Steps, &b.Tools, &b.Pitfalls, &b.Verification} {
		out := make([]string, 0, len(*list))
		for _, s := range *list {
			if s = trimLines(s); s != "" {
				out = append(out, s)
			}
		}
		*list = out
	}
	return b
}

// trimLines removes space around a text and at the ends of its lines.
func trimLines(s string) string {
	lines := strings.Split(redact.Lines(s, ""), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r\f\v\u00a0")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// ValidateBody checks a trimmed body against the documented limits.
func ValidateBody(b ProcedureBody) error {
	if b.Trigger == "" {
		return ragctx.Invalid("trigger", "is empty; say when to use the procedure")
	}
	if err := entry("trigger", b.Trigger, MaxTriggerRunes); err != nil {
		return err
	}
	if len(b.Steps) == 0 {
		return ragctx.Invalid("steps", "are missing; say what to do, step by step")
	}
	for _, f := range [...]struct {
		field string
		list  []string
	}{{"steps", b.Steps}, {"pitfalls", b.Pitfalls}, {"verification", b.Verification}} {
		if err := entries(f.field, f.list); err != nil {
			return err
		}
	}
	if len(b.Tools) > MaxEntries {
		return ragctx.Invalid("tools", "has %d entries; the limit is %d", len(b.Tools), MaxEntries)
	}
	for _, t := range b.Tools {
		if err := ragctx.ValidText("tools", t); err != nil {
			return err
		}
		if len(t) > MaxToolBytes || strings.ContainsAny(t, "\n`") {
			return ragctx.Invalid("tools", "name %q; use the name alone, at most %d bytes on one line", ragctx.Clip(t), MaxToolBytes)
		}
	}
	return nil
}

// NamedProcedure is an existing procedure, to be compared with an extracted one.
type NamedProcedure struct {
	Name string
	ProcedureBody
}
