package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/providers/docs"
)

// Duplicates returns groups of current documents with equal or nearly equal texts, the largest
// group first. It keeps the groups with an id that begins with prefix. Texts of fewer than 16 words
// are only compared for equality. It compares all documents, in about 5 µs each.
func (e Documents) Duplicates(ctx context.Context, namespace, prefix string) ([]docs.Duplicates, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []docs.Duplicates{}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := e.store.Sketches(ctx, ns)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(docs.FindDuplicates(all), func(d docs.Duplicates) bool {
		return !slices.ContainsFunc(d.IDs, func(id string) bool { return strings.HasPrefix(id, prefix) })
	}), nil
}
