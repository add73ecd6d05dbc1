package memory

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// FindingsByRules returns the rules' findings in a turn, including rejected ones.
func FindingsByRules(t ragctx.Turn) []Finding {
	found := facts.Explain(t, t.Occurred)
	var out []Finding
	for _, f := range found.Facts {
		out = append(out, Finding{Fact: f, By: ragctx.ByTurn, Verdict: Store})
	}
	for _, f := range found.Below {
		below := Finding{
			Fact: f, By: ragctx.ByTurn, Verdict: Reject,
			Why: fmt.Sprintf("its confidence is %.2f; the least is %.2f", f.Confidence, facts.Gate),
		}
		if requested(t, below) && !reported(out, below) {
			below.Confidence, below.Verdict, below.Why = facts.Gate, Store, ""
		}
		out = append(out, below)
	}
	return quarantineOrders(t, append(out, plantedInstructions(t)...))
}

// FindingsByModel returns a model's findings in a turn. If none is accepted, it returns the user's
// instructions and preferences found by rules.
func FindingsByModel(t ragctx.Turn, a Extraction) []Finding {
	var out []Finding
	for _, item := range a.Items {
		f := Finding{Fact: item.Fact(), By: ragctx.ByModel, Verdict: Store}
		if item.From == SpeakerTool {
			if reason, ok := suspicious(f.Fact); ok {
				f.Verdict, f.Why = Quarantine, reason
			} else if item.Scope == ScopeUser {
				f.Verdict, f.Why = Quarantine, "stated about the user by a tool or document, not by the user"
			}
		}
		out = append(out, f)
	}
	none := len(out) == 0
	for _, f := range FindingsByRules(t) {
		standing := f.Kind == ragctx.FactInstruction || f.Kind == ragctx.FactPreference
		if f.Verdict == Store && (none && standing || requested(t, f) && !reported(out, f)) {
			out = append(out, f)
		}
	}
	for _, r := range a.Rejected {
		out = append(out, Finding{
			Fact: facts.Fact{Rule: RuleLLM}, By: ragctx.ByModel, Verdict: Reject,
			Why: fmt.Sprintf("item %d: %s", r.Index, r.Reason),
		})
	}
	return quarantineOrders(t, append(out, plantedInstructions(t)...))
}

// requested reports whether a finding states what the user asked to remember.
func requested(t ragctx.Turn, f Finding) bool {
	said := contentWords(f.Content)
	for s := range sentences(t.Transcript()[f.Span.Message].Content.String()) {
		if cue := remembers.FindStringIndex(s); cue != nil {
			if asked := slices.Collect(maps.Keys(contentWords(s[cue[1]:]))); len(asked) > 0 && share(asked, said) >= groundShare {
				return true
			}
		}
	}
	return false
}

// reported reports whether a finding of the model says what f says.
func reported(found []Finding, f Finding) bool {
	words := slices.Collect(maps.Keys(contentWords(f.Content)))
	return slices.ContainsFunc(found, func(o Finding) bool {
		return o.Verdict == Store && share(words, contentWords(o.Content)) >= groundShare
	})
}

// quarantineOrders quarantines what would make the agent drop its instructions, even in a user's words: users paste
// texts of others. It adds the sentences that ask to remember such an order.
func quarantineOrders(t ragctx.Turn, found []Finding) []Finding {
	for i, f := range found {
		if f.Verdict != Store {
			continue
		}
		if why, ok := redact.Subversion(f.Content); ok {
			found[i].Verdict, found[i].Why = Quarantine, why
		}
	}
	for i, m := range t.Transcript() {
		if m.Role != ragctx.RoleUser {
			continue
		}
		for s := range sentences(m.Content.String()) {
			cue := asksToRemember.FindStringIndex(s)
			if cue == nil {
				continue
			}
			why, ok := redact.Subversion(s[cue[1]:])
			if !ok || slices.ContainsFunc(found, func(f Finding) bool {
				return f.Verdict == Quarantine && strings.Contains(s, f.Content)
			}) {
				continue
			}
			found = append(found, order(s, i, "the user asks to remember it", why))
			if len(found) >= maxPlanted {
				return found
			}
		}
	}
	return found
}

// asksToRemember matches the beginning of a sentence that asks to store the rest.
var asksToRemember = regexp.MustCompile(`(?i)^\W*(?:please |bitte |and |und )?(?:remember|memori[sz]e|note|keep in mind|` +
	`don['’]t forget|save|store|add|merk|notier|speicher|vergiss nicht|denk|retiens|souviens|note|mémorise|` +
	`n['’]oublie pas|enregistre|recuerda|guarda|anota|memoriza|no olvides)`)

// remembers matches the beginning of a sentence that asks to remember the rest, and nothing else: "add" and "save"
// may ask for a change of a file.
var remembers = regexp.MustCompile(`(?i)^\W*(?:please |bitte |and |und |ok(?:ay)?,? )?(?:(?:can|could|would|will) you (?:please )?|` +
	`(?:kannst|könntest|würdest) du (?:dir )?(?:bitte )?|(?:peux|pourrais)-tu |(?:puedes|podrías) )?` +
	`(?:remember|memori[sz]e|keep in mind|don['’]t forget|(?:note|save|store) (?:that|this|down)|make a note|for future reference|` +
	`merk|notier|denke? dr?ar?an|vergiss nicht|behalte|retiens|retenir|souviens|note que|n['’]oublie pas|garde en t|mémorise|` +
	`recuerd|recordar|anota|apunta|memoriza|no olvides|ten en cuenta)`)

// order is the finding of a sentence that gives the agent an order.
func order(s string, message int, reason, why string) Finding {
	return Finding{
		Fact: facts.Fact{
			Kind: ragctx.FactInstruction, Content: sentence.Clip(s, maxPlantedChars), Importance: ragctx.DefaultImportance,
			Rule: "planted", Reason: reason, Span: ragctx.TurnSpan{Message: message},
		},
		By: ragctx.ByTurn, Verdict: Quarantine, Why: why,
	}
}

// suspicious reports why a fact supported only by a tool must not be trusted: it gives the agent an
// order.
func suspicious(f facts.Fact) (reason string, ok bool) {
	if f.Kind == ragctx.FactInstruction || f.Kind == ragctx.FactPreference {
		return "stated by a tool or document, not by the user, and gives the agent an order", true
	}
	if why, ok := redact.Instruction(f.Content); ok {
		return "stated by a tool or document: " + why, true
	}
	return "", false
}

// QuarantineReason reports why a received memory must be quarantined.
func QuarantineReason(m ragctx.Memory) (reason string, ok bool) {
	if m.Origin != ragctx.FromTool && m.Origin != ragctx.FromDocument {
		return "", false
	}
	why, ok := redact.Instruction(m.Content)
	return "stated by a " + string(m.Origin) + ": " + why, ok
}

// Bounds of the quarantined tool text of a turn, which may contain any number of traps.
const (
	maxPlanted      = 3
	maxPlantedChars = 500
)

// plantedInstructions returns the sentences in tool results that address the agent. They are quarantined for
// review.
func plantedInstructions(t ragctx.Turn) []Finding {
	var out []Finding
	for i, m := range t.Transcript() {
		for _, text := range results(m) {
			if _, ok := redact.Instruction(text); !ok {
				continue
			}
			for s := range sentences(text) {
				why, ok := redact.Instruction(s)
				if !ok {
					continue
				}
				out = append(out, order(s, i, "stated by a tool or document and addressed to the agent", why))
				if len(out) == maxPlanted {
					return out
				}
			}
		}
	}
	return out
}

func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		for line := range strings.Lines(text) {
			sentence.Sentences(strings.TrimSpace(line), func(s string) bool {
				more = yield(s)
				return more
			})
			if !more {
				return
			}
		}
	}
}

// results returns the texts of a message's tool results.
func results(m ragctx.Message) []string {
	var texts []string
	for _, b := range m.Content {
		if b.Type == ragctx.BlockToolResult {
			texts = append(texts, b.Content.String())
		}
	}
	if m.Role == ragctx.RoleTool {
		texts = append(texts, m.Content.String())
	}
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}
