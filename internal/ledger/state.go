package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// StateVersion is the format version of a [State].
const StateVersion = 1

// The sections with folding rules of their own.
const (
	SectionTask       = "task"
	SectionPlan       = "plan"
	SectionProgress   = "progress"
	SectionValidation = "validation"
	SectionDebug      = "debug"
)

var sections = []string{SectionTask, SectionPlan, SectionProgress, SectionValidation, SectionDebug}

// State is the state of a cluster's work according to its messages. In JSON the sections are
// top-level fields. A State never changes; a [Folder] returns new ones.
type State struct {
	Version int
	// UpdatedAt and SourceMessageID are the timestamp and the id of the newest folded message.
	UpdatedAt       int64
	ClusterID       string
	SourceMessageID string
	// Sections are JSON values without null and empty ones; false, 0 and "" stay.
	Sections map[string]Section
}

// Section is one part of a state. Its values are strings, bools, [json.Number]s, lists and maps of
// these.
type Section map[string]any

// IsZero reports whether no message has been folded.
func (s State) IsZero() bool { return s.SourceMessageID == "" }

// names returns the names of the sections, known ones first.
func (s State) names() []string {
	var own, known []string
	for _, name := range slices.Sorted(maps.Keys(s.Sections)) {
		if !slices.Contains(sections, name) {
			own = append(own, name)
		}
	}
	for _, name := range sections {
		if _, ok := s.Sections[name]; ok {
			known = append(known, name)
		}
	}
	return append(known, own...)
}

// MarshalJSON encodes the state deterministically.
func (s State) MarshalJSON() ([]byte, error) {
	head, err := plainJSON(stateHead{s.Version, s.UpdatedAt, s.ClusterID, s.SourceMessageID})
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(head[:len(head)-1])
	for _, name := range s.names() {
		raw, err := plainJSON(s.Sections[name])
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", name, err)
		}
		fmt.Fprintf(b, ",%q:%s", name, raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainJSON encodes v without HTML escapes: models read it.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type stateHead struct {
	Version         int    `json:"version"`
	UpdatedAt       int64  `json:"updatedAt"`
	ClusterID       string `json:"clusterId"`
	SourceMessageID string `json:"sourceMessageId"`
}

// UnmarshalJSON decodes the output of [State.MarshalJSON].
func (s *State) UnmarshalJSON(b []byte) error {
	var head stateHead
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	rest := object(b)
	*s = State{Version: head.Version, UpdatedAt: head.UpdatedAt, ClusterID: head.ClusterID, SourceMessageID: head.SourceMessageID}
	for name, raw := range rest {
		if slices.Contains(headFields, name) {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var sec Section
		if err := dec.Decode(&sec); err != nil {
			return fmt.Errorf("section %s: %w", name, err)
		}
		s.set(name, sec)
	}
	return nil
}

var headFields = []string{"version", "updatedAt", "clusterId", "sourceMessageId"}

// set replaces a section; an empty section is removed. The caller must own the map.
func (s *State) set(name string, sec Section) {
	if len(sec) == 0 {
		delete(s.Sections, name)
		return
	}
	if s.Sections == nil {
		s.Sections = make(map[string]Section)
	}
	s.Sections[name] = sec
}

// CheckSections validates a mapping of topics to sections. A known section applies its own rules.
// Another section gets the newest message's text and the scalar values of its data. Names are
// lower-case letters, digits and underscores.
func CheckSections(topics map[string]string) error {
	if len(topics) > MaxSections {
		return ragctx.Invalid("sections", "are of %d topics; the limit is %d", len(topics), MaxSections)
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		name := topics[topic]
		switch {
		case topic == "" || topic == TopicStateSnapshot || topic == TopicContextMetrics:
			return ragctx.Invalid("sections", "topic %q cannot be folded into a section; name a topic that agents publish", topic)
		case !sectionName(name):
			return ragctx.Invalid("sections",
				"%q of topic %s is not a section name; use 1 to 40 lower-case letters, digits and underscores, starting with a letter",
				ragctx.Clip(name), ragctx.Clip(topic))
		}
	}
	return nil
}

// MaxSections limits the topics that the caller can map to sections.
const MaxSections = 32

func sectionName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 40 && strings.Trim(s, letters+"0123456789_") == "" && strings.Contains(letters, s[:1]) && s != "version"
}
