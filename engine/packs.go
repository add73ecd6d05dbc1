package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

// Ledgers configures the states and metrics derived from the messages of clusters.
type Ledgers struct {
	// Sections maps additional topics that change the state of a cluster to their
	// sections; see [ledger.CheckSections].
	Sections map[string]string
	// LogMetrics writes the metrics of each context to the log; PublishMetrics appends them to its
	// cluster as a message of the topic CONTEXT_METRICS. They contain no text of the context.
	LogMetrics     bool
	PublishMetrics bool
}

// openPacks creates the snapshotter and the context pack builder.
func (e *core) openPacks() error {
	folder, err := ledger.NewFolder(e.opts.Ledgers.Sections)
	if err != nil {
		return err
	}
	e.snapshotter = ledger.NewSnapshotter(e.ledger, folder, e.opts.Logger)
	e.packs = &ledger.Builder{Log: e.ledger, Retrieve: e.retrieve}
	return nil
}

// State returns the current state of a cluster after all its messages. It writes nothing.
func (e Ledger) State(ctx context.Context, namespace, cluster string) (ledger.State, error) {
	if err := canEnter(ctx, namespace); err != nil {
		return ledger.State{}, err
	}
	s, err := e.snapshotter.State(ctx, namespaceName(namespace), cluster)
	if err == nil && s.IsZero() {
		err = fmt.Errorf("%w: the cluster %s has no state yet", ragctx.ErrNotFound, ragctx.Clip(cluster))
	}
	return s, err
}

// Packed is a context pack with its metrics.
type Packed struct {
	ledger.Pack

	Metrics ledger.Metrics
}

// Pack builds the context pack of an agent. If the strategy includes the cluster's state, an
// unpublished state is published first.
func (e Ledger) Pack(ctx context.Context, r ledger.PackRequest) (Packed, error) {
	r.Namespace = namespaceName(r.Namespace)
	if err := canEnter(ctx, r.Namespace); err != nil {
		return Packed{}, err
	}
	if err := actAs(ctx, &r.UserID); err != nil {
		return Packed{}, err
	}
	late := ""
	publishes := mayPublish(ctx)
	switch {
	case !r.Strategy.Includes(ledger.TopicStateSnapshot):
	case !publishes:
		late = "the API key may not publish the newest state; the context may have an older one"
	default:
		if _, err := e.snapshotter.Publish(ctx, r.Namespace, r.Cluster); err != nil {
			if ctx.Err() != nil {
				return Packed{}, err
			}
			e.opts.Logger.WarnContext(ctx, "a context has an outdated state", "namespace", r.Namespace, "cluster",
				r.Cluster, "error", err)
			late = "the newest state could not be published; the context may have an older one"
		}
	}
	p, err := e.packs.Build(ctx, r)
	if err != nil {
		return Packed{}, err
	}
	if late != "" {
		p.Warnings = append(p.Warnings, ledger.Warning{Field: ledger.TopicStateSnapshot, Message: late})
	}
	out := Packed{Pack: p, Metrics: ledger.Measure(r, p)}
	e.packTally.add(out)
	e.reportMetrics(ctx, r, out.Metrics, publishes)
	return out, nil
}

// mayPublish reports whether the grant of ctx may append to ledgers.
func mayPublish(ctx context.Context) bool {
	return access.From(ctx).RequireRole(access.Write) == nil && canModifyShared(ctx) == nil
}

// reportMetrics writes metrics to the log and, if publish is set, to the ledger, as configured. Its errors
// are only logged.
func (e *core) reportMetrics(ctx context.Context, r ledger.PackRequest, m ledger.Metrics, publish bool) {
	publish = publish && e.opts.Ledgers.PublishMetrics && e.hasMessages(ctx, r.Namespace, r.Cluster)
	if !e.opts.Ledgers.LogMetrics && !publish {
		return
	}
	raw, err := json.Marshal(m)
	if err == nil && e.opts.Ledgers.LogMetrics {
		e.opts.Logger.InfoContext(ctx, "[ContextMetrics]", "metrics", json.RawMessage(raw))
	}
	if err == nil && publish {
		_, err = e.ledger.Append(ctx, []ledger.Message{{
			Namespace: r.Namespace, Cluster: r.Cluster, Topic: ledger.TopicContextMetrics,
			Sender: cmp.Or(r.Agent.ID, "ragctx"), Receiver: "system", Data: raw,
		}})
	}
	if err != nil {
		e.opts.Logger.WarnContext(ctx, "publishing the metrics of a context failed", "cluster", r.Cluster, "error", err)
	}
}

// hasMessages reports whether a cluster exists: publishing metrics must not create one.
func (e *core) hasMessages(ctx context.Context, namespace, cluster string) bool {
	last, err := ledger.LastSequence(ctx, e.ledger, ledger.Filter{Namespace: namespace, Cluster: cluster})
	if err != nil {
		e.opts.Logger.WarnContext(ctx, "reading a cluster failed", "cluster", cluster, "error", err)
	}
	return last > 0
}

// retrieve returns documents and memories for a context pack, escaped so that they cannot imitate
// parts of it.
func (e *core) retrieve(ctx context.Context, q ragctx.ContextQuery) (ledger.Retrieved, error) {
	a, err := e.Context(ctx, q)
	if err != nil {
		return ledger.Retrieved{}, err
	}
	note := a.Note
	if len(a.Degraded) > 0 {
		note = strings.TrimPrefix(note+"; without "+strings.Join(a.Degraded, ", "), "; ")
	}
	return ledger.Retrieved{Text: a.Rendered(), Items: len(a.Items), Note: note}, nil
}

// PackTally counts context packs since the engine was opened.
type PackTally struct {
	Packs uint64
	// Empty counts packs without content from any source.
	Empty uint64
	// OverBudget counts packs with required parts that did not fit, Cut those shortened by the
	// character limit.
	OverBudget, Cut uint64
	Tokens          uint64
	// Parts counts parts by outcome: full, compact, or the reason for their absence.
	Parts map[string]uint64
}

// packTally is a PackTally behind a mutex.
type packTally struct {
	mu sync.Mutex
	PackTally
}

func (t *packTally) add(p Packed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Packs++
	t.Tokens += uint64(max(p.Metrics.Total.EstimatedTokens, 0)) //nolint:gosec // not negative
	for counter, applies := range map[*uint64]bool{
		&t.Empty: p.Note != "", &t.OverBudget: p.Budget.OverBudgetTokens > 0, &t.Cut: p.MaxChars.Applied,
	} {
		if applies {
			*counter++
		}
	}
	if t.Parts == nil {
		t.Parts = make(map[string]uint64)
	}
	for _, d := range p.Decisions {
		if d.Status == budget.Included {
			t.Parts[d.Variant]++
		} else {
			t.Parts[string(d.Reason)]++
		}
	}
}

// Packs returns the counters of context packs.
func (e Metrics) Packs() PackTally {
	e.packTally.mu.Lock()
	defer e.packTally.mu.Unlock()
	out := e.packTally.PackTally
	out.Parts = maps.Clone(out.Parts)
	return out
}
