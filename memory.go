package ragctx

import (
	"fmt"
	"strings"
	"time"
)

// FactKind is the category of a fact.
type FactKind string

// Kinds of facts.
const (
	FactPreference  FactKind = "preference"  // likes, wants and aversions
	FactDecision    FactKind = "decision"    // a settled question
	FactInstruction FactKind = "instruction" // a standing order, or a request to remember
	FactIdentity    FactKind = "identity"    // name, home, work or property of a person or thing
	FactRelation    FactKind = "relation"    // a relation between people
	FactPlan        FactKind = "plan"        // an intention
	FactEvent       FactKind = "event"       // something that happened
	FactOutcome     FactKind = "outcome"     // the effect of a tool, or the cause of its failure
)

// TurnSpan is the position of a fact's words in a turn.
type TurnSpan struct {
	// Message is the index in [Turn.Transcript].
	Message int `json:"message"`
	// Start and End bound the words in the text of the message ([Content.String]), in
	// Unicode code points; End is exclusive.
	Start int `json:"start"`
	End   int `json:"end"`
}

// MemoryType is the kind of a memory.
type MemoryType string

// The memory types.
const (
	MemoryEpisodic   MemoryType = "episodic"   // an event; the default
	MemorySemantic   MemoryType = "semantic"   // a fact
	MemoryProcedural MemoryType = "procedural" // how to do something
	MemoryWorking    MemoryType = "working"    // for the current task
)

// ParseMemoryType parses a memory type, ignoring case; "" is [MemoryEpisodic].
func ParseMemoryType(s string) (MemoryType, error) {
	switch t := MemoryType(strings.ToLower(s)); t {
	case MemoryEpisodic, MemorySemantic, MemoryProcedural, MemoryWorking:
		return t, nil
	case "":
		return MemoryEpisodic, nil
	}
	return "", Invalid("memory_type", "%q is unknown; use episodic, semantic, procedural or working", Clip(s))
}

// DefaultImportance is the importance of a memory that sets none.
const DefaultImportance = 0.5

// Limits of one memory.
const (
	MaxMemoryBytes    = 1 << 20
	MaxMemoryTags     = 64
	MaxMemoryMetadata = 64 << 10
)

// Memory is one stored memory.
type Memory struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	Type    MemoryType `json:"memory_type"`
	Content string     `json:"content"`
	// Importance is between 0 and 1. Score combines it with recency at query time.
	Importance float64        `json:"importance"`
	Score      float64        `json:"score"`
	Tags       []string       `json:"tags"`
	Metadata   map[string]any `json:"metadata,omitempty"`

	Occurred time.Time `json:"occurred"`
	Recorded time.Time `json:"recorded"`
	Expires  time.Time `json:"expires,omitzero"`
	Version  int       `json:"version"`

	// Profile marks a lasting description of the user, and their standing wishes: instructions,
	// preferences and decisions. Pinned memories are part of every answer. Both belong in the
	// stable part of a prompt.
	Profile bool `json:"profile,omitempty"`
	Pinned  bool `json:"pinned,omitempty"`

	// MemoryOrigin is the speaker of a received memory; it is not stored. A memory of a tool or document
	// that reads like an instruction is quarantined.
	Origin MemoryOrigin `json:"-"`

	State MemoryState `json:"state,omitempty"`
	// FactRecord and Sources describe a fact and the turns that state it. They are empty for a memory
	// stored by a caller.
	About   *FactRecord  `json:"about,omitempty"`
	Sources []Provenance `json:"sources,omitempty"`
	// Uses counts the answers that contained the memory; LastUsed is the time of the last one.
	Uses     int       `json:"access_count,omitempty"`
	LastUsed time.Time `json:"last_accessed,omitzero"`
}

// Validate checks m against the documented limits.
func (m *Memory) Validate() error {
	if strings.TrimSpace(m.Content) == "" {
		return Invalid("content", "is empty; there is nothing to remember")
	}
	if len(m.Content) > MaxMemoryBytes {
		return TooLarge("content", "is %d bytes long; the limit is %d: ingest it as a document instead",
			len(m.Content), MaxMemoryBytes)
	}
	if err := ValidText("content", m.Content); err != nil {
		return err
	}
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return Invalid("importance", "is %v; use 0 to 1", m.Importance)
	}
	if len(m.Tags) > MaxMemoryTags {
		return Invalid("tags", "lists %d tags; the limit is %d", len(m.Tags), MaxMemoryTags)
	}
	for _, f := range [...]struct{ field, value string }{
		{"id", m.ID}, {"namespace", m.Namespace}, {"user_id", m.UserID}, {"agent_id", m.AgentID}, {"session_id", m.SessionID},
	} {
		if err := ValidName(f.field, f.value); err != nil {
			return err
		}
	}
	for i, t := range m.Tags {
		if t == "" {
			return Invalid(fmt.Sprintf("tags[%d]", i), "is empty; leave it out")
		}
		if err := ValidName(fmt.Sprintf("tags[%d]", i), t); err != nil {
			return err
		}
	}
	if err := ValidTime("occurred", m.Occurred); err != nil {
		return err
	}
	if err := ValidTime("expires", m.Expires); err != nil {
		return err
	}
	return ValidMetadata("metadata", m.Metadata, MaxMemoryMetadata)
}

// MemoryState determines whether a memory is found, and why not.
type MemoryState string

// States.
const (
	MemoryActive      MemoryState = "active"
	MemorySuperseded  MemoryState = "superseded"  // replaced by another memory; found as of earlier times
	MemoryQuarantined MemoryState = "quarantined" // waits for release or deletion by a reviewer
	MemoryExpired     MemoryState = "expired"     // past its expiry; found as of earlier times
	MemoryDeleted     MemoryState = "deleted"     // found as of earlier times
)

// MemoryOrigin is the speaker of a memory.
type MemoryOrigin string

// Origins.
const (
	FromCaller   MemoryOrigin = "" // the caller; the default
	FromUser     MemoryOrigin = "user"
	FromAgent    MemoryOrigin = "agent"
	FromTool     MemoryOrigin = "tool"
	FromDocument MemoryOrigin = "document"
)

// ParseMemoryOrigin parses an origin, ignoring case.
func ParseMemoryOrigin(s string) (MemoryOrigin, error) {
	switch o := MemoryOrigin(strings.ToLower(s)); o {
	case FromCaller, FromUser, FromAgent, FromTool, FromDocument:
		return o, nil
	}
	return "", Invalid("origin", "%q is unknown; use user, agent, tool or document", Clip(s))
}

// FactRecord is the fact record of a memory that was extracted from a turn.
type FactRecord struct {
	Kind FactKind `json:"kind"`
	// Subject, Attribute and Value are the parts of the statement. Exclusive means that a new value
	// supersedes the old one. See [facts.Fact].
	Subject   string `json:"subject,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	Exclusive bool   `json:"exclusive,omitempty"`
	// Confidence is between 0 and 1. Rule names the rule that matched, Reason explains it.
	Confidence float64 `json:"confidence"`
	Rule       string  `json:"rule"`
	Reason     string  `json:"reason"`
	// When is the turn's wording of Occurred.
	When string `json:"when,omitempty"`
}

// Provenance is a place in a turn that states a memory's content.
type Provenance struct {
	TurnSpan

	Turn string    `json:"turn"`
	At   time.Time `json:"at"` // when the turn occurred
}
