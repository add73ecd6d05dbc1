package hnsw

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// stored returns the path of a graph's file.
func stored(tb testing.TB, g *Graph) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "graph")
	if err := atomicfile.WriteFile(atomicfile.OS{}, path, func(w io.Writer) error { return g.Write(w, "stored") }); err != nil {
		tb.Fatal(err)
	}
	return path
}

// TestReadMaps changes a graph whose file is mapped, and removed: the file stays
// what it was, and opening takes no memory.
func TestReadMaps(t *testing.T) {
	vectors := clustered(20_000, 384, 10, .5, 4)
	g := newGraph(t, Options{Dimensions: 384, EfConstruction: 16, LinkFrom: 1})
	for i, v := range vectors {
		_ = g.Put(uint64(i), v)
	}
	path := stored(t, g)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	resident := anonymous(t)
	h, name, err := Read(atomicfile.OS{}, path, Options{Dimensions: 384})
	if err != nil || name != "stored" {
		t.Fatal(name, err)
	}
	defer h.Close()
	if grown := anonymous(t) - resident; grown > 1<<20 {
		t.Errorf("opening takes %d bytes of memory", grown)
	}
	if err := h.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if grown := anonymous(t) - resident; grown > 8<<20 {
		t.Errorf("checking takes %d bytes of memory", grown)
	}
	if err := h.Put(1, vectors[2]); err != nil {
		t.Fatal(err)
	}
	h.Delete(3)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Fatal("the file has changed", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if found, _ := search(t, h, Query{Unit: vectors[2], K: 2}); found[0].ID != 1 || found[1].ID != 2 {
		t.Error(found)
	}
}

// anonymous returns the resident memory of the process that is in no file.
func anonymous(tb testing.TB) int {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip(err)
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	var kib int
	if _, err := fmt.Sscan(after, &kib); err != nil {
		tb.Skip(err)
	}
	return kib << 10
}

// TestFileCut cuts a file that is in use, before and after it was checked: what
// cannot be read any more is damage, in all goroutines.
func TestFileCut(t *testing.T) {
	vectors := clustered(9000, 16, 5, .4, 12)
	g := build(t, Options{Dimensions: 16, M: 4, EfConstruction: 16, LinkFrom: 1}, vectors[:8500])
	for _, v := range vectors[8500:] {
		_ = g.Put(uint64(len(g.byID)), v)
	}
	for name, use := range map[string]func(h *Graph) error{
		"search": func(h *Graph) error {
			_, _, err := h.Search(t.Context(), Query{Unit: vectors[1], K: 3, Exhaustive: true}, nil)
			return err
		},
		"link": func(h *Graph) error { return h.Link(t.Context()) },
		"tidy": func(h *Graph) error { return h.Tidy(t.Context()) },
		"save": func(h *Graph) error { return h.Write(io.Discard, "") },
	} {
		for _, checked := range []bool{false, true} {
			path := stored(t, g)
			h, _, err := Read(atomicfile.OS{}, path, Options{Dimensions: 16, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if checked {
				if err := h.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
				h.Delete(3)
			}
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
			if err := use(h); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, checked %v: %v", name, checked, err)
			}
			if err := uses(t, h, vectors); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, checked %v: then %v", name, checked, err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
