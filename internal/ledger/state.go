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

// StateVersion is the version of the form of a [State].
const StateVersion = 1

// The sections of a state that topics fold into by rules of their own.
const (
	SectionTask       = "task"
	SectionPlan       = "plan"
	SectionProgress   = "progress"
	SectionValidation = "validation"
	SectionDebug      = "debug"
)

var sections = []string{SectionTask, SectionPlan, SectionProgress, SectionValidation, SectionDebug}

// State is where the work of a cluster stands, as its messages say. In JSON the
// sections are fields beside the others. A State is never changed; a [Folder] makes
// new ones.
type State struct {
	Version int
	// UpdatedAt and SourceMessageID are the timestamp and the id of the newest message
	// that the state has taken in.
	UpdatedAt       int64
	ClusterID       string
	SourceMessageID string
	// Sections have what is known, as JSON: nothing that is null or empty, but false,
	// 0 and "".
	Sections map[string]Section
}

// Section is one part of a state. Its values are strings, bools, [json.Number]s, and
// lists and maps of such.
type Section map[string]any

// IsZero reports whether no message was taken in.
func (s State) IsZero() bool { return s.SourceMessageID == "" }

// names returns the sections that are there, the known ones first.
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

// MarshalJSON writes the state, the same one always the same way.
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

// plainJSON writes v without the escapes that only web pages need: models read it.
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

// UnmarshalJSON reads what [State.MarshalJSON] writes.
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

// set puts a section in; one without content goes out. The map must be the caller's own.
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

// CheckSections checks which topics are to be folded into which sections: one of the
// known ones, by their rules, or one of the caller's own, which then has the newest
// message's text and the plain values of its data. Names are small letters, digits and
// underscores.
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
			return ragctx.Invalid("sections", "%q of topic %s is no name of a section; use 1 to 40 small letters, digits and underscores, a letter first",
				ragctx.Clip(name), ragctx.Clip(topic))
		}
	}
	return nil
}

// MaxSections is how many topics may be folded into sections beside the known ones.
const MaxSections = 32

func sectionName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 40 && strings.Trim(s, letters+"0123456789_") == "" && strings.Contains(letters, s[:1]) && s != "version"
}
