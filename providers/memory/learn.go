package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// Finding is something that was found in a turn, and what is to become of it.
type Finding struct {
	facts.Fact

	By string `json:"by"` // turn or model
	// Verdict says what is to become of it, Why says why not more.
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
}

// Verdict is what is to become of something that was found.
type Verdict string

// The verdicts.
const (
	Store   Verdict = "store"
	SetAway Verdict = "quarantine"
	Leave   Verdict = "reject"
)

// Learned returns the memory that a finding of a turn becomes. Its id depends on turn
// and content alone, so that the same turn teaches the same memory.
func Learned(t ragctx.Turn, f Finding) Memory {
	occurred := f.Occurred
	if occurred.IsZero() {
		occurred = t.Occurred
	}
	m := Memory{
		ID: learnedID(t, f.Content), Namespace: t.Namespace, UserID: t.UserID, AgentID: t.AgentID, SessionID: t.SessionID,
		Type: typeOf(f.Kind), Content: f.Content, Importance: ragctx.Clamp01(f.Importance),
		Tags: tagsOf(f), Occurred: occurred, Profile: f.Profile,
		About: &About{
			Kind: f.Kind, Subject: f.Subject, Attribute: f.Attribute, Value: f.Value, Exclusive: f.Exclusive,
			Confidence: ragctx.Clamp01(f.Confidence), Rule: f.Rule, Reason: f.Reason, When: f.When,
		},
		Sources: []Evidence{{Span: f.Span, Turn: t.ID, At: t.Occurred}},
	}
	return m
}

func learnedID(t ragctx.Turn, content string) string {
	h := sha256.New()
	for _, s := range []string{t.Namespace, t.UserID, t.AgentID, t.ID, facts.Key(content)} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return "fact-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// typeOf returns the type of memory that a kind of fact is.
func typeOf(k facts.Kind) Type {
	switch k {
	case facts.Instruction, facts.Outcome:
		return Procedural
	case facts.Event, facts.Plan:
		return Episodic
	default:
		return Semantic
	}
}

func tagsOf(f Finding) []string {
	tags := slices.Concat([]string{string(f.Kind)}, f.Tags)
	slices.Sort(tags)
	tags = slices.Compact(tags)
	return tags[:min(len(tags), MaxTags)]
}

// NearlySame reports whether one of two facts says all that the other does, and
// little more. Denials, numbers and names make another fact.
func NearlySame(a, b string) bool {
	x, y := state(a), state(b)
	return x.holds(y) || y.holds(x)
}
