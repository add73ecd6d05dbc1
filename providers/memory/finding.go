package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// Finding is a fact found in a turn, with the decision what to do with it.
type Finding struct {
	facts.Fact

	By string `json:"by"` // turn or model
	// Verdict is the decision. Why explains a decision other than [Store].
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
}

// Verdict is the decision what to do with a finding.
type Verdict string

// Verdicts.
const (
	Store      Verdict = "store"
	Quarantine Verdict = "quarantine"
	Reject     Verdict = "reject"
)

// FromFinding returns the memory for a finding of a turn. Its id depends only on turn and content, so
// extracting twice is idempotent.
func FromFinding(t ragctx.Turn, f Finding) ragctx.Memory {
	occurred := f.Occurred
	if occurred.IsZero() {
		occurred = t.Occurred
	}
	m := ragctx.Memory{
		ID: findingID(t, f.Content), Namespace: t.Namespace, UserID: t.UserID, AgentID: t.AgentID, SessionID: t.SessionID,
		Type: typeOf(f.Kind), Content: f.Content, Importance: ragctx.Clamp01(f.Importance),
		Tags: tagsOf(f), Metadata: maps.Clone(t.Metadata), Occurred: occurred, Profile: f.Profile || standing(t, f),
		About: &ragctx.FactRecord{
			Kind: f.Kind, Subject: f.Subject, Attribute: f.Attribute, Value: f.Value, Exclusive: f.Exclusive,
			Confidence: ragctx.Clamp01(f.Confidence), Rule: f.Rule, Reason: f.Reason, When: f.When,
		},
		Sources: []ragctx.Provenance{{TurnSpan: f.Span, Turn: t.ID, At: t.Occurred}},
	}
	return m
}

// standing reports whether a rule's finding is a standing wish of the user. The wishes of named
// people in a conversation are their own.
func standing(t ragctx.Turn, f Finding) bool {
	messages := t.Transcript()
	if f.Rule == RuleLLM || f.Verdict != Store || f.Span.Message >= len(messages) {
		return false
	}
	m := messages[f.Span.Message]
	return m.Role == ragctx.RoleUser && m.Name == "" && facts.Standing(f.Fact)
}

func findingID(t ragctx.Turn, content string) string {
	h := sha256.New()
	for _, s := range []string{t.Namespace, t.UserID, t.AgentID, t.ID, analysis.StatementKey(content)} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return "fact-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// typeOf returns the memory type for a kind of fact.
func typeOf(k ragctx.FactKind) ragctx.MemoryType {
	switch k {
	case ragctx.FactInstruction, ragctx.FactOutcome:
		return ragctx.MemoryProcedural
	case ragctx.FactEvent, ragctx.FactPlan:
		return ragctx.MemoryEpisodic
	default:
		return ragctx.MemorySemantic
	}
}

func tagsOf(f Finding) []string {
	tags := slices.Concat([]string{string(f.Kind)}, f.Tags)
	slices.Sort(tags)
	tags = slices.Compact(tags)
	return tags[:min(len(tags), ragctx.MaxMemoryTags)]
}

// NearDuplicate reports whether one of two facts says all that the other says and little more. Facts
// with different negations, numbers or names differ.
func NearDuplicate(a, b string) bool {
	x, y := newStatement(a), newStatement(b)
	return x.covers(y) || y.covers(x)
}
