// Package facts extracts memorable facts from conversations: preferences, decisions, names, plans,
// events with their times, and standing instructions to an agent.
//
// [Explain] calls no language model. It reads only what people say: messages of role user, and
// messages with a person's name. It folds the text to one byte per character, so that all positions
// are characters. It masks everything the speaker did not say (code, quotes, logs, letters,
// conversations of others, context blocks, role play), splits the rest into sentences, and those
// into statements and requests.
//
// Each of these units is scored by a logistic regression. Its features are the words and their
// shapes, the first words, the times named, the surroundings and the message's request; the result
// is the probability that the unit is worth remembering, and its kind. The weights are embedded;
// train/README.md describes the training. Facts below [Gate] are not to be stored; [Explain]
// returns them. Secrets, jokes and fiction never pass.
//
// Rules refine their matches with the subject, the attribute and the value. They are tables by
// language, applied at the start of each clause after introductory words ("btw", "remember that",
// "last Friday,"). Each rule lists sentences that it must match and sentences that it must not
// match; both are tests. The rules that match are features of the regression, too.
//
// A [Fact.Exclusive] fact supersedes an older one with the same subject and attribute, such as
// "home" of "user". The end of a state is such a fact, too, with a value that begins with "not":
// after "I don't live in Berlin any more" the home of the user is "not Berlin". Opinions have the
// attribute "opinion of X" and the value "like", "dislike" or "prefer", so that a change of mind
// supersedes.
package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// Kinds returns all kinds.
func Kinds() []ragctx.FactKind {
	return []ragctx.FactKind{
		ragctx.FactPreference, ragctx.FactDecision, ragctx.FactInstruction, ragctx.FactIdentity,
		ragctx.FactRelation, ragctx.FactPlan, ragctx.FactEvent, ragctx.FactOutcome,
	}
}

// ParseKind parses a kind, ignoring case.
func ParseKind(s string) (ragctx.FactKind, error) {
	k := ragctx.FactKind(strings.ToLower(s))
	if slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", ragctx.Invalid("kind", "%q is not a kind of fact; use preference, decision, instruction, identity, "+
		"relation, plan, event or outcome", ragctx.Clip(s))
}

// Fact is one statement extracted from a turn.
type Fact struct {
	Kind ragctx.FactKind `json:"kind"`
	// Content is a self-contained sentence. It names its subject and adds nothing to the speaker's
	// words.
	Content string `json:"content"`
	// Subject, Attribute and Value are the parts of the statement: "user", "favourite editor",
	// "Helix". They are compared folded, see [analysis.StatementKey].
	Subject   string `json:"subject,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	// Exclusive means that a subject has one value of the attribute at a time: a new one supersedes
	// the old.
	Exclusive bool `json:"exclusive,omitempty"`
	// Confidence is the probability that the turn states this fact and means it to last. Importance
	// is its weight. Both are between 0 and 1.
	Confidence float64 `json:"confidence"`
	Importance float64 `json:"importance"`
	// Rule is the name of the rule that matched, or "scored". Reason explains the fact to people.
	Rule   string          `json:"rule"`
	Reason string          `json:"reason"`
	Span   ragctx.TurnSpan `json:"span"`
	// Occurred is the past or future time of the fact, resolved against the time of the turn; zero
	// if the words name none. When is the speaker's wording of it.
	Occurred time.Time `json:"occurred,omitzero"`
	When     string    `json:"when,omitempty"`
	// Now is set if the speaker's words say that it holds from now on, although Content does not.
	Now bool `json:"-"`
	// Profile marks a lasting description of the user.
	Profile bool     `json:"profile,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	// Supersedes lists ids of the memories that the fact replaces.
	Supersedes []string `json:"supersedes,omitempty"`

	// Unclaimed is set for words that state nothing: a question, a condition, a joke, a secret.
	Unclaimed bool `json:"-"`
	// Matched is the end of a rule's match before it was cut to its piece of the sentence.
	Matched int `json:"-"`
}

// matchedEnd returns the end of the words in which the fact was found.
func (f Fact) matchedEnd() int { return max(f.Span.End, f.Matched) }
