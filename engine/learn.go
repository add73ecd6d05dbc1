package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/memory"
)

// Learning says how turns are looked through for what is worth remembering. The zero
// value does it by rules.
type Learning struct {
	// Off learns nothing; turns are remembered word for word all the same.
	Off bool
	// Model finds what rules do not; nil is none. While it fails, rules do. It is the
	// caller's to close, after the engine.
	Model llm.Generator
	// Wait is how long the model has for a turn; 0 is [DefaultModelWait]. What it does
	// not answer in that time is learnt from by rules.
	Wait time.Duration
	// Ask says how the model is asked. Its Clean and Now are ignored.
	Ask memory.AskOptions
}

// learner finds in completed turns what is worth remembering. It is what the memory
// provider does with a turn.
type learner struct {
	engine *Engine
	asker  *memory.Asker // nil without a model
	wait   time.Duration // how long the model has
}

// DefaultModelWait is how long a model has for a turn: it thinks.
const DefaultModelWait = 3 * time.Minute

// learnTimeout bounds how long one turn is learnt from, beside what a model takes.
const learnTimeout = 2 * time.Minute

func (e *Engine) newLearner() (*learner, error) {
	l := &learner{engine: e}
	o := e.opts.Learning
	l.wait = cmp.Or(o.Wait, DefaultModelWait)
	if o.Model == nil {
		return l, nil
	}
	o.Ask.Now, o.Ask.Clean = e.opts.Now, memory.WithoutBlocks
	var err error
	l.asker, err = memory.NewAsker(o.Model, func(s string) (string, bool) {
		out, found := memory.RedactText(s)
		return out, len(found) > 0
	}, o.Ask)
	return l, err
}

var _ ragctx.TurnObserver = (*learner)(nil)

// OnTurnComplete implements [ragctx.TurnObserver].
func (l *learner) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	_, err := l.learn(ctx, t, false)
	return err
}

// Extraction is what was found in a turn.
type Extraction struct {
	Findings []Extracted `json:"findings" nullable:"false"`
	// Note says why what a language model was to find is not there.
	Note string `json:"note,omitempty"`
}

// Extracted is something that was found in a turn, and what became of it.
type Extracted struct {
	memory.Finding

	// MemoryID is the memory that says it, Op what happened to it; both are empty for
	// what was rejected, and Op for what was known from this turn.
	MemoryID   string    `json:"memory_id,omitempty"`
	Op         memory.Op `json:"op,omitempty"`
	Superseded []string  `json:"superseded,omitempty"`
}

// Extract finds in a turn what is worth remembering, without storing anything: it
// says what would become of it if the turn were completed now.
func (e *Engine) Extract(ctx context.Context, t ragctx.Turn) (Extraction, error) {
	if err := memory.ValidateTurn(t); err != nil {
		return Extraction{}, err
	}
	if err := actAs(ctx, &t.UserID); err != nil {
		return Extraction{}, err
	}
	t.Namespace = spaceName(t.Namespace)
	t.ID = cmp.Or(t.ID, "dry-run")
	if t.Occurred.IsZero() {
		t.Occurred = e.opts.Now()
	}
	t.Occurred = t.Occurred.UTC().Truncate(time.Microsecond)
	if !e.opts.KeepSecrets {
		t, _ = memory.RedactTurn(t)
	}
	return e.learner.learn(ctx, t, true)
}

// learn finds, decides and stores.
func (l *learner) learn(ctx context.Context, t ragctx.Turn, dry bool) (Extraction, error) {
	out := Extraction{Findings: []Extracted{}}
	ns, err := l.engine.namespace(ctx, t.Namespace, false)
	known := err == nil
	if err != nil && !isNotFound(err) {
		return out, err
	}
	var found []memory.Finding
	found, out.Note, err = l.find(ctx, t)
	if err != nil {
		return out, err
	}
	var lessons []store.Lesson
	var at []int // places of the lessons in the findings
	for i, f := range found {
		out.Findings = append(out.Findings, Extracted{Finding: f})
		if f.Verdict == memory.Leave || !known {
			continue
		}
		m := memory.Learned(t, f)
		if err := m.Validate(); err != nil {
			out.Findings[i].Verdict, out.Findings[i].Why = memory.Leave, err.Error()
			continue // what else was found is not lost with it
		}
		lesson, err := l.lesson(ctx, t, f, m, dry)
		if err != nil {
			return out, err
		}
		lessons, at = append(lessons, lesson), append(at, i)
	}
	if len(lessons) == 0 {
		return out, nil
	}
	learned, seq, err := l.engine.store.Learn(ctx, ns, lessons, dry)
	if err != nil {
		return out, err
	}
	for i, done := range learned {
		x := &out.Findings[at[i]]
		x.MemoryID, x.Op, x.Superseded = done.ID, done.Op, done.Superseded
		if !dry && done.Op == memory.OpCreated {
			l.engine.taught.Store(ns, struct{}{})
			l.engine.stored(ctx, lessons[i].Memory)
		}
	}
	return out, l.engine.followMemories(ctx, ns, seq)
}

// find looks through a turn: by the model, where there is one, else by rules. Where
// the model fails rules find what they can, which the note says; where it finds
// nothing, they find what the user explicitly asked for.
func (l *learner) find(ctx context.Context, t ragctx.Turn) (found []memory.Finding, note string, err error) {
	t = memory.BlankBlocks(t)
	if l.asker == nil {
		return memory.ByRules(t), "", nil
	}
	related, err := l.related(ctx, t, said(t), memory.MaxRelated)
	if err != nil {
		return nil, "", err
	}
	asked, err := l.ask(ctx, t, related)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		l.engine.opts.Logger.WarnContext(ctx, "the language model failed on a turn; it is learnt from by rules", "turn", t.ID, "error", err)
		return memory.ByRules(t), "the language model failed: " + err.Error() + "; this is what rules find", nil
	default:
		return memory.ByModel(t, asked), "", nil
	}
}

// ask asks the model, which has a time of its own: one that hangs leaves enough for
// the rules.
func (l *learner) ask(ctx context.Context, t ragctx.Turn, related []memory.Memory) (memory.Asked, error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	return l.asker.Ask(ctx, t, related)
}

// said returns the words that memories are related to: those of the people.
func said(t ragctx.Turn) string {
	var texts []string
	for _, m := range t.Transcript() {
		if m.Role == ragctx.RoleUser || m.Name != "" {
			texts = append(texts, m.Content.String())
		}
	}
	return strings.Join(texts, "\n")
}

// lesson prepares a finding, and the memory that it becomes, for the store.
func (l *learner) lesson(ctx context.Context, t ragctx.Turn, f memory.Finding, m memory.Memory, dry bool) (store.Lesson, error) {
	for i, e := range m.Sources {
		if now := l.engine.opts.Now(); e.At.After(now) {
			m.Sources[i].At = now // what is yet to come does not win for ever
		}
	}
	lesson := store.Lesson{Memory: m, By: f.By, Supersedes: f.Supersedes}
	if f.Verdict == memory.SetAway {
		lesson.Quarantine = f.Why
		return lesson, nil
	}
	var err error
	if !dry {
		if lesson.Content, err = l.engine.noteContent(ctx, m.Content); err != nil {
			return lesson, err
		}
	}
	lesson.Content.Text = m.Content
	lesson.Near, err = l.near(ctx, t, f)
	return lesson, err
}

// nearCandidates is how many memories are compared with a new one.
const nearCandidates = 8

// near returns a memory that says nearly what a finding says, or "".
func (l *learner) near(ctx context.Context, t ragctx.Turn, f memory.Finding) (string, error) {
	related, err := l.related(ctx, t, f.Content, nearCandidates)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(related, func(m memory.Memory) bool {
		return m.About.Kind == f.Kind && memory.NearlySame(m.Content, f.Content)
	})
	if i < 0 {
		return "", nil
	}
	return related[i].ID, nil
}

// maxRelatedChars is how much of a text related memories are looked for by.
const maxRelatedChars = 2000

// related returns facts of the turn's user and agent that match a text, best first.
func (l *learner) related(ctx context.Context, t ragctx.Turn, text string, n int) ([]memory.Memory, error) {
	q := ragctx.NewQuery(sentence.Clip(text, maxRelatedChars)).WithMaxResults(n)
	q.Namespace, q.UserID, q.AgentID, q.Now = t.Namespace, t.UserID, t.AgentID, l.engine.opts.Now()
	q.Params = map[string]any{memory.ParamTime: false, memory.ParamDialogue: false}
	q.Filter.Sources = []string{index.DerivedSource} // without it turns would stand in the place of their facts
	hits, _, err := l.engine.Hits(ctx, q, HitsOptions{Kind: store.Memories, K: 4 * n})
	if err != nil {
		return nil, err
	}
	ns, err := l.engine.namespace(ctx, t.Namespace, false)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, h := range hits {
		if !slices.Contains(keys, h.Key) {
			keys = append(keys, h.Key)
		}
	}
	return l.engine.store.Facts(ctx, ns, t.UserID, t.AgentID, keys, n)
}
