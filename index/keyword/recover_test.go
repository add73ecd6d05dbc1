package keyword

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
)

func mustOpen(t testing.TB, dir string, opts Options) *Index {
	t.Helper()
	ix, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix
}

// fill applies n chunks that share a word, from seq 1, and flushes every tenth.
func fill(t testing.TB, ix *Index, n uint64) {
	t.Helper()
	for i := range n {
		u := index.TextChunk{ID: i, Item: i, Title: "title", Text: fmt.Sprint("shared word", i)}
		if err := ix.Apply(t.Context(), i+1, []index.TextChunk{u}, nil); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			flush(t, ix)
		}
	}
	flush(t, ix)
}

func flush(t testing.TB, ix *Index) {
	t.Helper()
	if err := ix.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, ix *Index, text string) index.KeywordResult {
	t.Helper()
	res, err := ix.Search(t.Context(), index.KeywordQuery{Text: text, K: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// stored returns a directory with an index of 25 chunks.
func stored(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	ix := mustOpen(t, dir, Options{})
	fill(t, ix, 25)
	if err := ix.Apply(t.Context(), 26, nil, []uint64{3, 14}); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eachSegment damages all segment files: scorch may keep an older state as well and would rightly
// fall back to it.
func eachSegment(t testing.TB, dir string, harm func(name string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "scorch", "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segment files (%v)", err)
	}
	for _, f := range files {
		harm(f)
	}
}

func edit(t testing.TB, name string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamage(t *testing.T) {
	root := filepath.Join("scorch", "root.bolt")
	for name, harm := range map[string]func(t *testing.T, dir string){
		"flipped bit": func(t *testing.T, dir string) {
			eachSegment(t, dir, func(name string) {
				edit(t, name, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
			})
		},
		"short segment": func(t *testing.T, dir string) {
			eachSegment(t, dir, func(name string) {
				edit(t, name, func(b []byte) []byte { return b[:len(b)/2] })
			})
		},
		"empty segment": func(t *testing.T, dir string) {
			eachSegment(t, dir, func(name string) {
				edit(t, name, func([]byte) []byte { return nil })
			})
		},
		"missing segment": func(t *testing.T, dir string) {
			eachSegment(t, dir, func(name string) { _ = os.Remove(name) })
		},
		"short root": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, root), func(b []byte) []byte { return b[:5000] })
		},
		"garbage root": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, root), func(b []byte) []byte { return slices.Repeat([]byte{0xa5}, len(b)) })
		},
		"flipped bit in root": func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, root), func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		},
		"missing root": func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, root)) },
		"a file": func(t *testing.T, dir string) {
			_ = os.RemoveAll(scorchDir(dir))
			_ = os.WriteFile(scorchDir(dir), nil, 0o600)
		},
		"noted": func(t *testing.T, dir string) { _ = os.WriteFile(filepath.Join(dir, damagedFile), nil, 0o600) },
		"other version": func(t *testing.T, dir string) {
			rewriteMeta(t, dir, func(m *meta) { m.version = "0" })
		},
		"other chunks": func(t *testing.T, dir string) { rewriteMeta(t, dir, func(m *meta) { m.chunks++ }) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := stored(t)
			harm(t, dir)
			ix := mustOpen(t, dir, Options{})
			if ix.Recovered() == "" {
				t.Error("Recovered is empty")
			}
			if c, st := ix.Cursor(), ix.Stats(); c != 0 || st.Chunks != 0 {
				t.Errorf("Cursor %d, %d chunks in a fresh index", c, st.Chunks)
			}
			fill(t, ix, 12)
			_ = ix.Close()
			again := mustOpen(t, dir, Options{})
			if again.Recovered() != "" || again.Cursor() != 12 || len(search(t, again, "shared").Hits) != 12 {
				t.Errorf("after filling again: recovered %q, Cursor %d", again.Recovered(), again.Cursor())
			}
		})
	}
}

// rewriteMeta changes the metadata of the stored chunks.
func rewriteMeta(t *testing.T, dir string, f func(*meta)) {
	t.Helper()
	s, snap, err := readStore(dir, openScorch, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := snap.meta
	snap.release()
	f(&m)
	if err := s.write(batch{meta: m}); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// A crash between the batches of one flush leaves the old cursor, and chunks
// newer than it.
func TestBetweenBatches(t *testing.T) {
	dir := stored(t)
	rewriteMeta(t, dir, func(m *meta) { m.cursor, m.chunks = 20, unknownChunks })
	ix := mustOpen(t, dir, Options{})
	if ix.Recovered() != "" || ix.Cursor() != 20 || ix.Stats().Chunks != 23 {
		t.Errorf("recovered %q, Cursor %d, %+v", ix.Recovered(), ix.Cursor(), ix.Stats())
	}
}

func TestOpenTwice(t *testing.T) {
	dir := stored(t)
	first := mustOpen(t, dir, Options{})
	if second, err := Open(dir, Options{}); err == nil {
		_ = second.Close()
		t.Fatal("opened twice")
	}
	fill(t, first, 5)
	if n := len(search(t, first, "shared").Hits); n != 23+1 { // 3 is back, 14 is not
		t.Errorf("%d chunks, want 24", n)
	}
}

// A small collection costs no files until it is flushed.
func TestLazyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "leg")
	ix := mustOpen(t, dir, Options{})
	if err := ix.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: "text"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory exists: %v", err)
	}
}

// FuzzDamage changes a byte of a stored file or truncates the file there. Open must either recover
// or return an index that answers.
func FuzzDamage(f *testing.F) {
	clean := stored(f)
	f.Add(uint8(0), uint32(100), byte(1), false)
	f.Add(uint8(1), uint32(4096), byte(0xff), false)
	f.Add(uint8(1), uint32(20000), byte(0), true)
	f.Add(uint8(0x84), uint32(4151), byte(0xb2), false) // a length of 800 GB
	f.Fuzz(func(t *testing.T, file uint8, at uint32, flip byte, cut bool) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(clean)); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(scorchDir(dir))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(scorchDir(dir), entries[int(file)%len(entries)].Name())
		edit(t, name, func(b []byte) []byte {
			i := int(at) % len(b)
			b[i] ^= flip
			if cut {
				return b[:i]
			}
			return b
		})
		ix := mustOpen(t, dir, Options{})
		if ix.Recovered() == "" && ix.Cursor() == 26 {
			if n := len(search(t, ix, "shared").Hits); n != 23 {
				t.Errorf("%d of 23 chunks at cursor 26", n)
			}
		}
	})
}

func TestForeignIndexIsDiscarded(t *testing.T) {
	dir := t.TempDir()
	ix := mustOpen(t, dir, Options{Origin: func() string { return "monday" }})
	fill(t, ix, 5)
	_ = ix.Close()
	for _, c := range []struct {
		known  string
		chunks int
	}{{"monday", 5}, {"sunday", 0}} {
		ix := mustOpen(t, dir, Options{Knows: func(origin string) bool { return origin == c.known }})
		if n := ix.Stats().Chunks; n != c.chunks || (c.chunks == 0) != (ix.Recovered() != "") {
			t.Errorf("a store that knows %s: %d chunks, recovered %q", c.known, n, ix.Recovered())
		}
		_ = ix.Close()
	}
}
