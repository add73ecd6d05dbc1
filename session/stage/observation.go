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

// PrefixMarker begins the message with the observations. Its role is user, because tool output must
// not appear in a system message.
const PrefixMarker = session.NotesMarker

// Note is an observation: a summary of a turn.
type Note struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	// Through is the id of the newest message that it covers.
	Through string `json:"through,omitempty"`
	// Reflects lists the ids of the notes that it replaces.
	Reflects []string `json:"reflects,omitempty"`
	// ByModel means that a model wrote the note. Other notes never replace messages.
	ByModel bool `json:"by_model,omitempty" doc:"a language model wrote it; others are never shown in the place of messages"`
	// Intent is the request of the user.
	Intent string `json:"intent"`
	// Rules are rules, decisions and dates of the user, verbatim.
	Rules    []compact.Rule `json:"rules,omitempty" doc:"the user's rules, decisions and dates, word for word"`
	Findings []string       `json:"findings,omitempty"`
	Tools    []string       `json:"tools,omitempty"`
	Pending  []string       `json:"pending,omitempty"`
}

// Notes stores observations.
type Notes interface {
	// Notes returns the active notes of a session, oldest first: the newest reflection, if any, and
	// the notes after those that it replaces.
	Notes(ctx context.Context, of Scope) ([]Note, error)
	// AddNote appends a note. A reflection takes the position of the newest note that it replaces,
	// and deactivates the replaced ones. If one of them is inactive because of another reflection,
	// AddNote returns [ragctx.ErrConflict].
	AddNote(ctx context.Context, of Scope, n Note) error
}

// DefaultKeepMessages is the number of covered messages that stay.
const DefaultKeepMessages = 20

// Observation is the stage that replaces messages by a model's observations of them once the
// messages do not fit any more. The observations form a prefix after the system prompt, which stays
// byte-identical until a new note is added. The stage persists the result once.
type Observation struct {
	Notes Notes
	// Options configure when messages do not fit. Only Threshold, Window, Fixed and Counter, which
	// must not be nil, apply. Window and fixed tokens of the budget override theirs.
	Options compact.Options
	// KeepMessages is the number of messages covered by the newest note that stay; 0 selects
	// [DefaultKeepMessages], -1 means none. The view thus changes only with a new note.
	KeepMessages int
	// Steady delays new notes, and keeps their messages, until they become a reflection or cover
	// many messages. Each change of the prefix invalidates the provider's cache for everything
	// after it. Steady is for complete conversations that contain no persisted prefix.
	Steady bool
}

// steadyMessages is the number of covered messages at which new notes are shown.
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
	at := prefixIndex(messages)
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
		return nil, Skipped("a note was made without a model and cannot replace its messages")
	}
	options := withBudget(o.Options, b)
	if usage, _ := usageOf(s, messages, options); !options.Due(usage.Used, usage.Most) {
		return nil, Skipped(fmt.Sprintf("%d of %d tokens do not reach the threshold", usage.Used, usage.Most))
	}
	s.Observed = true
	if o.Steady && at < 0 {
		notes = settledNotes(notes, messages)
	}
	prefix := Prefix(notes)
	rest := messages
	if at >= 0 {
		if messages[at].Content.String() == prefix {
			return nil, nil
		}
		rest = slices.Concat(messages[:at], messages[at+1:])
	}
	rest = o.dropObserved(rest, notes[len(notes)-1].Through)
	out := insertAfterSystem(rest, ragctx.TextMessage(ragctx.RoleUser, prefix))
	s.Persist(out)
	return out, nil
}

// settledNotes returns the notes to show: the first one, reflections, and notes that cover enough
// messages. Later notes and messages do not change the choice.
func settledNotes(notes []Note, messages []ragctx.Message) []Note {
	places := make(map[string]int, len(messages))
	for i, m := range messages {
		places[m.ID] = i
	}
	shown, covered := 0, 0
	for i, n := range notes {
		if at := places[n.Through]; i == 0 || len(n.Reflects) > 0 || at-covered >= steadyMessages {
			shown, covered = i+1, at
		}
	}
	return notes[:shown]
}

// dropObserved removes the messages that observations cover. It keeps the last of them, essential
// messages, and their groups.
func (o Observation) dropObserved(messages []ragctx.Message, through string) []ragctx.Message {
	last := slices.IndexFunc(messages, func(m ragctx.Message) bool { return through != "" && m.ID == through })
	to := last + 1 - max(cmp.Or(o.KeepMessages, DefaultKeepMessages), 0)
	if to <= 0 {
		return messages
	}
	must, groups := compact.Essential(messages), session.Groups(messages)
	begin := 0 // a conversation begins with a user message
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

// insertAfterSystem inserts a message after the leading system messages.
func insertAfterSystem(messages []ragctx.Message, m ragctx.Message) []ragctx.Message {
	at := 0
	for at < len(messages) && session.IsSystem(messages[at]) {
		at++
	}
	return slices.Insert(slices.Clone(messages), at, m)
}

// prefixRules is the maximum number of rules in a prefix.
const prefixRules = 100

// Prefix returns the text of notes. It depends only on the notes. A new note changes only the end,
// where the rules, decisions and dates of the user stand.
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
