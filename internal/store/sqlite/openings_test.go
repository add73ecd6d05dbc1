package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// TestDryRunLeavesNoToken: what is saved with the token of an opening that changed
// nothing has to be known after the next one.
func TestDryRunLeavesNoToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), store.DatabaseName)
	open := func() *sqlite.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	ns, err := s.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Token()
	if _, _, _, err := s.PutMemory(t.Context(), ns, ragctx.Memory{ID: "a", Content: "a"}, store.Content{Text: "a"}, store.Tier{}); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.PutTurn(t.Context(), ns, ragctx.Turn{ID: "t", Prompt: "x"}, nil, store.Content{}, false); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open()
	m := ragctx.Memory{ID: "x", Content: "x", About: &ragctx.FactRecord{Kind: "identity"}, Sources: []ragctx.Provenance{{Turn: "t", At: t0}}}
	lesson := store.ExtractedFact{Memory: m, Content: store.Content{Text: "x"}}
	for _, dry := range []bool{true, false} {
		if _, _, err := s.StoreFacts(t.Context(), ns, []store.ExtractedFact{lesson}, dry); err != nil {
			t.Fatal(err)
		}
		if same := s.Token() == before; same != dry {
			t.Errorf("dry %t: the same token: %t", dry, same)
		}
	}
	last := s.Token()
	s.Close()
	if !open().KnowsToken(last) {
		t.Error("a token is not known after the next opening")
	}
}
