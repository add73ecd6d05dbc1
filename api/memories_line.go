package api

import (
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// memoryLine is a line of an export or import of memories.
type memoryLine struct {
	ID         string             `json:"id" maxLength:"512" doc:"memory id; preserved"`
	UserID     string             `json:"user_id,omitempty" maxLength:"512"`
	AgentID    string             `json:"agent_id,omitempty" maxLength:"512"`
	SessionID  string             `json:"session_id,omitempty" maxLength:"512"`
	Type       string             `json:"memory_type,omitempty" enum:"episodic,semantic,procedural,working" default:"episodic"`
	Content    string             `json:"content"`
	Importance *float64           `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"default 0.5"`
	Tags       []string           `json:"tags,omitempty" maxItems:"64"`
	Metadata   Metadata           `json:"metadata,omitempty"`
	Profile    bool               `json:"profile,omitempty"`
	Pinned     bool               `json:"pinned,omitempty"`
	Occurred   time.Time          `json:"occurred,omitzero"`
	Expires    time.Time          `json:"expires,omitzero"`
	About      *lineAbout         `json:"about,omitempty" doc:"attributes of an extracted fact"`
	Sources    []lineSource       `json:"sources,omitempty" maxItems:"1000" doc:"evidence in turns"`
	State      ragctx.MemoryState `json:"state,omitempty" doc:"only active memories are imported"`
	Uses       int                `json:"access_count,omitempty" minimum:"0"`
	LastUsed   time.Time          `json:"last_accessed,omitzero"`

	Namespace string                `json:"namespace,omitempty"`
	Score     float64               `json:"score,omitempty" doc:"exported only"`
	Recorded  time.Time             `json:"recorded,omitzero" doc:"exported only"`
	Version   int                   `json:"version,omitempty" doc:"exported only"`
	History   []ragctx.MemoryChange `json:"history,omitempty" doc:"exported only"`
}

// lineAbout is the JSON form of the attributes of an extracted fact.
type lineAbout struct {
	Kind       string  `json:"kind" enum:"preference,decision,instruction,identity,relation,plan,event,outcome"`
	Subject    string  `json:"subject,omitempty" maxLength:"1024"`
	Attribute  string  `json:"attribute,omitempty" maxLength:"1024"`
	Value      string  `json:"value,omitempty" maxLength:"4096"`
	Exclusive  bool    `json:"exclusive,omitempty"`
	Confidence float64 `json:"confidence,omitempty" minimum:"0" maximum:"1"`
	Rule       string  `json:"rule,omitempty" maxLength:"512"`
	Reason     string  `json:"reason,omitempty" maxLength:"4096"`
	When       string  `json:"when,omitempty" maxLength:"1024"`
}

// lineSource is the JSON form of the evidence for a memory.
type lineSource struct {
	Turn    string    `json:"turn" maxLength:"512"`
	Message int       `json:"message,omitempty" minimum:"0"`
	Start   int       `json:"start,omitempty" minimum:"0"`
	End     int       `json:"end,omitempty" minimum:"0"`
	At      time.Time `json:"at,omitzero"`
}

// lineOf converts a memory for an export.
func lineOf(m ragctx.Memory, history []ragctx.MemoryChange) memoryLine {
	l := memoryLine{
		ID: m.ID, UserID: m.UserID, AgentID: m.AgentID, SessionID: m.SessionID, Type: string(m.Type), Content: m.Content,
		Importance: &m.Importance, Tags: m.Tags, Metadata: m.Metadata, Profile: m.Profile, Pinned: m.Pinned,
		Occurred: m.Occurred, Expires: m.Expires, State: m.State, Uses: m.Uses, LastUsed: m.LastUsed,
		Namespace: m.Namespace, Score: m.Score, Recorded: m.Recorded, Version: m.Version, History: history,
	}
	if a := m.About; a != nil {
		l.About = &lineAbout{
			Kind: string(a.Kind), Subject: a.Subject, Attribute: a.Attribute, Value: a.Value, Exclusive: a.Exclusive,
			Confidence: a.Confidence, Rule: a.Rule, Reason: a.Reason, When: a.When,
		}
	}
	for _, e := range m.Sources {
		l.Sources = append(l.Sources, lineSource{Turn: e.Turn, Message: e.Message, Start: e.Start, End: e.End, At: e.At})
	}
	return l
}

// memory converts a line into a memory of a namespace.
func (l memoryLine) memory(namespace string) (ragctx.Memory, error) {
	m := ragctx.Memory{
		ID: l.ID, Namespace: namespace, UserID: l.UserID, AgentID: l.AgentID, SessionID: l.SessionID,
		Content: l.Content, Importance: ragctx.DefaultImportance, Tags: l.Tags, Metadata: l.Metadata,
		Profile: l.Profile, Pinned: l.Pinned, Occurred: l.Occurred, Expires: l.Expires, State: l.State, Uses: l.Uses,
		LastUsed: l.LastUsed,
	}
	if l.Importance != nil {
		m.Importance = *l.Importance
	}
	if m.Tags == nil {
		m.Tags = []string{}
	}
	if a := l.About; a != nil {
		kind, err := facts.ParseKind(a.Kind)
		if err != nil {
			return m, err
		}
		m.About = &ragctx.FactRecord{
			Kind: kind, Subject: a.Subject, Attribute: a.Attribute, Value: a.Value, Exclusive: a.Exclusive,
			Confidence: a.Confidence, Rule: a.Rule, Reason: a.Reason, When: a.When,
		}
	} else if len(l.Sources) > 0 {
		return m, ragctx.Invalid("sources", "requires about; send both, or neither")
	}
	for _, e := range l.Sources {
		m.Sources = append(m.Sources, ragctx.Provenance{
			TurnSpan: ragctx.TurnSpan{Message: e.Message, Start: e.Start, End: e.End}, Turn: e.Turn, At: e.At.UTC(),
		})
	}
	var err error
	m.Type, err = ragctx.ParseMemoryType(l.Type)
	return m, err
}
