package procedures

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
)

// Name is the provider's name.
const Name = "skills"

// MaxProcedures is the largest number of procedures in one answer.
const MaxProcedures = 5

// Source is the store that the provider reads from.
type Source interface {
	// Published returns the published procedures of a namespace, of all owners, by name. They are as
	// of the query's AsOf. The caller must not change them.
	Published(ctx context.Context, q ragctx.ContextQuery) ([]PublishedProcedure, error)
}

// Provider offers agents the published procedures that match a query: name and trigger, without the
// body. It implements [ragctx.ContextProvider].
type Provider struct {
	source   Source
	meanings *meanings
}

// NewProvider returns a provider over source. The embedder finds procedures that a question asks for
// in other words. It is loaded when there is a procedure to compare with a question.
func NewProvider(source Source, embedder func() embed.Embedder) *Provider {
	return &Provider{source, newMeanings(embedder)}
}

// Forget removes what the provider keeps of procedures, after an erasure.
func (p *Provider) Forget() { p.meanings.forget() }

var _ ragctx.ContextProvider = (*Provider)(nil)

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return Name }

// Query implements [ragctx.ContextProvider]. Without a question it lists all procedures by name, if
// the query asks for their type.
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: Name}
	only := len(q.ContextTypes) > 0 && slices.Contains(q.ContextTypes, ragctx.TypeSkill)
	if !q.Wants(ragctx.TypeSkill) || q.Query == "" && !only {
		return res, nil
	}
	all, err := p.source.Published(ctx, q)
	if err != nil {
		return res, fmt.Errorf("procedures: %w", err)
	}
	visible := visibleTo(all, q)
	if q.Query == "" {
		list(&res, visible, q)
	} else {
		p.answer(ctx, &res, visible, q)
	}
	if res.IsEmpty() {
		res.Note = "no published procedure in scope fits the query"
	}
	return res, nil
}

// visibleTo returns the procedures visible to a query and not excluded. Of several with the same name it
// returns the most specific: the user's first, then the agent's.
func visibleTo(all []PublishedProcedure, q ragctx.ContextQuery) []*PublishedProcedure {
	var out []*PublishedProcedure
	for i := range all {
		s := &all[i]
		if !s.ID.VisibleTo(q.UserID, q.AgentID) || !matchesFilter(s, q.Filter) {
			continue
		}
		if n := len(out) - 1; n >= 0 && out[n].ID.Name == s.ID.Name {
			if moreSpecific(s.ID.ProcedureOwner, out[n].ID.ProcedureOwner) {
				out[n] = s
			}
			continue
		}
		out = append(out, s)
	}
	return slices.DeleteFunc(out, func(s *PublishedProcedure) bool { return slices.Contains(q.Exclude, s.ID.String()) })
}

// moreSpecific reports whether owner a is more specific than b, both being visible.
func moreSpecific(a, b ragctx.ProcedureOwner) bool {
	if (a.UserID == "") != (b.UserID == "") {
		return a.UserID != ""
	}
	return a.AgentID != "" && b.AgentID == ""
}

// matchesFilter reports whether a procedure passes a filter. Procedures have no tags, metadata or time of
// occurrence.
func matchesFilter(s *PublishedProcedure, f ragctx.Filter) bool {
	if len(f.Tags) > 0 || len(f.Metadata) > 0 || !f.OccurredAfter.IsZero() || !f.OccurredBefore.IsZero() {
		return false
	}
	source := SourceOf(s.ID.Name)
	return len(f.Sources) == 0 || slices.ContainsFunc(f.Sources, func(want string) bool {
		prefix, open := strings.CutSuffix(want, "*")
		return source == want || open && strings.HasPrefix(source, prefix)
	})
}

func list(res *ragctx.ContextResult, procedures []*PublishedProcedure, q ragctx.ContextQuery) {
	for i, s := range procedures {
		if i == q.MaxResults {
			res.Truncated = true
			break
		}
		res.Add(item(s).WithRelevance(1 - float64(i)*1e-6)) // keeps their order
	}
}

func (p *Provider) answer(ctx context.Context, res *ragctx.ContextResult, procedures []*PublishedProcedure, q ragctx.ContextQuery) {
	type found struct {
		*PublishedProcedure
		match
	}
	cosines, whole := p.meanings.cosines(ctx, procedures, q.Query)
	if !whole {
		res.Degraded = append(res.Degraded, "vector")
	}
	var fits []found
	for i, m := range score(procedures, q.Query) {
		m.cosine = cosines[i]
		m.relevance = max(m.relevance, noActionFactor*m.cosine)
		if m.relevance > 0 && m.relevance >= q.LeastRelevance() {
			fits = append(fits, found{procedures[i], m})
		}
	}
	slices.SortStableFunc(fits, func(a, b found) int { return cmp.Compare(b.relevance, a.relevance) })
	most := min(q.MaxResults, MaxProcedures)
	res.Truncated = len(fits) > most
	for _, f := range fits[:min(len(fits), most)] {
		it := item(f.PublishedProcedure).WithRelevance(f.relevance)
		if q.Explain {
			it.Signals = map[string]float64{
				"trigger_said": f.procedureShare, "question_asked": f.questionShare, "words": float64(f.words),
				"vector": f.cosine,
			}
		}
		res.Add(it)
	}
}

// item returns a procedure as an item. Its content is the same at every depth.
func item(s *PublishedProcedure) ragctx.ContextItem {
	return ragctx.ContextItem{
		ID: s.ID.String(), Type: ragctx.TypeSkill, Content: Line(s.ID.Name, s.Trigger),
		Source: SourceOf(s.ID.Name), Depth: ragctx.DepthAbstract,
		Metadata: map[string]any{"procedure": s.ID.Name, "version": s.ID.Version},
	}
}
