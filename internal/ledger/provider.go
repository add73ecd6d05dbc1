package ledger

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// ProviderName is the name of the provider. ParamCluster is the query parameter that names the
// cluster; without it the provider returns nothing.
const (
	ProviderName = "ledger"
	ParamCluster = "cluster"
)

// Limits of the newest messages that are ranked for an answer.
const (
	maxCandidates     = 2000
	maxCandidateBytes = 8 << 20
)

// Lengths of an item's shorter depths in characters.
const (
	abstractChars = 500
	overviewChars = 2000
)

// Provider answers queries from a cluster's messages and state. Its items have the type memory and
// belong to no user; the namespace isolates them. It implements [ragctx.ContextProvider].
type Provider struct {
	log   Reader
	state func(ctx context.Context, namespace, cluster string) (State, error)
}

// NewProvider returns a provider of a log. The state function returns a cluster's state, as
// [Snapshotter.State] does.
func NewProvider(log Reader, state func(ctx context.Context, namespace, cluster string) (State, error)) *Provider {
	return &Provider{log, state}
}

var (
	_ ragctx.ContextProvider = (*Provider)(nil)
	_ ragctx.Selective       = (*Provider)(nil)
)

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return ProviderName }

// Concerns implements [ragctx.Selective].
func (p *Provider) Concerns(q ragctx.ContextQuery) bool { return clusterOf(q) != "" }

func clusterOf(q ragctx.ContextQuery) string {
	cluster, _ := q.Params[ParamCluster].(string)
	return cluster
}

// Query implements [ragctx.ContextProvider]. The state comes first. Then come the messages by their
// share of the query's terms, weighted by rarity; without terms the newest messages.
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: ProviderName}
	cluster := clusterOf(q)
	if cluster == "" || !q.Wants(ragctx.TypeMemory) {
		return res, nil
	}
	if err := p.addState(ctx, &res, q, cluster); err != nil {
		return res, err
	}
	found, err := p.candidates(ctx, q, cluster)
	if err != nil {
		return res, fmt.Errorf("ledger: %w", err)
	}
	for _, c := range rank(found, q.Query) {
		if c.relevance <= 0 || c.relevance < q.LeastRelevance() {
			continue
		}
		if res.Truncated = len(res.Items) >= q.MaxResults; res.Truncated {
			break
		}
		res.Add(messageItem(c.Message, q.Depth).WithRelevance(c.relevance))
	}
	if res.IsEmpty() {
		res.Note = fmt.Sprintf("the cluster %s has no message in scope that fits the query", ragctx.Clip(cluster))
	}
	return res, nil
}

// addState adds the cluster's state, unless the query sets a filter or asks for an earlier time.
func (p *Provider) addState(ctx context.Context, res *ragctx.ContextResult, q ragctx.ContextQuery, cluster string) error {
	id := statePrefix + cluster
	if !q.AsOf.IsZero() || !q.Filter.IsZero() || slices.Contains(q.Exclude, id) {
		return nil
	}
	s, err := p.state(ctx, q.Namespace, cluster)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if it := StateItem(cluster, s); it.Content != "" {
		res.Add(it.WithRelevance(1))
	}
	return nil
}

// statePrefix begins the item id of a cluster's state; the cluster's name follows.
const statePrefix = "state:"

// StateCluster returns the cluster of a state's item id, and false for other ids.
func StateCluster(id string) (cluster string, is bool) { return strings.CutPrefix(id, statePrefix) }

// StateItem returns the state of a cluster as an item. The content is empty if no message has set
// the state.
func StateItem(cluster string, s State) ragctx.ContextItem {
	return ragctx.ContextItem{
		ID: statePrefix + cluster, Type: ragctx.TypeMemory, Content: s.Summary(),
		Source: sourceOf(cluster, TopicStateSnapshot), Depth: ragctx.DepthAbstract,
		Metadata: map[string]any{"topic": TopicStateSnapshot, "source_message": s.SourceMessageID},
	}
}

// sourceOf returns the source of an item.
func sourceOf(cluster, topic string) string { return "ledger:" + cluster + "/" + topic }

// bookkeepingTopics are the topics of bookkeeping messages that say nothing about the work.
var bookkeepingTopics = []string{TopicStateSnapshot, TopicContextMetrics, TopicAgentLifecycle, TopicOmitted, TopicTokenUsage}

// Retrievable reports whether a message can be an item of an answer.
func Retrievable(m Message) bool {
	return !slices.Contains(bookkeepingTopics, m.Topic) && Replayable(m)
}

// MessageItem returns a message in full as an item.
func MessageItem(m Message) ragctx.ContextItem { return messageItem(m, ragctx.DepthFull) }

// candidates returns the newest messages that can be shown and pass the filter, newest first. It
// reads on past the others, since most messages of a cluster are agent output.
func (p *Provider) candidates(ctx context.Context, q ragctx.ContextQuery, cluster string) (found []Message, err error) {
	query := Query{Filter: Filter{Namespace: q.Namespace, Cluster: cluster}, Newest: true, Limit: sourcePage, MaxBytes: maxCandidateBytes}
	if !q.AsOf.IsZero() {
		query.Until = q.AsOf.UnixMilli()
	}
	bytes := 0
	for looked := 0; looked < MaxSourceMessages; {
		page, err := p.log.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			if !Retrievable(m) || !passes(m, q.Filter) || slices.Contains(q.Exclude, m.ID) {
				continue
			}
			found = append(found, m)
			if bytes += m.Size(); len(found) == maxCandidates || bytes >= maxCandidateBytes {
				return found, nil
			}
		}
		looked += len(page)
		if !query.Full(len(page), size(page)) || page[len(page)-1].Sequence == 1 {
			return found, nil
		}
		query.ThroughSeq = page[len(page)-1].Sequence - 1
	}
	return found, nil
}

// passes reports whether a message passes a filter. Messages have no tags.
func passes(m Message, f ragctx.Filter) bool {
	at := m.Time()
	if len(f.Tags) > 0 || at.Before(f.OccurredAfter) || !f.OccurredBefore.IsZero() && !at.Before(f.OccurredBefore) {
		return false
	}
	meta := itemMetadata(m)
	for key, want := range f.Metadata {
		if meta[key] != want {
			return false
		}
	}
	source := sourceOf(m.Cluster, m.Topic)
	return len(f.Sources) == 0 || slices.ContainsFunc(f.Sources, func(want string) bool {
		prefix, open := strings.CutSuffix(want, "*")
		return source == want || open && strings.HasPrefix(source, prefix)
	})
}

func itemMetadata(m Message) map[string]any {
	return map[string]any{"topic": m.Topic, "sender": m.Sender, "sequence": m.Sequence.String()}
}

// candidate is a message and its relevance to the query.
type candidate struct {
	Message

	relevance float64
}

// rank sorts messages, given newest first, by relevance: the share of the query's terms that a
// message contains, weighted by rarity.
func rank(messages []Message, question string) []candidate {
	out := make([]candidate, len(messages))
	terms := analysis.Query(question)
	has, in := make([][]bool, len(messages)), make([]float64, len(terms))
	for i, m := range messages {
		out[i] = candidate{m, 1 - float64(i)/maxCandidates/2}
		has[i] = matchTerms(m, terms)
		for t := range terms {
			if has[i][t] {
				in[t]++
			}
		}
	}
	if len(terms) == 0 {
		return out
	}
	all := 0.0
	weight := make([]float64, len(terms))
	for t := range terms {
		weight[t] = math.Log(1 + float64(len(messages)+1)/(in[t]+1))
		all += weight[t]
	}
	for i := range out {
		out[i].relevance = 0
		for t := range terms {
			if has[i][t] {
				out[i].relevance += weight[t] / all
			}
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.relevance, a.relevance) })
	return out
}

// matchTerms reports for each term whether the message contains it.
func matchTerms(m Message, terms []string) []bool {
	out := make([]bool, len(terms))
	if len(terms) == 0 {
		return out
	}
	for _, text := range []string{m.Topic, m.Sender, m.Text, string(m.Data)} {
		analysis.Each(text, func(term []byte) {
			if i := slices.Index(terms, string(term)); i >= 0 {
				out[i] = true
			}
		})
	}
	return out
}

// messageItem returns a message as an item at a depth.
func messageItem(m Message, depth ragctx.ContextDepth) ragctx.ContextItem {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s, %s:\n", isoTime(m.Timestamp), oneLine(m.Sender), oneLine(m.Topic))
	writeBody(&b, m.Text, m.Data)
	full := strings.TrimSuffix(b.String(), "\n")
	it := ragctx.ContextItem{
		ID: m.ID, Type: ragctx.TypeMemory, Source: sourceOf(m.Cluster, m.Topic), Metadata: itemMetadata(m), Occurred: m.Time(),
		Content: full, Depth: ragctx.DepthFull,
	}
	for _, f := range []struct {
		depth ragctx.ContextDepth
		chars int
	}{{ragctx.DepthOverview, overviewChars}, {ragctx.DepthAbstract, abstractChars}} {
		text := truncate(full, f.chars)
		switch {
		case depth == ragctx.DepthAbstract || depth == f.depth:
			it.Content, it.Depth = text, f.depth
		case utf8.RuneCountInString(it.Content) > f.chars:
			it.Forms.Shorter = append(it.Forms.Shorter, ragctx.Form{Depth: f.depth, Text: text})
		}
	}
	return it
}
