// Package memory remembers: it turns conversation turns and explicit notes into
// memories, and answers queries from them.
//
// A turn is kept word for word as one episodic memory and can be found at once.
// Relevance to a query is how well the text matches. Importance and recency are
// reported beside it and order what is asked for without a query.
package memory

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Type is the kind of a memory.
type Type string

// The memory types.
const (
	Episodic   Type = "episodic"   // something that happened; the default
	Semantic   Type = "semantic"   // a fact
	Procedural Type = "procedural" // how to do something
	Working    Type = "working"    // for now
)

// ParseType reads a memory type in any letter case; "" is [Episodic].
func ParseType(s string) (Type, error) {
	switch t := Type(strings.ToLower(s)); t {
	case Episodic, Semantic, Procedural, Working:
		return t, nil
	case "":
		return Episodic, nil
	}
	return "", ragctx.Invalid("memory_type", "%q is unknown; use episodic, semantic, procedural or working", ragctx.Clip(s))
}

// DefaultImportance is the importance of a memory that states none.
const DefaultImportance = 0.5

// Limits on one memory.
const (
	MaxContentBytes  = 1 << 20
	MaxTags          = 64
	MaxMetadataBytes = 64 << 10
)

// Memory is one remembered thing.
type Memory struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	Type    Type   `json:"memory_type"`
	Content string `json:"content"`
	// Importance is 0 to 1; Score weighs it with recency at the time of asking.
	Importance float64        `json:"importance"`
	Score      float64        `json:"score"`
	Tags       []string       `json:"tags"`
	Metadata   map[string]any `json:"metadata,omitempty"`

	Occurred time.Time `json:"occurred"`
	Recorded time.Time `json:"recorded"`
	Expires  time.Time `json:"expires,omitzero"`
	Version  int       `json:"version"`

	// Profile says that it describes its user lastingly, Pinned that it is wanted in
	// every answer; both are for the part of a prompt that rarely changes.
	Profile bool `json:"profile,omitempty"`
	Pinned  bool `json:"pinned,omitempty"`

	// Origin is whose words a memory that is sent has; it is not stored. What a tool or a
	// document says and reads like an instruction is put into quarantine.
	Origin Origin `json:"-"`

	State State `json:"state,omitempty"`
	// About and Sources say what was found in which turns; of a memory that somebody
	// told, there is neither.
	About   *About     `json:"about,omitempty"`
	Sources []Evidence `json:"sources,omitempty"`
	// Uses counts the answers that it was part of, LastUsed is when the last was.
	Uses     int       `json:"access_count,omitempty"`
	LastUsed time.Time `json:"last_accessed,omitzero"`
}

// Validate checks m against the documented limits.
func (m *Memory) Validate() error {
	if strings.TrimSpace(m.Content) == "" {
		return ragctx.Invalid("content", "is empty; there is nothing to remember")
	}
	if len(m.Content) > MaxContentBytes {
		return ragctx.TooLarge("content", "is %d bytes long; the limit is %d: ingest it as a document instead", len(m.Content), MaxContentBytes)
	}
	if err := ragctx.ValidText("content", m.Content); err != nil {
		return err
	}
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return ragctx.Invalid("importance", "is %v; use 0 to 1", m.Importance)
	}
	if len(m.Tags) > MaxTags {
		return ragctx.Invalid("tags", "lists %d tags; the limit is %d", len(m.Tags), MaxTags)
	}
	for _, f := range [...]struct{ field, value string }{
		{"id", m.ID}, {"namespace", m.Namespace}, {"user_id", m.UserID}, {"agent_id", m.AgentID}, {"session_id", m.SessionID},
	} {
		if err := ragctx.ValidName(f.field, f.value); err != nil {
			return err
		}
	}
	for i, t := range m.Tags {
		if t == "" {
			return ragctx.Invalid(fmt.Sprintf("tags[%d]", i), "is empty; leave it out")
		}
		if err := ragctx.ValidName(fmt.Sprintf("tags[%d]", i), t); err != nil {
			return err
		}
	}
	if err := ragctx.ValidTime("occurred", m.Occurred); err != nil {
		return err
	}
	if err := ragctx.ValidTime("expires", m.Expires); err != nil {
		return err
	}
	return ragctx.ValidMetadata("metadata", m.Metadata, MaxMetadataBytes)
}

// Weights says how importance and recency make a memory's score.
type Weights struct {
	Decay      time.Duration // after which recency has fallen to 1/e; 0 means 30 days
	Importance float64       // both 0 means .7 and .3
	Recency    float64
}

// WithDefaults returns w with what is unset filled in.
func (w Weights) WithDefaults() Weights {
	if w.Decay <= 0 {
		w.Decay = 30 * 24 * time.Hour
	}
	if w.Importance == 0 && w.Recency == 0 {
		w.Importance, w.Recency = 0.7, 0.3
	}
	return w
}

// Score returns importance·w + exp(−age/decay)·w, rounded. A time in the future counts as now.
func (w Weights) Score(importance float64, age time.Duration) float64 {
	w = w.WithDefaults()
	return ragctx.Rounded(importance*w.Importance + math.Exp(-max(age, 0).Seconds()/w.Decay.Seconds())*w.Recency)
}

// Chunks cuts a memory's text into units.
func Chunks(text string) []chunk.Chunk { return chunk.Split(text, chunk.Options{}) }
