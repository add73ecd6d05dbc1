package api

import (
	"slices"
	"testing"

	"github.com/ragctx/ragctx/internal/access"
)

// TestEverywhereReads requires that the operations that each node answers exist, and that they only read.
func TestEverywhereReads(t *testing.T) {
	s := New(nil, Options{})
	var known []string
	for _, op := range operations(s.api.OpenAPI()) {
		known = append(known, op.OperationID)
	}
	for _, id := range everywhere {
		if !slices.Contains(known, id) {
			t.Errorf("there is no operation %s", id)
		}
		if roleOf(id) > access.Read && id != "status" {
			t.Errorf("%s needs the role %s: only the leader writes", id, roleOf(id))
		}
	}
	if len(s.forwarder.here) != len(everywhere) {
		t.Errorf("%d routes for %d operations", len(s.forwarder.here), len(everywhere))
	}
}
