package engine_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// TestTitleAlone has a document with nothing but a title through a document's whole life.
func TestTitleAlone(t *testing.T) {
	const question, title = "coastal navigation handbook", "A handbook of coastal navigation"
	f := open(t)
	entry := ragctx.Document{ExternalID: "catalogue/17.csv", Title: title, MIME: "text/html"}
	put := func(d ragctx.Document, want store.Status, version int) {
		t.Helper()
		p, err := f.Documents().Put(t.Context(), "", d, "")
		if err != nil || p.Status != want || p.Version != version || p.Chunks != 1 {
			t.Fatalf("%+v: %+v, %v; want %s in version %d", d, p, err, want, version)
		}
	}
	found := func(eng *engine.Engine, want string) {
		t.Helper()
		for _, method := range []string{"convex", "rrf", "keyword", "vector"} {
			if err := eng.Indexes().SetRanking(t.Context(), "", store.KindDocuments, index.Ranking{Method: method}); err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"xml", "documents", "json", "text"} {
				for _, depth := range []ragctx.ContextDepth{ragctx.DepthAbstract, ragctx.DepthOverview, ragctx.DepthFull} {
					q := ragctx.ContextQuery{Query: question, Format: format, Depth: depth}
					a, err := eng.Context(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					i := slices.IndexFunc(a.Items, func(it ragctx.ContextItem) bool { return it.Metadata["document"] == entry.ExternalID })
					if want == "" && i >= 0 || want != "" && (i < 0 || a.Items[i].Content != want || !strings.Contains(cmp.Or(a.Text, a.XML), want)) {
						t.Errorf("%s, %s, %s: %+v, %q; want %q", method, format, depth, a.Items, cmp.Or(a.Text, a.XML), want)
					}
				}
			}
		}
	}
	f.put("other.md", "# Baking\n\nBread rises for two hours.\n")

	put(entry, store.Created, 1)
	put(entry, store.Unchanged, 1)
	found(f.Engine, title)
	d, text, err := f.Documents().Get(t.Context(), "", entry.ExternalID, 0)
	if err != nil || text != title || d.Title != title {
		t.Fatalf("%+v with the text %q, %v", d, text, err)
	}
	again := ragctx.Document{ExternalID: d.ID, Title: d.Title, Text: text, MIME: d.MIME, Source: d.Source}
	put(again, store.Unchanged, 1) // what comes out goes in again

	f.reopen()
	found(f.Engine, title)
	file := filepath.Join(t.TempDir(), "snapshot")
	if _, err := f.Admin().Snapshot(t.Context(), file, store.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := engine.Restore(t.Context(), file, dir, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	o := f.opts
	o.Dir = dir
	restored := openWith(t, o)
	found(restored, title)
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}

	full := entry
	full.MIME, full.Text = "text/plain", "Coastal navigation: soundings and lights, a handbook."
	put(full, store.Replaced, 2)
	found(f.Engine, full.Text)
	put(entry, store.Replaced, 3)
	found(f.Engine, title)
	if err := f.Documents().Delete(t.Context(), "", entry.ExternalID); err != nil {
		t.Fatal(err)
	}
	found(f.Engine, "")
}
