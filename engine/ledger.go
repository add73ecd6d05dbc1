package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// Append appends messages of one cluster atomically, without the secrets in them; see [ledger.Log]. They are
// durable when it returns. Without a namespace they go to the default one.
func (e Ledger) Append(ctx context.Context, messages []ledger.Message) ([]ledger.Message, error) {
	in := make([]ledger.Message, len(messages))
	for i, m := range messages {
		m.Namespace = namespaceName(m.Namespace)
		if err := canEnter(ctx, m.Namespace); err != nil {
			return nil, err
		}
		in[i] = e.withoutSecrets(m)
	}
	if err := canModifyShared(ctx); err != nil {
		return nil, err
	}
	out, err := e.ledger.Append(ctx, in)
	e.snapshotter.Notify(out)
	return out, err
}

// AppendOnce is AppendMessages for a request that may be repeated with its unique seed: a repeated
// request returns the messages of the first. Without a seed it is AppendMessages.
func (e Ledger) AppendOnce(ctx context.Context, seed string, messages []ledger.Message) ([]ledger.Message, error) {
	if seed == "" || len(messages) == 0 {
		return e.Ledger().Append(ctx, messages)
	}
	in := make([]ledger.Message, len(messages))
	for i, m := range messages {
		m.Namespace, m.ID = namespaceName(m.Namespace), cmp.Or(m.ID, ledger.NewID(fmt.Sprintf("%s %d", seed, i)))
		in[i] = m
	}
	stored, err := e.Ledger().Append(ctx, in)
	if !errors.Is(err, ragctx.ErrConflict) {
		return stored, err
	}
	for i, m := range in {
		in[i] = e.withoutSecrets(m) // as they are stored
	}
	again, aerr := e.appended(ctx, in)
	if aerr != nil || again == nil {
		return nil, err
	}
	return again, nil
}

func (e *core) withoutSecrets(m ledger.Message) ledger.Message {
	if e.opts.KeepSecrets {
		return m
	}
	return memory.RedactMessage(m)
}

// appended returns the stored form of messages if they were appended together, else nil.
func (e *core) appended(ctx context.Context, messages []ledger.Message) ([]ledger.Message, error) {
	one := messages[0]
	q := ledger.Query{Filter: ledger.Filter{Namespace: one.Namespace, Cluster: one.Cluster}, ID: one.ID}
	first, found, err := e.ledger.Find(ctx, q)
	if err != nil || !found {
		return nil, err
	}
	q.ID, q.AfterSeq, q.Limit = "", first.Sequence-1, len(messages)
	stored, err := e.ledger.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	asked, err := ledger.Check(messages, ledger.Appending)
	if err != nil || !slices.EqualFunc(stored, asked, same) {
		return nil, err
	}
	return stored, nil
}

// same reports whether a stored message equals the requested one: an id chosen by the caller may
// belong to another message.
func same(stored, asked ledger.Message) bool {
	return stored.ID == asked.ID && stored.Topic == asked.Topic &&
		stored.Sender == asked.Sender && stored.Receiver == asked.Receiver && stored.Text == asked.Text &&
		bytes.Equal(stored.Data, asked.Data) && bytes.Equal(stored.Metadata, asked.Metadata)
}

// Messages returns the messages that match; see [ledger.Query].
func (e Ledger) Messages(ctx context.Context, q ledger.Query) ([]ledger.Message, error) {
	q.Namespace = namespaceName(q.Namespace)
	if err := canEnter(ctx, q.Namespace); err != nil {
		return nil, err
	}
	return e.ledger.Query(ctx, q)
}

// Item returns a message of a cluster, or the state of one, in full by its item id. Without
// a cluster it searches the whole namespace; imports can put copies in several clusters, and the
// first one that agents may see is returned. A message that agents never see is
// [ragctx.ErrNotFound].
func (e Ledger) Item(ctx context.Context, namespace, cluster, id string) (ragctx.ContextItem, error) {
	if err := canEnter(ctx, namespace); err != nil {
		return ragctx.ContextItem{}, err
	}
	clusters, err := e.clustersOf(ctx, namespaceName(namespace), cluster, id)
	if err != nil {
		return ragctx.ContextItem{}, err
	}
	for _, c := range clusters {
		f := ledger.Filter{Namespace: namespaceName(namespace), Cluster: c}
		if _, isState := ledger.StateCluster(id); isState {
			return e.stateItem(ctx, f)
		}
		m, found, err := e.ledger.Find(ctx, ledger.Query{Filter: f, ID: id})
		if err != nil {
			return ragctx.ContextItem{}, err
		}
		if found && ledger.Retrievable(m) {
			return ledger.MessageItem(m), nil
		}
	}
	return ragctx.ContextItem{}, fmt.Errorf("message %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
}

// clustersOf returns the clusters that may have an item; only the given one, if given.
func (e *core) clustersOf(ctx context.Context, namespace, cluster, id string) ([]string, error) {
	if cluster != "" {
		if err := (ledger.Filter{Namespace: namespace, Cluster: cluster}).Check(); err != nil {
			return nil, err
		}
	}
	of, isState := ledger.StateCluster(id)
	switch {
	case isState && (ledger.Filter{Namespace: namespace, Cluster: of}).Check() == nil && (cluster == "" || cluster == of):
		return []string{of}, nil
	case isState || !ledger.ValidID(id):
		return nil, nil
	case cluster != "":
		return []string{cluster}, nil
	}
	return e.ledger.ClustersOf(ctx, namespace, id)
}

func (e *core) stateItem(ctx context.Context, f ledger.Filter) (ragctx.ContextItem, error) {
	s, err := e.Ledger().State(ctx, f.Namespace, f.Cluster)
	it := ledger.StateItem(f.Cluster, s)
	if err == nil && it.Content == "" {
		err = fmt.Errorf("state of the cluster %s: %w", ragctx.Clip(f.Cluster), ragctx.ErrNotFound)
	}
	return it, err
}

// Ledger returns the counters of ledger operations since the engine was opened.
func (e Metrics) Ledger() store.LedgerCounts { return e.ledger.Counts() }

// Last returns the sequence number of a cluster's newest message, 0 if it has none.
func (e Ledger) Last(ctx context.Context, namespace, cluster string) (ledger.Sequence, error) {
	if err := canEnter(ctx, namespace); err != nil {
		return 0, err
	}
	return ledger.LastSequence(ctx, e.ledger, ledger.Filter{Namespace: namespaceName(namespace), Cluster: cluster})
}

// Follow yields the matching messages after a sequence number, stored ones and then new
// ones, until ctx or the engine ends; see [ledger.Follow].
func (e Ledger) Follow(
	ctx context.Context, f ledger.Filter, after ledger.Sequence,
) iter.Seq2[ledger.Message, error] {
	f.Namespace = namespaceName(f.Namespace)
	if err := canEnter(ctx, f.Namespace); err != nil {
		return func(yield func(ledger.Message, error) bool) { yield(ledger.Message{}, err) }
	}
	return ledger.Follow(ctx, e.ledger, f, after)
}

// Export writes the matching messages, one JSON object per line.
func (e Ledger) Export(ctx context.Context, q ledger.Query, w io.Writer) error {
	q.Namespace = namespaceName(q.Namespace)
	if err := canEnter(ctx, q.Namespace); err != nil {
		return err
	}
	return ledger.Export(ctx, e.ledger, q, w)
}

// Import appends the messages of an export to a cluster, with their ids and times; see
// [ledger.Import].
func (e Ledger) Import(ctx context.Context, namespace, cluster string, r io.Reader) (ledger.Imported, error) {
	err := canEnter(ctx, namespace)
	if err == nil {
		err = canModifyShared(ctx)
	}
	if err != nil {
		return ledger.Imported{}, err
	}
	return ledger.Import(ctx, e.ledger, namespaceName(namespace), cluster, r)
}

// Clusters returns a page of a namespace's clusters by name; the next page starts after its last.
func (e Ledger) Clusters(ctx context.Context, namespace, after string, limit int) ([]store.ClusterInfo, error) {
	if err := pageLimit(&limit); err != nil {
		return nil, err
	}
	if err := canEnter(ctx, namespace); err != nil {
		return nil, err
	}
	return e.ledger.Clusters(ctx, namespaceName(namespace), after, limit)
}

// Cluster is a cluster and the token usage of its models.
type Cluster struct {
	store.ClusterInfo

	// Tokens are sums by role; see [ledger.TokensByRole].
	Tokens map[string]ledger.Usage `json:"tokens" doc:"by role, of the messages of the topic TOKEN_USAGE"`
}

// Cluster describes a cluster without its messages.
func (e Ledger) Cluster(ctx context.Context, namespace, name string) (Cluster, error) {
	if err := canEnter(ctx, namespace); err != nil {
		return Cluster{}, err
	}
	info, err := e.ledger.Cluster(ctx, namespaceName(namespace), name)
	if err != nil {
		return Cluster{}, err
	}
	tokens, err := ledger.TokensByRole(ctx, e.ledger, ledger.Filter{Namespace: namespaceName(namespace), Cluster: name})
	return Cluster{info, tokens}, err
}

// Erase erases the messages of a cluster, as [Documents.Erase] does.
func (e Ledger) Erase(ctx context.Context, namespace, name string) (store.Erased, error) {
	if err := canModifyShared(ctx); err != nil {
		return store.Erased{}, err
	}
	return e.erase(ctx, namespace, func(ns int64) (erased store.Erased, err error) {
		err = e.snapshotter.Suspend(namespaceName(namespace), name, func() error {
			erased, err = e.ledger.Erase(ctx, ns, name)
			return err
		})
		return erased, err
	})
}
