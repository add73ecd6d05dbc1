package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// needsVersion reports whether the condition requires more than existence.
func needsVersion(c store.Condition) bool { return c.Revisions != nil || c.None }

// checkAll checks conditions against the current version of an item, nil for a missing item.
func checkAll(all []store.Condition, noun, id string, is *current) error {
	for _, c := range all {
		var err error
		if is == nil {
			err = c.CheckMissing(noun, id)
		} else {
			err = c.Check(noun, id, is.version, is.recorded)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCurrent checks conditions against the current version of an item.
func checkCurrent(ctx context.Context, tx *Tx, ns int64, k store.Kind, id string, all []store.Condition) error {
	if len(all) == 0 {
		return nil
	}
	is, err := findCurrent(ctx, tx, ns, k, id)
	if err != nil {
		return err
	}
	noun := map[store.Kind]string{store.KindDocuments: "document", store.KindMemories: "memory"}[k]
	return checkAll(all, noun, id, is)
}
