package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// Finding is the result of one step of an [Explanation].
type Finding struct {
	Step string `json:"step" enum:"namespace,contents,scope,phrases,spelling,search,providers,conditions,budget,match"`
	// Problem is set if this keeps items out of the answer.
	Problem bool   `json:"problem" doc:"this keeps items out of the answer"`
	Found   string `json:"found"`
	Remedy  string `json:"remedy,omitempty"`
	// Fields are the query fields that Found and Remedy refer to.
	Fields []string `json:"fields,omitempty" nullable:"false" doc:"names of the query fields that found and remedy refer to"`
}

// Explanation explains why an answer is empty or short.
type Explanation struct {
	Items    int       `json:"items" doc:"of the answer"`
	Findings []Finding `json:"findings" nullable:"false" doc:"in the order of the checks; an empty answer has at least one problem"`
}

func (x *Explanation) add(step string, problem bool, remedy, format string, args ...any) *Finding {
	x.Findings = append(x.Findings, Finding{
		Step: step, Problem: problem, Found: fmt.Sprintf(format, args...),
		Remedy: remedy,
	})
	return &x.Findings[len(x.Findings)-1]
}

// Explain runs a query as [Engine.Context] does and checks step by step what keeps items out of the
// answer: it counts the stored items and those in scope, searches each index alone, and repeats the
// query without each of its conditions. It counts no uses and publishes no events.
func (e *Engine) Explain(ctx context.Context, q ragctx.ContextQuery) (Explanation, error) {
	x := Explanation{Findings: []Finding{}}
	q, err := e.check(ctx, q)
	if err != nil {
		return x, err
	}
	ctx = context.WithValue(ctx, silentKey{}, true)
	if err := e.Indexes().Warm(ctx, q.Namespace); err != nil {
		return x, err
	}
	asked, _ := e.unquote(ctx, q)
	sessionProviders, err := e.sessionProvidersFor(ctx, q)
	if err != nil {
		return x, err
	}
	ask := func(q ragctx.ContextQuery) (resolve.Answer, error) {
		return e.resolver.Resolve(ctx, q, sessionProviders...)
	}
	a, err := ask(asked)
	if err != nil {
		return x, err
	}
	x.Items = len(a.Items)
	st, err := e.explainContents(ctx, &x, q)
	if err != nil {
		return x, err
	}
	e.explainPhrases(ctx, &x, q)
	explainSpelling(&x, a)
	if err := e.explainIndexes(ctx, &x, asked, st); err != nil {
		return x, err
	}
	e.explainProviders(&x, a)
	if err := explainConditions(&x, asked, a, ask); err != nil {
		return x, err
	}
	explainBudget(&x, q, a)
	x.conclude(q)
	return x, nil
}

// conclude adds a final finding if the answer is empty and no step found a problem.
func (x *Explanation) conclude(q ragctx.ContextQuery) {
	if x.Items > 0 || slices.ContainsFunc(x.Findings, func(f Finding) bool { return f.Problem }) {
		return
	}
	if q.Query == "" {
		x.add("match", true, "send a query: without one only the most important and most recent memories are returned",
			"the query is empty, and there are no memories to return").Fields = []string{"query"}
		return
	}
	x.add("match", true, "rephrase the query, or list what is stored",
		"no stored text contains words of the query or is close enough in meaning")
}

// silentKey is the context key of queries that publish no events.
type silentKey struct{}

// explainContents adds the number of items in the namespace.
func (e *core) explainContents(ctx context.Context, x *Explanation, q ragctx.ContextQuery) (st Stats, err error) {
	_, err = e.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		names, err := e.Admin().NamespaceNames(ctx)
		names = slices.DeleteFunc(names, func(n string) bool { return !access.From(ctx).Includes(n) })
		remedy := "write something to it"
		if len(names) > 0 {
			remedy = "use an existing one: " + strings.Join(names[:min(len(names), 10)], ", ")
		}
		x.add("namespace", x.Items == 0, remedy, "there is no namespace %q", namespaceName(q.Namespace))
		return st, err
	}
	if err != nil {
		return st, err
	}
	if st, err = e.Admin().Stats(ctx, q.Namespace); err != nil {
		return st, err
	}
	if access.From(ctx).User != "" { // do not reveal how many memories other users have
		if st.Memories, err = e.Memories().Count(ctx, q.Namespace, store.MemoryFilter{UserID: q.UserID}); err != nil {
			return st, err
		}
	}
	empty := st.Documents+st.Memories == 0 && x.Items == 0
	remedy := ""
	if empty {
		remedy = "ingest documents or store turns first, or name another namespace"
	}
	x.add("contents", empty, remedy, "the namespace %s has %d documents and %d memories", namespaceName(q.Namespace),
		st.Documents, st.Memories)
	return st, e.explainScope(ctx, x, q, st.Memories)
}

// explainScope adds how many of the memories are in the query's scope.
func (e *core) explainScope(ctx context.Context, x *Explanation, q ragctx.ContextQuery, all int) error {
	if all == 0 || !q.Wants(ragctx.TypeMemory) {
		return nil
	}
	seen, err := e.Memories().Count(ctx, q.Namespace,
		store.MemoryFilter{UserID: q.UserID, AgentID: q.AgentID, SessionID: q.Filter.SessionID})
	if err != nil {
		return err
	}
	f := x.add("scope", seen == 0, "", "%d of %d memories are in the query's scope", seen, all)
	switch {
	case seen == all:
	case q.UserID == "":
		f.Remedy, f.Fields = "send user_id: without it only memories without a user are visible", []string{"user_id"}
	case q.Filter.SessionID != "" || q.AgentID != "":
		f.Fields = []string{"filter.session_id", "agent_id"}
		f.Remedy = "omit filter.session_id and agent_id: they limit memories to one session or agent"
	default:
		f.Remedy = "the others belong to other users"
	}
	return nil
}

// explainPhrases adds the quoted phrases that appear in no text, whether or not the query requires
// them.
func (e *core) explainPhrases(ctx context.Context, x *Explanation, q ragctx.ContextQuery) {
	_, unquoted := e.unquote(ctx, q.WithParam(passage.ParamPhrases, true))
	for _, phrase := range unquoted {
		x.add("phrases", false, "", "no text contains %q verbatim; its words were searched for instead",
			ragctx.Clip(phrase))
	}
}

// explainSpelling adds the corrected words and the spellings also searched for.
func explainSpelling(x *Explanation, a resolve.Answer) {
	var reported []ragctx.Correction
	for _, c := range a.Corrections {
		c.Provider = "" // report a correction once for documents and memories
		if !slices.Contains(reported, c) {
			reported = append(reported, c)
			x.add("spelling", false, "", "no text contains %q; %q was also searched for", ragctx.Clip(c.Word),
				ragctx.Clip(c.As))
		}
	}
}

// maxIndexHits is how many hits of one index are counted.
const maxIndexHits = 50

// explainIndexes searches the keyword index and the vector index alone, for each stored and wanted
// kind of item.
func (e *core) explainIndexes(ctx context.Context, x *Explanation, q ragctx.ContextQuery, st Stats) error {
	if q.Query == "" {
		return nil
	}
	for _, k := range []struct {
		kind  store.Kind
		holds ragctx.ContextType
		some  bool
	}{{store.KindDocuments, ragctx.TypeResource, st.Documents > 0}, {store.KindMemories, ragctx.TypeMemory, st.Memories > 0}} {
		if !k.some || !q.Wants(k.holds) {
			continue
		}
		for _, signal := range []string{"keyword", "vector"} {
			if err := e.explainIndex(ctx, x, q, k.kind, signal); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *core) explainIndex(
	ctx context.Context, x *Explanation, q ragctx.ContextQuery, kind store.Kind, signal string,
) error {
	hits, degraded, err := e.Indexes().Hits(ctx, q, HitsOptions{Kind: kind, K: maxIndexHits, Ranking: index.Ranking{Method: signal}})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		x.add("search", true, "see 'ragctx doctor'", "the %s search of %s failed: %v", signal, kind, err)
	case slices.Contains(degraded, signal):
		x.add("search", true, "see 'ragctx status'; the index is being rebuilt, or its embedder fails",
			"the %s search of %s did not run", signal, kind)
	default:
		x.add("search", false, "", "the %s search of %s finds %d chunks (of %d at most)", signal, kind, len(hits),
			maxIndexHits)
	}
	return nil
}

// explainProviders adds how many items each provider returned. Built-in providers without items are
// covered by earlier steps.
func (e *core) explainProviders(x *Explanation, a resolve.Answer) {
	for _, p := range a.Providers {
		builtin := slices.ContainsFunc(e.builtin, func(b ragctx.ContextProvider) bool { return b.Name() == p.Name })
		switch {
		case p.Error != "":
			x.add("providers", true, "see the log for the cause; the other providers answered without it",
				"%s failed: %s", p.Name, p.Error)
		case p.Returned > 0:
			x.add("providers", false, "", "%s found %d items, of which the answer shows %d", p.Name, p.Returned, p.Used)
		case builtin:
		case p.Note != "":
			x.add("providers", false, "", "%s: %s", p.Name, p.Note)
		default:
			x.add("providers", false, "", "%s found nothing", p.Name)
		}
	}
}

// condition is a condition of a query that can be removed.
type condition struct {
	field string
	set   bool
	relax func(*ragctx.ContextQuery)
}

func conditionsOf(q ragctx.ContextQuery) []condition {
	others := q.Filter
	others.SessionID = ""
	all := []condition{
		{"filter.session_id", q.Filter.SessionID != "", func(q *ragctx.ContextQuery) { q.Filter.SessionID = "" }},
		{"filter", !others.IsZero(), func(q *ragctx.ContextQuery) { q.Filter = ragctx.Filter{SessionID: q.Filter.SessionID} }},
		{"context_types", len(q.ContextTypes) > 0, func(q *ragctx.ContextQuery) { *q = q.WithTypes() }},
		{"as_of", !q.AsOf.IsZero(), func(q *ragctx.ContextQuery) { q.AsOf = time.Time{} }},
		{
			"min_relevance", q.MinRelevance == nil || *q.MinRelevance > 0,
			func(q *ragctx.ContextQuery) { q.MinRelevance = new(0.0) },
		},
		{"exclude", len(q.Exclude) > 0, func(q *ragctx.ContextQuery) { q.Exclude = nil }},
		{"agent_id", q.AgentID != "", func(q *ragctx.ContextQuery) { q.AgentID = "" }},
	}
	return slices.DeleteFunc(all, func(c condition) bool { return !c.set })
}

// explainConditions repeats the query without each condition, and without all of them if no single
// one keeps the answer empty. It adds those that would return more items.
func explainConditions(
	x *Explanation, q ragctx.ContextQuery, a resolve.Answer, ask func(ragctx.ContextQuery) (resolve.Answer, error),
) error {
	conditions := conditionsOf(q)
	gain := func(some ...condition) (bool, error) {
		wider := q
		var fields []string
		for _, c := range some {
			c.relax(&wider)
			fields = append(fields, c.field)
		}
		without, err := ask(wider)
		if err != nil || len(without.Items) <= len(a.Items) {
			return false, err
		}
		named := strings.Join(fields, ", ")
		x.add("conditions", true, "check "+named+", or omit it", "without %s %d items are shown instead of %d",
			named, len(without.Items), len(a.Items)).Fields = fields
		return true, nil
	}
	gained := false
	for _, c := range conditions {
		alone, err := gain(c)
		if err != nil {
			return err
		}
		gained = gained || alone
	}
	if gained || len(conditions) < 2 || len(a.Items) > 0 {
		return nil
	}
	_, err := gain(conditions...)
	return err
}

// explainBudget adds the items that the token limit excluded.
func explainBudget(x *Explanation, q ragctx.ContextQuery, a resolve.Answer) {
	counts := make(map[resolve.Reason]int)
	for _, d := range a.Dropped {
		counts[d.Reason]++
	}
	n := counts[resolve.ReasonBudget]
	if len(a.Items) < q.MaxResults { // else the number of results is what left no room for others of a source
		n += counts[resolve.ReasonSourceCap]
	}
	if n > 0 || len(a.Items) == 0 && strings.HasPrefix(a.Note, "max_tokens") {
		x.add("budget", true, "send a larger max_tokens", "max_tokens %d excluded %d items; %d tokens are used",
			q.MaxTokens, n, a.TotalTokens).Fields = []string{"max_tokens"}
		return
	}
	x.add("budget", false, "", "%d of %d tokens are used", a.TotalTokens, q.MaxTokens)
}
