// Package facts finds what a conversation says that is worth remembering: what
// somebody likes, decided, is called, plans; what happened and when; what an agent
// is told to do from now on.
//
// [Extract] asks no language model. It reads only what people say: a message of role
// user, or one whose name is that of a person. It folds the text (one byte a character,
// so that all positions are characters), makes unread what the speaker did not say
// (code, quotes, logs, letters, talk of others, blocks of context, games of pretence)
// and cuts the rest into sentences, and these into what they say and what they ask.
//
// Each of these units is weighed: a logistic regression over its words and their
// shapes, its first words, the times it names, what stands around it and what the
// message asks says how likely it is to be worth remembering, and of which kind. The
// weights are part of the program; train/README.md says how they are made. What is less
// likely than [Gate] is not to be stored; [Explain] shows it. Secrets, jokes and stories
// never are.
//
// Rules say more of what they match: whom it is about, what of it, and the value. They
// are tables by language, tried where a clause begins, after what only leads in ("btw",
// "remember that", "last Friday,"); each has sentences in which it must find something
// and others in which it must not, which are its tests. That a rule matches is one of
// the things that are weighed.
//
// A fact that is [Fact.Exclusive] takes the place of an older one with the same
// subject and attribute, as "home" of "user". What ended is such a fact, too, whose
// value begins with "not": after "I don't live in Berlin any more" the home of the
// user is "not Berlin". Opinions have the attribute "opinion of X" and the value
// "like", "dislike" or "prefer", so that a change of mind supersedes.
package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// Kind says what a fact is about.
type Kind string

// The kinds.
const (
	Preference  Kind = "preference"  // what somebody likes, wants or avoids
	Decision    Kind = "decision"    // what was settled
	Instruction Kind = "instruction" // what is to be done from now on, or is to be remembered
	Identity    Kind = "identity"    // who somebody or what something is: name, home, work, property
	Relation    Kind = "relation"    // who somebody is to somebody else
	Plan        Kind = "plan"        // what somebody is going to do
	Event       Kind = "event"       // what happened
	Outcome     Kind = "outcome"     // what a tool brought about, or why it failed
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Preference, Decision, Instruction, Identity, Relation, Plan, Event, Outcome}
}

// ParseKind reads a kind in any letter case.
func ParseKind(s string) (Kind, error) {
	k := Kind(strings.ToLower(s))
	if slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", ragctx.Invalid("kind", "%q is not a kind of fact; use preference, decision, instruction, identity, relation, plan, event or outcome", ragctx.Clip(s))
}

// Span is where in a turn the words of a fact stand.
type Span struct {
	// Message is the place in [ragctx.Turn.Transcript], from 0.
	Message int `json:"message"`
	// Start and End bound the words in the text of the message
	// ([ragctx.Content.String]), in Unicode code points, End excluded.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Fact is one thing that a turn says.
type Fact struct {
	Kind Kind `json:"kind"`
	// Content says it in a sentence that can be understood by itself: it names whom
	// it is about and says no more than the words do.
	Content string `json:"content"`
	// Subject is whom or what it is about, Attribute what of it, Value the rest:
	// "user", "favourite editor", "Helix". They are compared folded, see [Key].
	Subject   string `json:"subject,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	// Exclusive says that a subject has one value of the attribute at a time, so
	// that a new one takes the place of the old.
	Exclusive bool `json:"exclusive,omitempty"`
	// Confidence is how likely it is that the turn says this and means it to last,
	// Importance how much it matters; both are 0 to 1.
	Confidence float64 `json:"confidence"`
	Importance float64 `json:"importance"`
	// Rule names the rule that found it, or is "scored"; Reason says for people why.
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Span   Span   `json:"span"`
	// Occurred is when it happened or will, resolved against the time of the turn;
	// zero if the words name no time. When is how the words put it.
	Occurred time.Time `json:"occurred,omitzero"`
	When     string    `json:"when,omitempty"`
	// Profile says that it describes the user lastingly.
	Profile bool     `json:"profile,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	// Supersedes lists ids of memories that it takes the place of; only a language
	// model, which was shown them, can say so.
	Supersedes []string `json:"supersedes,omitempty"`
}

// Key folds a subject, attribute, value or content for comparison: lower case,
// letters and digits of any script, single spaces, no articles of English.
func Key(s string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), apart) {
		switch w {
		case "a", "an", "the":
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}
