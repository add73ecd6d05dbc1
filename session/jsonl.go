package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
)

// jsonlVersion is the version of the format that [WriteJSONL] writes.
const jsonlVersion = 1

// Limits on the input: bytes per line, lines, and quarantined lines. They exceed the limits of any valid
// session.
const (
	maxLine        = 32 << 20
	maxLines       = 1_000_000
	maxQuarantined = 10_000
)

// line is a record of any type.
type line struct {
	Type      string     `json:"type"`
	Version   int        `json:"version,omitempty"`
	ID        string     `json:"id"`
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	// LeafID belongs to a session. Sections are written if one of them is empty.
	LeafID     string   `json:"leafId,omitempty"`
	Sections   []string `json:"sections,omitempty"`
	Parameters object   `json:"parameters,omitempty"`
	// ParentID, Section, Timestamp and Data belong to a message.
	ParentID  string          `json:"parentId,omitempty"`
	Section   *string         `json:"section,omitempty"`
	Timestamp *time.Time      `json:"timestamp,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	// TargetID and Label belong to a label; a null label removes it.
	TargetID string  `json:"targetId,omitempty"`
	Label    *string `json:"label,omitempty"`
}

// WriteJSONL writes a session, one record per line: a header {type session, version, id, createdAt,
// leafId}, then {type message, id, parentId, section, timestamp, data} for each message, {type
// label, id, parentId, targetId, label} for each label, and {type compaction, id, data} for each
// compaction. It rejects an invalid archive ([Archive.Validate]).
func WriteJSONL(w io.Writer, a Archive) error {
	if err := a.Validate(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	head := line{Type: "session", Version: jsonlVersion, ID: a.ID, CreatedAt: &a.CreatedAt, LeafID: a.Leaf, Parameters: a.Parameters}
	if names := StoreOf(a.Entries).Names(); !slices.Equal(names, a.Sections) {
		head.Sections = a.Sections
	}
	lines := []line{head}
	for i, entry := range a.Entries {
		data, err := EncodeMessage(entry.Message)
		if err != nil {
			return fmt.Errorf("entries[%d]: %w", i, err)
		}
		m := entry.Message
		lines = append(lines, line{
			Type: "message", ID: m.ID, ParentID: m.ParentID, Section: &entry.Section,
			Timestamp: stamp(m.CreatedAt), Data: data,
		})
	}
	for _, id := range slices.Sorted(maps.Keys(a.Labels)) {
		label := a.Labels[id]
		lines = append(lines, line{Type: "label", ID: "label-" + id, ParentID: id, TargetID: id, Label: &label})
	}
	for _, c := range a.Compactions {
		data, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("compaction %q: %w", ragctx.Clip(c.ID), err)
		}
		lines = append(lines, line{Type: "compaction", ID: c.ID, Timestamp: stamp(c.CreatedAt), Data: data})
	}
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return fmt.Errorf("write a session: %w", err)
		}
	}
	return nil
}

func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Quarantined is a line that could not be imported.
type Quarantined struct {
	Line   int // counted from 1
	Text   string
	Reason string
}

// ReadJSONL reads the output of [WriteJSONL] as far as possible. It returns damaged or truncated
// lines, lines of unknown types and references to missing messages with the reason, and the rest as
// a session that can be imported. If a damaged message still has its id and parent, its children
// are attached to its parent. It returns an error if reading fails, if the input contains no part
// of a session, or if it exceeds the limits.
func ReadJSONL(r io.Reader) (Archive, []Quarantined, error) {
	p := parser{index: make(map[string]int), lost: make(Lost), sections: make(map[string]bool)}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		if n > maxLines || len(p.quarantined) > maxQuarantined {
			return Archive{}, p.quarantined, ragctx.TooLarge("session",
				"has more than %d lines, or more than %d unreadable lines; import an exported session", maxLines, maxQuarantined)
		}
		text, tooLong, err := readLine(in)
		if tooLong {
			p.quarantine(n, text, fmt.Errorf("longer than %d bytes", maxLine))
		} else if len(bytes.TrimSpace(text)) > 0 {
			if err := p.parseLine(n, text); err != nil {
				p.quarantine(n, text, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Archive{}, nil, fmt.Errorf("read a session: %w", err)
		}
	}
	if !p.hasHeader && len(p.a.Entries) == 0 {
		return Archive{}, p.quarantined, ragctx.Invalid("session",
			"has no readable header or message; send lines of JSON, the first of type session")
	}
	p.finish()
	return p.a, p.quarantined, nil
}

// readLine reads a line of at most maxLine bytes, and skips the rest of a longer one.
func readLine(r *bufio.Reader) (text []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > maxLine; tooLong {
			text = text[:min(len(text), maxQuarantinedText)]
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, tooLong, err
		}
	}
}

// maxQuarantinedText is the number of bytes kept of a quarantined line.
const maxQuarantinedText = 1000

// parser builds an archive from lines.
type parser struct {
	a           Archive
	quarantined []Quarantined
	hasHeader   bool
	index       map[string]int
	lost        Lost
	sections    map[string]bool
	labels      []labelLine
	records     []compactionLine
}

type labelLine struct {
	line
	at   int
	text []byte
}

type compactionLine struct {
	Compaction
	at   int
	text []byte
}

func (p *parser) quarantine(n int, text []byte, why error) {
	text = bytes.TrimSpace(text)
	text = bytes.ToValidUTF8(text[:min(len(text), maxQuarantinedText)], []byte("\uFFFD"))
	p.quarantined = append(p.quarantined, Quarantined{n, string(text), why.Error()})
}

// maxDepth bounds the nesting of objects and arrays in a line. Content is decoded again at each
// level, so the cost grows with the depth.
const maxDepth = 64

// depth returns the nesting depth of objects and arrays in JSON.
func depth(text []byte) (most int) {
	at, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			at++
			most = max(most, at)
		case c == '}' || c == ']':
			at--
		}
	}
	return most
}

func (p *parser) parseLine(n int, text []byte) error {
	if d := depth(text); d > maxDepth {
		return fmt.Errorf("nests objects and arrays %d deep, the limit is %d", d, maxDepth)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	switch l.Type {
	case "session":
		return p.header(l)
	case "message":
		return p.message(l)
	case "label":
		p.labels = append(p.labels, labelLine{l, n, text})
	case "compaction":
		var c Compaction
		if err := json.Unmarshal(l.Data, &c); err != nil {
			return err
		}
		p.records = append(p.records, compactionLine{c, n, text})
	default:
		return fmt.Errorf("the type %q is unknown", ragctx.Clip(l.Type))
	}
	return nil
}

func (p *parser) header(l line) error {
	switch {
	case p.hasHeader:
		return errors.New("a second header")
	case l.Version > jsonlVersion:
		return fmt.Errorf("version %d is newer than %d", l.Version, jsonlVersion)
	}
	p.hasHeader = true
	p.a.ID, p.a.Leaf, p.a.Parameters = l.ID, l.LeafID, l.Parameters
	if l.CreatedAt != nil {
		p.a.CreatedAt = l.CreatedAt.UTC()
	}
	var bad error
	for _, name := range l.Sections {
		if err := CheckName("sections", name); err != nil {
			bad = err // the line is reported, but its other fields are used
			continue
		}
		p.addSection(name)
	}
	return bad
}

// addSection records the name of a section.
func (p *parser) addSection(name string) {
	if !p.sections[name] {
		p.sections[name] = true
		p.a.Sections = append(p.a.Sections, name)
	}
}

func (p *parser) message(l line) error {
	m, err := DecodeMessage(l.Data)
	section := SectionMessages
	if l.Section != nil {
		section = *l.Section
	}
	if l.ID != "" {
		m.ID = l.ID
	}
	m.ParentID = l.ParentID
	if m.CreatedAt.IsZero() && l.Timestamp != nil {
		m.CreatedAt = l.Timestamp.UTC()
	}
	if _, twice := p.index[m.ID]; twice {
		return fmt.Errorf("another message has the id %q", ragctx.Clip(m.ID))
	}
	if err == nil && m.ID == "" {
		err = errors.New("the message has no id")
	}
	for field, name := range map[string]string{"id": m.ID, "section": section} {
		if err == nil {
			err = CheckName(field, name)
		}
	}
	if err != nil {
		if l.ID != "" {
			p.lost[l.ID] = l.ParentID
		}
		return err
	}
	p.index[m.ID] = len(p.a.Entries)
	p.a.Entries = append(p.a.Entries, Entry{section, m})
	p.addSection(section)
	return nil
}

// finish resolves references once all messages are known: parents, the leaf, labels and
// compactions.
func (p *parser) finish() {
	p.lost.Relink(p.a.Entries)
	if n := len(p.a.Entries); p.a.Leaf != "" || !p.hasHeader {
		if p.a.Leaf = p.lost.nearest(p.a.Leaf, p.index); p.a.Leaf == "" && n > 0 {
			p.a.Leaf = p.a.Entries[n-1].Message.ID
		}
	}
	for _, l := range p.labels {
		switch _, ok := p.index[l.TargetID]; {
		case !ok:
			p.quarantine(l.at, l.text, fmt.Errorf("no message has the id %q", ragctx.Clip(l.TargetID)))
		case l.Label == nil || *l.Label == "":
			delete(p.a.Labels, l.TargetID)
		default:
			if p.a.Labels == nil {
				p.a.Labels = make(map[string]string)
			}
			p.a.Labels[l.TargetID] = *l.Label
		}
	}
	known := func(id string) bool {
		_, ok := p.index[id]
		return ok
	}
	for _, r := range p.records {
		have, taken := compactionSize(p.a.Compactions)
		c := Options{}.CompleteCompaction(r.Compaction)
		if err := CheckCompaction(c, have, taken, known); err != nil {
			p.quarantine(r.at, r.text, err)
			continue
		}
		p.a.Compactions = append(p.a.Compactions, c)
	}
	slices.SortFunc(p.quarantined, func(a, b Quarantined) int { return a.Line - b.Line })
}
