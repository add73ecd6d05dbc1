package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
	"github.com/ragctx/ragctx/internal/store/storetest"
)

func TestMain(m *testing.M) {
	sqlstore.OpenFile = openFile
	goleak.VerifyTestMain(m)
}

func openFile(t testing.TB, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ragctx.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: o.Now, KeepVersions: o.KeepVersions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Store
}

// TestCollectorKeepsPublishedItems has the garbage collector come to an item that it found
// hidden, and that was published since.
func TestCollectorKeepsPublishedItems(t *testing.T) {
	s := openFile(t, sqlstore.Options{})
	ns, err := s.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	embedder, err := s.Embedder(t.Context(), embed.Identity{Name: "test", Dimensions: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := storetest.Prepare(t, "a", strings.Repeat("A text of several chunks. ", 100))
	if _, err := s.PutDocument(t.Context(), ns, p, "", storetest.Content(embedder, p.Text, p.Chunks)); err != nil {
		t.Fatal(err)
	}
	in := store.Collection{Namespace: ns, Kind: store.KindDocuments}
	b := storetest.FollowAll(t, s, in, 0, 0)
	if err := s.DeleteHidden(t.Context(), b.Add[0].Item.ID); err != nil {
		t.Fatal(err)
	}
	if after := storetest.FollowAll(t, s, in, 0, 0); len(after.Add) != len(b.Add) {
		t.Errorf("%d units are left of %d", len(after.Add), len(b.Add))
	}
	if _, text, err := s.Document(t.Context(), ns, "a", 0); err != nil || len(text) != 2600 {
		t.Errorf("%d bytes are left, %v", len(text), err)
	}
}
