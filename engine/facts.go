package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/memory"
)

// FactExtraction configures the extraction of facts from turns. The zero value extracts by rules.
type FactExtraction struct {
	// Off disables the extraction of facts. Turns are still remembered verbatim.
	Off bool
	// Model extracts facts that rules miss; nil uses only rules. While it fails, rules are used.
	// The caller closes it after the engine.
	Model llm.Generator
	// Wait bounds the model's time for a turn; 0 is [DefaultModelWait]. After that, rules are used.
	Wait time.Duration
}

// factExtractor extracts facts from completed turns, as the memory provider's turn observer.
type factExtractor struct {
	engine *core
	asker  *memory.FactExtractor // nil without a model
	wait   time.Duration         // the model's time limit

	changes *memory.ChangeFinder
}

// DefaultModelWait is the default time limit of a model for a turn. It allows for reasoning models.
const DefaultModelWait = 3 * time.Minute

// extractTimeout bounds the extraction from one turn, in addition to the model's time.
const extractTimeout = 2 * time.Minute

func (e *core) newFactExtractor() (*factExtractor, error) {
	l := &factExtractor{engine: e, changes: memory.NewChangeFinder()}
	o := e.opts.FactExtraction
	l.wait = cmp.Or(o.Wait, DefaultModelWait)
	if o.Model == nil {
		return l, nil
	}
	var err error
	l.asker, err = memory.NewFactExtractor(o.Model, func(s string) (string, bool) {
		out, found := memory.RedactText(s)
		return out, len(found) > 0
	}, memory.ExtractOptions{Now: e.opts.Now, Clean: memory.WithoutBlocks, Embedder: builtin.Default()})
	return l, err
}

var _ ragctx.TurnObserver = (*factExtractor)(nil)

// OnTurnComplete implements [ragctx.TurnObserver].
func (l *factExtractor) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	_, err := l.extract(ctx, t, false)
	return err
}

// Extraction is the result of extracting facts from a turn.
type Extraction struct {
	Findings []Extracted `json:"findings" nullable:"false"`
	// Note explains why results of the language model are missing.
	Note string `json:"note,omitempty"`
}

// Extracted is a fact found in a turn, and its effect.
type Extracted struct {
	memory.Finding

	// MemoryID is the memory with the fact, and Op the change to it. Both are empty for rejected
	// facts; Op is empty for a fact already known from this turn.
	MemoryID   string          `json:"memory_id,omitempty"`
	Op         ragctx.ChangeOp `json:"op,omitempty"`
	Superseded []string        `json:"superseded,omitempty"`
}

// Extract returns the facts that would be extracted if the turn were completed now, and their
// effects. It stores nothing.
func (e Sessions) Extract(ctx context.Context, t ragctx.Turn) (Extraction, error) {
	if err := memory.ValidateTurn(t); err != nil {
		return Extraction{}, err
	}
	if err := actAs(ctx, &t.UserID); err != nil {
		return Extraction{}, err
	}
	t.Namespace = namespaceName(t.Namespace)
	t.ID = cmp.Or(t.ID, "dry-run")
	if t.Occurred.IsZero() {
		t.Occurred = e.opts.Now()
	}
	t.Occurred = t.Occurred.UTC().Truncate(time.Microsecond)
	if !e.opts.KeepSecrets {
		before := ""
		if ns, err := e.namespace(ctx, t.Namespace, false); err == nil {
			if before, err = e.textBefore(ctx, ns, t); err != nil {
				return Extraction{}, err
			}
		}
		t, _ = memory.RedactTurn(t, before)
	}
	return e.factExtractor.extract(ctx, t, true)
}

// extract extracts facts, decides their effects, and stores them unless dry is set.
func (l *factExtractor) extract(ctx context.Context, t ragctx.Turn, dry bool) (Extraction, error) {
	out := Extraction{Findings: []Extracted{}}
	ns, err := l.engine.namespace(ctx, t.Namespace, false)
	exists := err == nil
	if err != nil && !isNotFound(err) {
		return out, err
	}
	var found []memory.Finding
	found, out.Note, err = l.find(ctx, t)
	if err != nil {
		return out, err
	}
	var rest []ragctx.Memory
	if exists {
		if rest, err = l.applyChanges(ctx, ns, t, found); err != nil {
			return out, err
		}
	}
	var extracted []store.ExtractedFact
	var at []int // indexes of the extracted facts in out.Findings
	for i, f := range found {
		out.Findings = append(out.Findings, Extracted{Finding: f})
		if f.Verdict == memory.Reject || !exists {
			continue
		}
		m := memory.FromFinding(t, f)
		if err := m.Validate(); err != nil {
			out.Findings[i].Verdict, out.Findings[i].Why = memory.Reject, err.Error()
			continue // keep the other findings
		}
		fact, err := l.prepare(ctx, t, f, m, dry)
		if err != nil {
			return out, err
		}
		extracted, at = append(extracted, fact), append(at, i)
	}
	for _, m := range rest {
		fact := store.ExtractedFact{Memory: m, By: ragctx.ByTurn, Remains: true}
		fact.Content.Text = m.Content
		if !dry {
			if fact.Content, err = l.engine.textContent(ctx, m.Content); err != nil {
				return out, err
			}
		}
		extracted = append(extracted, fact)
	}
	if len(extracted) == 0 {
		return out, nil
	}
	changes, seq, err := l.engine.store.StoreFacts(ctx, ns, extracted, dry)
	if err != nil {
		return out, err
	}
	for i, done := range changes {
		if i >= len(at) { // what is left of an obsolete memory
			if !dry && done.Op == ragctx.OpCreated {
				l.engine.publishStored(ctx, extracted[i].Memory)
			}
			continue
		}
		x := &out.Findings[at[i]]
		x.MemoryID, x.Op, x.Superseded = done.ID, done.Op, done.Superseded
		if !dry && done.Op == ragctx.OpCreated {
			l.engine.retriever.NoteFacts(ns)
			l.engine.publishStored(ctx, extracted[i].Memory)
		}
	}
	return out, l.engine.catchUpMemories(ctx, ns, seq)
}

// maxKnown bounds the memories of a user that a turn's facts are compared with: the newest.
const maxKnown = 500

// applyChanges finds the memories that the findings make obsolete. It returns what is left of those that are
// obsolete in part.
func (l *factExtractor) applyChanges(ctx context.Context, ns int64, t ragctx.Turn, found []memory.Finding) ([]ragctx.Memory, error) {
	f := store.MemoryFilter{
		UserID: t.UserID, Own: true, AgentID: t.AgentID, Now: l.engine.opts.Now(), Order: store.ByRecency, Limit: maxKnown,
		Types: []ragctx.MemoryType{ragctx.MemorySemantic, ragctx.MemoryProcedural},
	}
	return l.changes.Apply(t, found, func() ([]ragctx.Memory, error) {
		known, err := l.engine.store.ListMemories(ctx, ns, f)
		if err != nil {
			return nil, err
		}
		f.Types, f.Kinds = nil, []ragctx.FactKind{ragctx.FactEvent, ragctx.FactPlan}
		dated, err := l.engine.store.ListMemories(ctx, ns, f)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(append(known, dated...), func(m ragctx.Memory) bool {
			return m.UserID != t.UserID || m.AgentID != t.AgentID
		}), nil
	})
}

// find extracts facts from a turn: by the model if there is one, else by rules. If the model fails,
// rules are used and the note says so. If it finds nothing, rules still find explicit requests of
// the user to remember something.
func (l *factExtractor) find(ctx context.Context, t ragctx.Turn) (found []memory.Finding, note string, err error) {
	t = memory.BlankBlocks(t)
	if l.asker == nil {
		return memory.FindingsByRules(t), "", nil
	}
	related, err := l.related(ctx, t, peopleText(t), memory.MaxRelated)
	if err != nil {
		return nil, "", err
	}
	asked, err := l.ask(ctx, t, related)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		l.engine.opts.Logger.WarnContext(ctx, "the language model failed on a turn; facts are extracted by rules",
			"turn", t.ID, "error", err)
		return memory.FindingsByRules(t), "the language model failed: " + err.Error() + "; facts were extracted by rules", nil
	default:
		return memory.FindingsByModel(t, asked), "", nil
	}
}

// ask calls the model with its own timeout, so that a hanging model leaves time for the rules.
func (l *factExtractor) ask(ctx context.Context, t ragctx.Turn, related []ragctx.Memory) (memory.Extraction, error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	return l.asker.Extract(ctx, t, related)
}

// peopleText returns the text that related memories are searched with: the messages of people.
func peopleText(t ragctx.Turn) string {
	var texts []string
	for _, m := range t.Transcript() {
		if m.Role == ragctx.RoleUser || m.Name != "" {
			texts = append(texts, m.Content.String())
		}
	}
	return strings.Join(texts, "\n")
}

// prepare prepares a finding and its memory for the store.
func (l *factExtractor) prepare(
	ctx context.Context, t ragctx.Turn, f memory.Finding, m ragctx.Memory, dry bool,
) (store.ExtractedFact, error) {
	for i, e := range m.Sources {
		if now := l.engine.opts.Now(); e.At.After(now) {
			m.Sources[i].At = now // a time in the future must not win against later statements
		}
	}
	fact := store.ExtractedFact{Memory: m, By: f.By, Supersedes: f.Supersedes}
	if f.Verdict == memory.Quarantine {
		fact.Quarantine = f.Why
		return fact, nil
	}
	var err error
	if !dry {
		if fact.Content, err = l.engine.textContent(ctx, m.Content); err != nil {
			return fact, err
		}
	}
	fact.Content.Text = m.Content
	fact.Near, err = l.near(ctx, t, f)
	return fact, err
}

// nearCandidates is how many memories are compared with a new one.
const nearCandidates = 8

// near returns the id of a memory that says nearly the same as a finding, or "".
func (l *factExtractor) near(ctx context.Context, t ragctx.Turn, f memory.Finding) (string, error) {
	related, err := l.related(ctx, t, f.Content, nearCandidates)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(related, func(m ragctx.Memory) bool {
		return m.About.Kind == f.Kind && memory.NearDuplicate(m.Content, f.Content)
	})
	if i < 0 {
		return "", nil
	}
	return related[i].ID, nil
}

// maxRelatedChars bounds the text that related memories are searched with.
const maxRelatedChars = 2000

// related returns the facts of the turn's user and agent that match a text, best first.
func (l *factExtractor) related(ctx context.Context, t ragctx.Turn, text string, n int) ([]ragctx.Memory, error) {
	q := ragctx.NewQuery(sentence.Clip(text, maxRelatedChars)).WithMaxResults(n)
	q.Namespace, q.UserID, q.AgentID, q.Now = t.Namespace, t.UserID, t.AgentID, l.engine.opts.Now()
	q.Params = map[string]any{memory.ParamTime: false, memory.ParamConversation: false}
	q.Filter.Sources = []string{index.DerivedSource} // only facts: otherwise turns would replace their facts
	hits, _, err := l.engine.Indexes().Hits(ctx, q, HitsOptions{Kind: store.KindMemories, K: 4 * n})
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
