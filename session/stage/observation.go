package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// PrefixMarker is how the message begins that tells of observations. Its role is that of a
// user: what tools have said is never told in a system message.
const PrefixMarker = session.NotesMarker

// Note is an observation: what a turn came to.
type Note struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	// Through is the id of the newest message that it tells of.
	Through string `json:"through,omitempty"`
	// Reflects are the ids of the notes that it takes the place of.
	Reflects []string `json:"reflects,omitempty"`
	// ByModel says that a model wrote it. Others never take the place of messages.
	ByModel bool `json:"by_model,omitempty" doc:"a language model wrote it; others are never shown in the place of messages"`
	// Intent is what the user wanted.
	Intent string `json:"intent"`
	// Rules are what the user ruled, decided and dated, word for word.
	Rules    []compact.Rule `json:"rules,omitempty" doc:"what the user ruled, decided and dated, word for word"`
	Findings []string       `json:"findings,omitempty"`
	Tools    []string       `json:"tools,omitempty"`
	Pending  []string       `json:"pending,omitempty"`
}

// Notes stores observations.
type Notes interface {
	// Notes returns those of a session that count, oldest first: the newest reflection, if
	// there is one, and what came after what it takes the place of.
	Notes(ctx context.Context, of Scope) ([]Note, error)
	// AddNote appends a note. A reflection comes where the newest of those was that it takes
	// the place of, which do not count any more. If one of them does not count already, as
	// another reflection took it, that is an [ragctx.ErrConflict].
	AddNote(ctx context.Context, of Scope, n Note) error
}

// DefaultKeepMessages is how many messages stay of those that observations tell of.
const DefaultKeepMessages = 20

// Observation is the stage that has a model's observations take the place of the messages
// that they tell of, once these do not fit any more. They are a prefix, after the system
// prompt, which has the same bytes as long as there is nothing new. Both are persisted, once.
type Observation struct {
	Notes Notes
	// Options say when messages do not fit: Threshold, Window, Fixed and Counter, which must
	// not be nil, count. The budget's window and fixed tokens take the place of theirs.
	Options compact.Options
	// KeepMessages is how many of the messages that the newest note tells of stay; 0 is
	// [DefaultKeepMessages], -1 none. So what is shown changes only with a new note.
	KeepMessages int
	// Steady has new notes wait, and their messages stay, until they become a reflection or
	// tell of many messages: each change of the prefix is one of all that comes after it,
	// which no cache of the prompt survives. It is for whole conversations, which a prefix
	// was not persisted in.
	Steady bool
}

// steadyMessages is how many messages new notes tell of that do not wait.
const steadyMessages = 60

// Name implements [Stage].
func (Observation) Name() string { return "observation" }

// Priority implements [Stage].
func (Observation) Priority() int { return ObservationPriority }

// EstimateTokens implements [Stage].
func (Observation) EstimateTokens(context.Context, *State) int { return 0 }

// Apply implements [Stage].
func (o Observation) Apply(ctx context.Context, s *State, messages []ragctx.Message, b Budget) ([]ragctx.Message, error) {
	if s.Layer != LayerObservation {
		return nil, Skipped(fmt.Sprintf("the session's layer of compression is %s", cmp.Or(s.Layer, LayerCompaction)))
	}
	at := prefixAt(messages)
	if at < 0 && slices.ContainsFunc(messages, func(m ragctx.Message) bool { _, ok := compact.SummaryText(m); return ok }) {
		return nil, Skipped("the conversation was compacted, which is its layer of compression")
	}
	notes, err := o.Notes.Notes(ctx, s.Scope)
	if err != nil {
		return nil, fmt.Errorf("read observations: %w", err)
	}
	if len(notes) == 0 {
		return nil, Skipped("there are no observations yet")
	}
	if slices.ContainsFunc(notes, func(n Note) bool { return !n.ByModel }) {
		return nil, Skipped("a note was made without a model, and cannot stand for its messages")
	}
	options := within(o.Options, b)
	if usage, _ := usageOf(s, messages, options); !options.Due(usage.Used, usage.Most) {
		return nil, Skipped(fmt.Sprintf("%d of %d tokens do not reach the threshold", usage.Used, usage.Most))
	}
	s.Observed = true
	if o.Steady && at < 0 {
		notes = settled(notes, messages)
	}
	prefix := Prefix(notes)
	rest := messages
	if at >= 0 {
		if messages[at].Content.String() == prefix {
			return nil, nil
		}
		rest = slices.Concat(messages[:at], messages[at+1:])
	}
	rest = o.without(rest, notes[len(notes)-1].Through)
	out := inserted(rest, ragctx.TextMessage(ragctx.RoleUser, prefix))
	s.Persist(out)
	return out, nil
}

// settled returns the notes that are shown: the first one, reflections, and those after
// which enough was said. Later notes and messages do not change that.
func settled(notes []Note, messages []ragctx.Message) []Note {
	places := make(map[string]int, len(messages))
	for i, m := range messages {
		places[m.ID] = i
	}
	shown, told := 0, 0
	for i, n := range notes {
		if at := places[n.Through]; i == 0 || len(n.Reflects) > 0 || at-told >= steadyMessages {
			shown, told = i+1, at
		}
	}
	return notes[:shown]
}

// without returns messages without those that observations tell of, but for the last ones
// of these, what must stay, and what belongs together with a message that stays.
func (o Observation) without(messages []ragctx.Message, through string) []ragctx.Message {
	last := slices.IndexFunc(messages, func(m ragctx.Message) bool { return through != "" && m.ID == through })
	to := last + 1 - max(cmp.Or(o.KeepMessages, DefaultKeepMessages), 0)
	if to <= 0 {
		return messages
	}
	must, groups := compact.Essential(messages), session.Groups(messages)
	begin := 0 // a conversation begins with a user
	for _, g := range groups {
		m := messages[g.From]
		opens := m.Role == ragctx.RoleUser && len(m.ToolResults()) == 0
		if must[g.From] && !session.IsSystem(m) || opens && g.To > to {
			begin = g.From
			break
		}
	}
	var out []ragctx.Message
	for _, g := range groups {
		if g.To > to && g.From >= begin || must[g.From] {
			out = append(out, messages[g.From:g.To]...)
		}
	}
	return out
}

// inserted returns messages with one after the system messages that they begin with.
func inserted(messages []ragctx.Message, m ragctx.Message) []ragctx.Message {
	at := 0
	for at < len(messages) && session.IsSystem(messages[at]) {
		at++
	}
	return slices.Insert(slices.Clone(messages), at, m)
}

// prefixRules is how many rules of the user a prefix has at most.
const prefixRules = 100

// Prefix returns the text that tells of notes. It depends on nothing else, and what a new
// note changes is its end: there stands what the user ruled, decided and dated.
func Prefix(notes []Note) string {
	var b strings.Builder
	var rules []compact.Rule
	b.WriteString(PrefixMarker)
	for _, n := range notes {
		b.WriteString("\n\nThe user wanted: " + n.Intent)
		list(&b, "Found", n.Findings)
		list(&b, "Done with tools", n.Tools)
		list(&b, "Pending", n.Pending)
		rules = append(rules, n.Rules...)
	}
	if d := compact.RulesDigest(compact.ActiveRules(rules), prefixRules); !d.Empty() {
		b.WriteString("\n\nIn the user's own words, which hold until the user says otherwise:\n" + d.String())
	}
	return b.String()
}

func list(b *strings.Builder, title string, items []string) {
	if len(items) > 0 {
		b.WriteString("\n" + title + ":\n- " + strings.Join(items, "\n- "))
	}
}
