// Package procedures is about procedures: how something was done that went well, kept so
// that it need not be found out again. One is found in a turn of many tool calls or
// written by hand, is a draft until somebody publishes it, and is then a skill: agents
// are shown its name and when to use it, about 50 tokens whatever its length, and ask
// for its body when they want it. It is guidance, not a script.
//
// What is published never changes. A newer version takes its place, a rollback takes
// the newer ones back; the one that agents are shown is the canonical one.
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
	MaxEntryRunes   = 1000 // of a step, a pitfall, a check
	MaxToolBytes    = 128  // of a tool's name
)

// Owner says whose a procedure is: a user's, an agent's, both's, or without either
// everyone's in the namespace.
type Owner struct {
	UserID  string `json:"user_id,omitempty"`
	AgentID string `json:"agent_id,omitempty"`
}

// SeenBy reports whether a user and an agent may see what is the owner's: their own
// and nobody's. Without an agent that of every agent is seen.
func (o Owner) SeenBy(user, agent string) bool {
	return (o.UserID == "" || o.UserID == user) && (o.AgentID == "" || agent == "" || o.AgentID == agent)
}

// Body is what a procedure says.
type Body struct {
	// Trigger says when to use it, such as "Deploy {service} to {target}".
	Trigger string `json:"trigger"`
	// Steps are in order. Names in braces are values of the task at hand.
	Steps        []string `json:"steps"`
	Tools        []string `json:"tools"`
	Pitfalls     []string `json:"pitfalls"`
	Verification []string `json:"verification"`
}

// State is what a version of a procedure is.
type State string

// The states.
const (
	Draft      State = "draft"      // can be edited; no agent sees it
	Published  State = "published"  // never changes
	Superseded State = "superseded" // published, and taken back by a rollback
)

// Who wrote a version.
const (
	ByCaller = "caller" // somebody, by hand
	ByTurn   = "turn"   // rules, from a turn
	ByModel  = "model"  // a language model, from a turn
)

// ProcedureRun is a turn in which a procedure went well.
type ProcedureRun struct {
	Turn       string    `json:"turn"`
	Confidence float64   `json:"confidence"`
	At         time.Time `json:"at,omitzero"`
	// Words says that the procedure's words are from this turn; of others it is known
	// that they did the same.
	Words bool `json:"words,omitempty"`
}

// ProcedureVersion is a state of a procedure.
type ProcedureVersion struct {
	// Number is that of a published version, from 1; a draft has none.
	Number int   `json:"version,omitempty"`
	State  State `json:"state"`
	// Canonical says that agents are shown this version.
	Canonical bool `json:"canonical,omitempty"`
	Body

	By         string         `json:"by"`
	Written    time.Time      `json:"written,omitzero"`
	Published  time.Time      `json:"published,omitzero"`
	Superseded time.Time      `json:"superseded,omitzero"`
	Sources    []ProcedureRun `json:"sources,omitempty"`
}

// Procedure is all there is of a procedure.
type Procedure struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner

	// Canonical is the version that agents are shown; 0 is none.
	Canonical int               `json:"canonical,omitempty"`
	Draft     *ProcedureVersion `json:"draft,omitempty"`
	// Versions are those that were published, newest first.
	Versions []ProcedureVersion `json:"versions"`
	Created  time.Time          `json:"created,omitzero"`
	Updated  time.Time          `json:"updated,omitzero"`
}

// Version returns a published version; 0 is the canonical one.
func (p Procedure) Version(n int) (ProcedureVersion, bool) {
	for _, v := range p.Versions {
		if v.Number == n || n == 0 && v.Canonical {
			return v, true
		}
	}
	return ProcedureVersion{}, false
}

// ProcedureEntry is a procedure in a list. What it takes does not depend on the length of
// the body.
type ProcedureEntry struct {
	Name string `json:"name"`
	Owner

	Trigger string `json:"trigger"`
	// Draft says that there is a draft; Canonical is the version that agents are shown,
	// 0 for none; Versions is how many were published.
	Draft     bool `json:"draft"`
	Canonical int  `json:"canonical"`
	Versions  int  `json:"versions"`
	// Turns is how many turns are known to have done it.
	Turns   int       `json:"turns"`
	Updated time.Time `json:"updated,omitzero"`
}

// Op is what happened to a procedure.
type Op string

// What can happen.
const (
	OpDrafted     Op = "drafted"     // a draft was written, or found in a turn
	OpMerged      Op = "merged"      // a turn did the same
	OpDiscarded   Op = "discarded"   // the draft was deleted
	OpPublished   Op = "published"   // the draft became a version, and canonical
	OpUnpublished Op = "unpublished" // no version is canonical any more
	OpRolledBack  Op = "rolled_back" // an earlier version is canonical; later ones are superseded
	OpErased      Op = "erased"      // a version was erased with the turn that it was from
)

// ProcedureChange is something that happened to a procedure.
type ProcedureChange struct {
	At time.Time `json:"at,omitzero"`
	Op Op        `json:"op"`
	// ProcedureVersion is the canonical one afterwards, Before the one before; 0 is none.
	Version int    `json:"version,omitempty"`
	Before  int    `json:"before,omitempty"`
	By      string `json:"by"`
	Turn    string `json:"turn,omitempty"`
}

// ProcedurePreview is what an agent sees of a procedure.
type ProcedurePreview struct {
	ID string `json:"id,omitempty"`
	// Line is what is in every context that the procedure fits, Body what an agent gets
	// that asks for it.
	Line string `json:"line"`
	Body string `json:"body"`
}

// MaxLineBytes bounds what a skill takes in a context, to about 50 tokens.
const MaxLineBytes = 220

// Line returns what an agent is shown of a procedure unasked.
func Line(name, trigger string) string {
	return clip(name+": "+strings.Join(strings.Fields(trigger), " "), MaxLineBytes)
}

// clip cuts s to at most n bytes, at a word where there is one near.
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

// TrimBody returns b without space around its entries and without empty ones. Lists
// are never nil.
func TrimBody(b Body) Body {
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

// Validate checks a trimmed body against the documented limits.
func (b Body) Validate() error {
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
		return ragctx.Invalid("tools", "are %d; the limit is %d", len(b.Tools), MaxEntries)
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

// Known is what there is of a procedure when a turn teaches another one.
type Known struct {
	Name string
	Body
}
