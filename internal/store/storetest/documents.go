package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

func testDocumentVersions(t *testing.T, open Opener) {
	f := fresh(t, open)
	if p := f.doc(t, "a", "one", ""); p.Status != store.Created || p.Version != 1 || p.Chunks != 1 {
		t.Errorf("first put: %+v", p)
	}
	if p := f.doc(t, "a", "one", ""); p.Status != store.Unchanged || p.Version != 1 {
		t.Errorf("same again: %+v", p)
	}
	if p := f.doc(t, "a", "two", ""); p.Status != store.Replaced || p.Version != 2 {
		t.Errorf("other content: %+v", p)
	}
	for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
		if _, text, err := f.Document(t.Context(), f.ns, "a", version); err != nil || text != want {
			t.Errorf("version %d: %q, %v", version, text, err)
		}
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Document(t.Context(), f.ns, "a", 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a deleted document: %v", err)
	}
	_, _, err := f.Document(t.Context(), f.ns, "a", 9)
	if !errors.Is(err, ragctx.ErrNotFound) || err.Error() != `version 9 of document "a": not found` {
		t.Errorf("a missing version: %v", err)
	}
	_, err = f.DeleteDocument(t.Context(), f.ns, "a")
	if !errors.Is(err, ragctx.ErrNotFound) || err.Error() != `document "a": not found` {
		t.Errorf("deleted twice: %v", err)
	}
	if p := f.doc(t, "a", "two", ""); p.Status != store.Created || p.Version != 3 {
		t.Errorf("put after a delete: %+v", p)
	}
}

// testRoots checks that a folder does not replace the documents of another one.
func testRoots(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.doc(t, "docs/a", "one", "/x/docs")
	p := Prepare(t, "docs/a", "two")
	_, err := f.PutDocument(t.Context(), f.ns, p, "/y/docs", f.content("two", p.Chunks))
	if !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(),
		"/x/docs") || !strings.Contains(err.Error(), "--prefix") {
		t.Errorf("got %v, want a conflict that names the folder and the remedy", err)
	}
}

func testListDocuments(t *testing.T, open Opener) {
	f := fresh(t, open)
	for _, id := range []string{"b/2", "a/1", "b/1", "c%_"} {
		f.doc(t, id, "text of "+id, "")
	}
	ids := func(o store.ListOptions) (out []string) {
		if o.Limit == 0 {
			o.Limit = 10
		}
		list, err := f.ListDocuments(t.Context(), f.ns, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			out = append(out, d.ID)
		}
		return out
	}
	if got := ids(store.ListOptions{}); !slices.Equal(got, []string{"a/1", "b/1", "b/2", "c%_"}) {
		t.Errorf("all: %v", got)
	}
	if got := ids(store.ListOptions{After: "a/1", Limit: 2}); !slices.Equal(got, []string{"b/1", "b/2"}) {
		t.Errorf("a page: %v", got)
	}
	if got := ids(store.ListOptions{Prefix: "c%"}); !slices.Equal(got, []string{"c%_"}) {
		t.Errorf("by prefix: %v", got)
	}
}

func testCanceledWrite(t *testing.T, open Opener) {
	f := fresh(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := Prepare(t, "a", "x")
	if _, err := f.PutDocument(ctx, f.ns, p, "", f.content("x", p.Chunks)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b := f.follow(t, f.documents(), 0); len(b.Add) != 0 {
		t.Error("something was stored")
	}
}

// testRecordFiles records the state of a file with its document.
func testRecordFiles(t *testing.T, open Opener) {
	f := fresh(t, open)
	stat := func() string {
		t.Helper()
		d, _, err := f.Document(t.Context(), f.ns, "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		return d.Stat
	}
	record := func(root string, version int, stat string) {
		t.Helper()
		files := []store.FileState{{ID: "never", Version: 1, Stat: "s"}, {ID: "a", Root: root, Version: version, Stat: stat}}
		if err := f.RecordFiles(t.Context(), f.ns, files); err != nil {
			t.Fatal(err)
		}
	}
	f.doc(t, "a", "one", "/docs")
	record("/docs", 1, "s1")
	if got := stat(); got != "s1" {
		t.Errorf("recorded: %q", got)
	}
	record("/elsewhere", 1, "s2")
	record("/docs", 2, "s2")
	if got := stat(); got != "s1" {
		t.Errorf("of another root or version: %q", got)
	}
	if p := f.doc(t, "a", "one", "/docs"); p.Status != store.Unchanged || stat() != "s1" {
		t.Errorf("after an unchanged put: %v, %q", p.Status, stat())
	}
	f.doc(t, "a", "two", "/docs")
	if got := stat(); got != "" {
		t.Errorf("of a new version: %q", got)
	}
}

// testPages checks that chunks keep the numbers of their pages.
func testPages(t *testing.T, open Opener) {
	f := fresh(t, open)
	c := f.content("one\ftwo", nil)
	c.Chunks = []store.Chunk{{}, {}}
	for i, text := range []string{"one", "two"} {
		c.Chunks[i].Ordinal, c.Chunks[i].Text, c.Chunks[i].Page = i, text, i+1
		c.Chunks[i].Start, c.Chunks[i].End = chunk.Pos{Byte: 4 * i, Rune: 4 * i}, chunk.Pos{Byte: 4*i + 3, Rune: 4*i + 3}
	}
	p := Prepare(t, "paged", "one\ftwo")
	if _, err := f.PutDocument(t.Context(), f.ns, p, "", c); err != nil {
		t.Fatal(err)
	}
	units, err := f.DocumentChunks(t.Context(), f.ns, "paged", 0)
	if err != nil || len(units) != 2 || units[0].Page != 1 || units[1].Page != 2 {
		t.Errorf("units %+v, %v", units, err)
	}
}

// testKeepVersions replaces a document more often than versions are kept.
func testKeepVersions(t *testing.T, open Opener) {
	f := openIn(t, open, t.TempDir(), Options{KeepVersions: 3})
	removed := 0
	for i := 1; i <= 6; i++ {
		before := f.follow(t, f.documents(), 0).Seq
		f.doc(t, "a", fmt.Sprint("text ", i), "")
		f.doc(t, "b", "never replaced", "")
		removed += len(f.follow(t, f.documents(), before).Removed)
	}
	if removed != 3 {
		t.Errorf("the indexes remove %d items; want 3", removed)
	}
	for version := 1; version <= 6; version++ {
		_, text, err := f.Document(t.Context(), f.ns, "a", version)
		if version <= 3 && !errors.Is(err, ragctx.ErrNotFound) || version > 3 && text != fmt.Sprint("text ", version) {
			t.Errorf("version %d: %q, %v", version, text, err)
		}
	}
}

// testFewerVersions opens the store with fewer versions to keep: later writes remove the others.
func testFewerVersions(t *testing.T, open Opener) {
	dir := t.TempDir()
	f := openIn(t, open, dir, Options{KeepVersions: -1})
	for i := range 12 {
		f.doc(t, "a", fmt.Sprint("text ", i), "")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = openIn(t, open, dir, Options{KeepVersions: 3})
	for i := range 9 {
		f.doc(t, "a", fmt.Sprint("more ", i), "")
	}
	for version := 1; version <= 21; version++ {
		_, _, err := f.Document(t.Context(), f.ns, "a", version)
		if kept := err == nil; kept != (version > 18) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// testDropDocument checks that a document ends only in the version made from the file.
func testDropDocument(t *testing.T, open Opener) {
	f := fresh(t, open)
	f.doc(t, "a", "one", "/docs")
	f.doc(t, "a", "two", "/docs")
	for _, c := range []struct {
		file store.FileState
		want error
	}{
		{store.FileState{ID: "a", Root: "/docs", Version: 1}, ragctx.ErrNotFound},
		{store.FileState{ID: "a", Root: "/elsewhere", Version: 2}, ragctx.ErrNotFound},
		{store.FileState{ID: "a", Root: "/docs", Version: 2}, nil},
		{store.FileState{ID: "a", Root: "/docs", Version: 2}, ragctx.ErrNotFound},
	} {
		if seq, err := f.DropDocument(t.Context(), f.ns, c.file); !errors.Is(err, c.want) || (err == nil) != (seq > 0) {
			t.Errorf("%+v: %d, %v", c.file, seq, err)
		}
	}
}

// testConditions checks that a write whose condition does not hold changes nothing.
func testConditions(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(text string, when store.Condition) (store.Put, error) {
		p := Prepare(t, "a", text)
		return f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks), when)
	}
	for _, when := range []store.Condition{{Any: true}, {Revisions: []string{"1.x"}}} {
		if _, err := put("one", when); !errors.Is(err, ragctx.ErrPrecondition) {
			t.Errorf("%+v of a missing document: %v", when, err)
		}
	}
	one, err := put("one", store.Condition{None: true})
	if err != nil || one.Revision == "" {
		t.Fatalf("%+v, %v", one, err)
	}
	two, err := put("two", store.Condition{Revisions: []string{one.Revision}})
	if err != nil || two.Revision == one.Revision {
		t.Fatalf("%+v, %v", two, err)
	}
	for _, when := range []store.Condition{{None: true}, {Revisions: []string{one.Revision}}, {Revisions: []string{}}} {
		if _, err := put("three", when); !errors.Is(err, ragctx.ErrPrecondition) {
			t.Errorf("%+v: %v", when, err)
		}
		if _, err := f.DeleteDocument(t.Context(), f.ns, "a", when); !errors.Is(err, ragctx.ErrPrecondition) {
			t.Errorf("%+v of a deletion: %v", when, err)
		}
		if _, err := f.EraseDocument(t.Context(), f.ns, "a", when); !errors.Is(err, ragctx.ErrPrecondition) {
			t.Errorf("%+v of an erasure: %v", when, err)
		}
	}
	if d, text, err := f.Document(t.Context(), f.ns, "a", 0); err != nil || text != "two" || d.Revision() != two.Revision {
		t.Errorf("%+v, %q, %v", d, text, err)
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "a", store.Condition{Any: true}); err != nil {
		t.Error(err)
	}
}

// testSketches checks that the sketches are those of current documents, with equal hashes for equal texts.
func testSketches(t *testing.T, open Opener) {
	f := fresh(t, open)
	for _, id := range []string{"a", "b", "gone"} {
		f.doc(t, id, "the same text", "")
	}
	f.doc(t, "c", "another text", "")
	f.doc(t, "c", "a third text", "")
	if _, err := f.DeleteDocument(t.Context(), f.ns, "gone"); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]passage.SketchedDocument)
	for _, d := range must(f.Sketches(t.Context(), f.ns))(t) {
		all[d.ID] = d
	}
	if len(all) != 3 || all["a"].Hash != all["b"].Hash || all["a"].Hash == all["c"].Hash || all["c"].ID != "c" {
		t.Errorf("%+v", all)
	}
}

// testDocumentModel compares the store with texts in a map over random writes. Documents with equal texts may
// share them, so each must keep its text whatever happens to the others.
func testDocumentModel(t *testing.T, open Opener) {
	f := fresh(t, open)
	r := rand.New(rand.NewPCG(1, 2))
	want := make(map[string]string)
	for range 300 {
		id := string(rune('a' + r.IntN(4)))
		switch r.IntN(6) {
		case 0:
			if _, err := f.DeleteDocument(t.Context(), f.ns, id); (err == nil) != (want[id] != "") {
				t.Fatalf("delete %s: %v", id, err)
			}
			delete(want, id)
		case 1:
			if _, err := f.EraseDocument(t.Context(), f.ns, id); err != nil {
				t.Fatalf("erase %s: %v", id, err)
			}
			delete(want, id)
		default:
			text := strings.Repeat("Here are some words. ", []int{1, 40, 300}[r.IntN(3)])
			put := f.doc(t, id, text, "")
			if (put.Status == store.Unchanged) != (want[id] == text) {
				t.Fatalf("put %s: %+v", id, put)
			}
			want[id] = text
		}
		list := must(f.ListDocuments(t.Context(), f.ns, store.ListOptions{Limit: 10}))(t)
		if len(list) != len(want) {
			t.Fatalf("%d documents, want %d", len(list), len(want))
		}
		for _, d := range list {
			if _, text, err := f.Document(t.Context(), f.ns, d.ID, 0); err != nil ||
				text != want[d.ID] || d.Bytes != len(text) {
				t.Fatalf("%s has %d bytes, want %d, %v", d.ID, len(text), len(want[d.ID]), err)
			}
		}
	}
}

// testLongDocument checks that nothing of a long document is found before all of it is stored.
func testLongDocument(t *testing.T, open Opener) {
	f := fresh(t, open)
	put := func(seed uint64, chunks int) error {
		p, c := LongDocument("a", seed, chunks, f.embedder)
		_, err := f.PutDocument(t.Context(), f.ns, p, "", c)
		return err
	}
	if err := put(1, 300); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- put(2, 4000) }()
	for running := true; running; {
		select {
		case err := <-done:
			running = false
			if err != nil {
				t.Fatal(err)
			}
		default:
		}
		d, _, err := f.Document(t.Context(), f.ns, "a", 0)
		if err != nil || d.Chunks != 300 && d.Chunks != 4000 {
			t.Errorf("%d chunks, %v", d.Chunks, err)
		}
		if _, _, err := f.Document(t.Context(), f.ns, "a", -1); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("a negative version: %v", err)
		}
		if b := f.follow(t, f.documents(), 0); len(b.Add) != 300 && len(b.Add) != 4300 {
			t.Errorf("followed %d chunks", len(b.Add))
		}
	}
}
