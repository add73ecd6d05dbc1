package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/access"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/resolve"
	"github.com/ragctx/ragctx/store"
)

// Finding is what one step of an [Explanation] found.
type Finding struct {
	Step string `json:"step" enum:"namespace,contents,scope,legs,providers,conditions,budget"`
	// Problem says that this keeps items from the answer.
	Problem bool   `json:"problem" doc:"this keeps items from the answer"`
	Found   string `json:"found"`
	Remedy  string `json:"remedy,omitempty"`
}

// Explanation says why an answer is empty, or as short as it is.
type Explanation struct {
	Items    int       `json:"items" doc:"of the answer"`
	Findings []Finding `json:"findings" nullable:"false" doc:"from what is asked first to what is asked last"`
}

func (x *Explanation) add(step string, problem bool, remedy, format string, args ...any) {
	x.Findings = append(x.Findings, Finding{step, problem, fmt.Sprintf(format, args...), remedy})
}

// Explain asks a query as [Engine.Context] does, and looks step by step for what keeps
// items from the answer: it counts what there is and who sees it, asks each leg alone,
// and asks again without each condition of the query. Uses are not counted, and nothing
// is told of it.
func (e *Engine) Explain(ctx context.Context, q ragctx.ContextQuery) (Explanation, error) {
	x := Explanation{Findings: []Finding{}}
	q, err := e.check(ctx, q)
	if err != nil {
		return x, err
	}
	ctx = context.WithValue(ctx, silent{}, true)
	if there, err := e.explainContents(ctx, &x, q); err != nil || !there {
		return x, err
	}
	if err := e.Warm(ctx, q.Namespace); err != nil {
		return x, err
	}
	if err := e.explainLegs(ctx, &x, q); err != nil {
		return x, err
	}
	a, err := e.resolver.Resolve(ctx, q)
	if err != nil {
		return x, err
	}
	x.Items = len(a.Items)
	explainProviders(&x, a)
	if err := e.explainConditions(ctx, &x, q, a); err != nil {
		return x, err
	}
	explainBudget(&x, q, a)
	return x, nil
}

// silent marks the context of questions that nobody asked.
type silent struct{}

// explainContents reports whether there is anything in the namespace to be found.
func (e *Engine) explainContents(ctx context.Context, x *Explanation, q ragctx.ContextQuery) (bool, error) {
	_, err := e.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		names, err := e.Namespaces(ctx)
		names = slices.DeleteFunc(names, func(n string) bool { return !access.From(ctx).Reaches(n) })
		remedy := "write something to it"
		if len(names) > 0 {
			remedy = "use one that there is: " + strings.Join(names[:min(len(names), 10)], ", ")
		}
		x.add("namespace", true, remedy, "there is no namespace %q", spaceName(q.Namespace))
		return false, err
	}
	if err != nil {
		return false, err
	}
	st, err := e.Stats(ctx, q.Namespace)
	if err != nil {
		return false, err
	}
	if access.From(ctx).User != "" { // how many others have is not told
		if st.Memories, err = e.CountMemories(ctx, q.Namespace, store.MemoryFilter{UserID: q.UserID}); err != nil {
			return false, err
		}
	}
	empty := st.Documents+st.Memories == 0
	remedy := ""
	if empty {
		remedy = "ingest documents or store turns first, or name another namespace"
	}
	x.add("contents", empty, remedy, "the namespace %s has %d documents and %d memories", spaceName(q.Namespace), st.Documents, st.Memories)
	return !empty, e.explainScope(ctx, x, q, st.Memories)
}

// explainScope tells how many of the memories the query sees.
func (e *Engine) explainScope(ctx context.Context, x *Explanation, q ragctx.ContextQuery, all int) error {
	seen, err := e.CountMemories(ctx, q.Namespace, store.MemoryFilter{UserID: q.UserID, AgentID: q.AgentID, SessionID: q.SessionID})
	if err != nil || all == 0 {
		return err
	}
	remedy := ""
	switch {
	case seen == all:
	case q.UserID == "":
		remedy = "send user_id: without it only memories of no user are seen"
	case q.SessionID != "" || q.AgentID != "":
		remedy = "leave session_id and agent_id out: they narrow memories to those of one"
	default:
		remedy = "the others belong to other users, and are not seen by this one"
	}
	x.add("scope", seen == 0, remedy, "%d of %d memories are in the query's scope", seen, all)
	return nil
}

// legHits is how many hits of a leg are counted.
const legHits = 50

// explainLegs asks words and vectors alone.
func (e *Engine) explainLegs(ctx context.Context, x *Explanation, q ragctx.ContextQuery) error {
	if q.Query == "" {
		return nil
	}
	for _, kind := range []store.Kind{store.Documents, store.Memories} {
		for _, leg := range []string{"keyword", "vector"} {
			hits, degraded, err := e.Hits(ctx, q, HitsOptions{Kind: kind, K: legHits, Ranking: index.Ranking{Method: leg}})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			switch {
			case err != nil:
				x.add("legs", true, "see 'ragctx doctor'", "the %s search of %s failed: %v", leg, kind, err)
			case slices.Contains(degraded, leg):
				x.add("legs", true, "see 'ragctx status'; it is being made again, or its embedder fails", "the %s search of %s did not run", leg, kind)
			default:
				x.add("legs", false, "", "the %s search of %s finds %d chunks (of %d at most)", leg, kind, len(hits), legHits)
			}
		}
	}
	return nil
}

func explainProviders(x *Explanation, a resolve.Answer) {
	for _, p := range a.Providers {
		switch {
		case p.Error != "":
			x.add("providers", true, "the log has why; the others answered without it", "%s failed: %s", p.Name, p.Error)
		case p.Note != "":
			x.add("providers", false, "", "%s: %s", p.Name, p.Note)
		default:
			x.add("providers", false, "", "%s found %d items, of which %d are shown", p.Name, p.Returned, p.Used)
		}
	}
}

// explainConditions asks again without each condition of the query, and tells what that
// would show.
func (e *Engine) explainConditions(ctx context.Context, x *Explanation, q ragctx.ContextQuery, a resolve.Answer) error {
	for _, c := range []struct {
		name  string
		set   bool
		relax func(*ragctx.ContextQuery)
	}{
		{"filter", !q.Filter.IsZero(), func(q *ragctx.ContextQuery) { q.Filter = ragctx.Filter{} }},
		{"context_types", len(q.ContextTypes) > 0, func(q *ragctx.ContextQuery) { q.ContextTypes = nil }},
		{"as_of", !q.AsOf.IsZero(), func(q *ragctx.ContextQuery) { q.AsOf = time.Time{} }},
		{"min_relevance", q.MinRelevance > 0, func(q *ragctx.ContextQuery) { q.MinRelevance = 0 }},
		{"exclude", len(q.Exclude) > 0, func(q *ragctx.ContextQuery) { q.Exclude = nil }},
		{"session_id", q.SessionID != "", func(q *ragctx.ContextQuery) { q.SessionID = "" }},
		{"agent_id", q.AgentID != "", func(q *ragctx.ContextQuery) { q.AgentID = "" }},
	} {
		if !c.set {
			continue
		}
		wider := q
		c.relax(&wider)
		without, err := e.resolver.Resolve(ctx, wider)
		if err != nil {
			return err
		}
		gained := len(without.Items) > len(a.Items)
		remedy := ""
		if gained {
			remedy = "check " + c.name + ", or leave it out"
		}
		x.add("conditions", gained, remedy, "without %s %d items are shown instead of %d", c.name, len(without.Items), len(a.Items))
	}
	return nil
}

// explainBudget tells what the limits kept out.
func explainBudget(x *Explanation, q ragctx.ContextQuery, a resolve.Answer) {
	counts := make(map[resolve.Reason]int)
	for _, d := range a.Dropped {
		counts[d.Reason]++
	}
	if n := counts[resolve.ReasonBudget]; n > 0 || len(a.Items) == 0 && strings.HasPrefix(a.Note, "max_tokens") {
		x.add("budget", true, "send a larger max_tokens", "max_tokens %d kept out %d items that fit otherwise; %d tokens are used", q.MaxTokens, n, a.TotalTokens)
		return
	}
	x.add("budget", false, "", "%d of %d tokens are used", a.TotalTokens, q.MaxTokens)
}
