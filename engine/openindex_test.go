package engine

import (
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
)

// TestAcknowledgeStored names the indexes that cannot have writes that do not wait for them.
func TestAcknowledgeStored(t *testing.T) {
	for _, o := range []Options{
		{AckStored: true},
		{AckStored: true, Index: "weaviate://127.0.0.1", Store: "postgres://127.0.0.1/ragctx"},
	} {
		e := &core{opts: o}
		if _, err := e.openIndexes(); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("index %q, store %q: %v", o.Index, o.Store, err)
		}
	}
}
