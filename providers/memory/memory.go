// Package memory turns conversation turns and explicit notes into memories, and answers queries
// from them.
//
// A turn is stored verbatim as one episodic memory and can be found at once. Relevance is the match
// between text and query. Importance and recency are reported in addition; they rank the memories
// of a request without a query.
package memory

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

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
	return "", ragctx.Invalid("memory_type", "%q is unknown; use episodic, semantic, procedural or working", ragctx.Clip(s))
}

// DefaultImportance is the importance of a memory that sets none.
const DefaultImportance = 0.5

// Limits of one memory.
const (
	MaxMemoryBytes  = 1 << 20
	MaxMemoryTags          = 64
	MaxMemoryMetadata = 64 << 10
)

// Memory is one stored memory.
type Memory struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	Type    MemoryType   `json:"memory_type"`
	Content string `json:"content"`
	// Importance is between 0 and 1. Score combines it with recency at query time.
	Importance float64        `json:"importance"`
	Score      float64        `json:"score"`
	Tags       []string       `json:"tags"`
	Metadata   map[string]any `json:"metadata,omitempty"`

	Occurred time.Time `json:"occurred"`
	Recorded time.Time `json:"recorded"`
	Expires  time.Time `json:"expires,omitzero"`
	Version  int       `json:"version"`

	// Profile marks a lasting description of the user. Pinned memories are part of every answer.
	// Both belong in the stable part of a prompt.
	Profile bool `json:"profile,omitempty"`
	Pinned  bool `json:"pinned,omitempty"`

	// MemoryOrigin is the speaker of a received memory; it is not stored. A memory of a tool or document
	// that reads like an instruction is quarantined.
	Origin MemoryOrigin `json:"-"`

	State MemoryState `json:"state,omitempty"`
	// FactRecord and Sources describe a fact and the turns that state it. They are empty for a memory
	// stored by a caller.
	About   *FactRecord     `json:"about,omitempty"`
	Sources []Provenance `json:"sources,omitempty"`
	// Uses counts the answers that contained the memory; LastUsed is the time of the last one.
	Uses     int       `json:"access_count,omitempty"`
	LastUsed time.Time `json:"last_accessed,omitzero"`
}

// Validate checks m against the documented limits.
func (m *Memory) Validate() error {
	if strings.TrimSpace(m.Content) == "" {
		return ragctx.Invalid("content", "is empty; there is nothing to remember")
	}
	if len(m.Content) > MaxMemoryBytes {
		return ragctx.TooLarge("content", "is %d bytes long; the limit is %d: ingest it as a document instead",
			len(m.Content), MaxMemoryBytes)
	}
	if err := ragctx.ValidText("content", m.Content); err != nil {
		return err
	}
	if !(m.Importance >= 0 && m.Importance <= 1) {
		return ragctx.Invalid("importance", "is %v; use 0 to 1", m.Importance)
	}
	if len(m.Tags) > MaxMemoryTags {
		return ragctx.Invalid("tags", "lists %d tags; the limit is %d", len(m.Tags), MaxMemoryTags)
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
	return ragctx.ValidMetadata("metadata", m.Metadata, MaxMemoryMetadata)
}

// Weights are the weights of importance and recency in a memory's score.
type Weights struct {
	Decay      time.Duration // time for recency to fall to 1/e; 0 means 30 days
	Importance float64       // if both are 0: .7 and .3
	Recency    float64
}

// WithDefaults returns w with the defaults for unset fields.
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

// Chunks splits a memory's text into chunks.
func Chunks(text string) []chunk.Chunk { return chunk.Split(text, chunk.Options{}) }
