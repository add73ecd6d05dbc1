package sqlite_test

import (
	"testing"

	"github.com/ragctx/ragctx/internal/store"
)

func TestRecordFiles(t *testing.T) {
	f := fresh(t)
	stat := func(id string) string {
		t.Helper()
		d, _, err := f.Document(t.Context(), f.ns, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		return d.Stat
	}
	note := func(id, root string, version int, stat string) {
		t.Helper()
		files := []store.FileState{{ID: "never", Version: 1, Stat: "s"}, {ID: id, Root: root, Version: version, Stat: stat}}
		if err := f.RecordFiles(t.Context(), f.ns, files); err != nil {
			t.Fatal(err)
		}
	}
	f.doc(t, "a", "one", "/docs")
	note("a", "/docs", 1, "s1")
	if got := stat("a"); got != "s1" {
		t.Errorf("noted: %q", got)
	}
	note("a", "/elsewhere", 1, "s2")
	note("a", "/docs", 2, "s2")
	if got := stat("a"); got != "s1" {
		t.Errorf("of another root or version: %q", got)
	}
	if p := f.doc(t, "a", "one", "/docs"); p.Status != store.Unchanged || stat("a") != "s1" {
		t.Errorf("after an unchanged put: %v, %q", p.Status, stat("a"))
	}
	f.doc(t, "a", "two", "/docs")
	if got := stat("a"); got != "" {
		t.Errorf("of a new version: %q", got)
	}
}

func TestPagesOfChunks(t *testing.T) {
	f := fresh(t)
	c := f.content("one\ftwo", nil)
	c.Chunks = []store.Chunk{{}, {}}
	for i, text := range []string{"one", "two"} {
		c.Chunks[i].Ordinal, c.Chunks[i].Text, c.Chunks[i].Page = i, text, i+1
	}
	p := prepared(t, "paged", "one\ftwo")
	if _, err := f.PutDocument(t.Context(), f.ns, p, "", c); err != nil {
		t.Fatal(err)
	}
	units, err := f.DocumentChunks(t.Context(), f.ns, "paged", 0)
	if err != nil || len(units) != 2 || units[0].Page != 1 || units[1].Page != 2 {
		t.Errorf("units %+v, %v", units, err)
	}
}
