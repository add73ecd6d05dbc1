package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// Stats counts the contents of a namespace.
type Stats struct {
	Documents int `json:"documents" doc:"that are current"`
	Memories  int `json:"memories" doc:"that are current"`
}

// Stats counts the current documents and memories of a namespace.
func (e Admin) Stats(ctx context.Context, namespace string) (Stats, error) {
	if _, err := e.namespace(ctx, namespace, false); isNotFound(err) {
		return Stats{}, nil
	} else if err != nil {
		return Stats{}, err
	}
	n, err := e.store.DescribeNamespace(ctx, namespaceName(namespace))
	if isNotFound(err) { // erased by now
		err = nil
	}
	return Stats{Documents: n.Documents, Memories: n.Memories}, err
}

// Recall measures the recall of the vector graph of a namespace's documents, 0 to 1, on a
// sample of its own vectors. It returns false for an exact graph.
func (e Indexes) Recall(ctx context.Context, namespace string) (float64, bool, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	idx, release, err := e.collections.Get(ctx, store.Collection{Namespace: ns, Kind: store.KindDocuments})
	if err != nil {
		return 0, false, err
	}
	defer release()
	return idx.Recall(ctx)
}
