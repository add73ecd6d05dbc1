package keyword

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/ragctx/ragctx/index"
)

// randomSegment returns a memory segment of chunks with ids from first on. Its terms have lists of all lengths.
func randomSegment(r *rand.Rand, first uint64, chunks int) *memorySegment {
	m := newMemorySegment(chunks)
	id := first
	for i := range chunks {
		id += 1 + r.Uint64N(3)
		n := m.addChunk(id, first/1000+uint64(i/7))
		m.rows[n].length = uint32(r.IntN(300))
	}
	for t := range 40 + r.IntN(100) {
		word := fmt.Sprintf("w%x", r.IntN(500))
		term := []string{word, "\x01_" + word[:2], openingMark + word, word + " " + word}[t%4]
		if _, again := m.terms[term]; again {
			continue
		}
		list, share, most := m.addList(term), r.Float64(), 1+r.IntN(MaxFrequency)*(t%2)
		for chunk := range uint32(chunks) {
			if r.Float64() < share*share {
				m.lists[list] = append(m.lists[list], posting{chunk, 1 + uint32(r.IntN(most))})
			}
		}
	}
	m.finish()
	return m
}

// builtOf returns the segment of the live chunks of memory segments.
func builtOf(t *testing.T, r *rand.Rand, live func(id uint64) bool, from ...*memorySegment) *builtSegment {
	t.Helper()
	var docs []bleveindex.Document
	for _, m := range from {
		for _, p := range liveChunks(newPart(m, nil)) {
			if live == nil || live(p.id) {
				docs = append(docs, p)
			}
		}
	}
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	made, _, err := segmentPlugin{}.New(docs)
	if err != nil {
		t.Fatal(err)
	}
	return made.(*builtSegment) //nolint:forcetypeassert // what New returns
}

// contents returns the postings of a segment by term and chunk id, and its chunks by id.
func contents(t *testing.T, s *termSegment) (terms map[string]map[uint64]uint32, chunks map[uint64]row) {
	t.Helper()
	rows, err := s.rows()
	if err != nil {
		t.Fatal(err)
	}
	terms, chunks = make(map[string]map[uint64]uint32), make(map[uint64]row)
	for _, r := range rows {
		chunks[r.id] = row{item: r.item, id: r.id, length: r.length}
	}
	var nums []uint32
	var last []byte
	for c := s.seek(nil); c.advance(); {
		if bytes.Compare(last, c.key) >= 0 {
			t.Fatalf("key %q follows %q", c.key, last)
		}
		last = append(last[:0], c.key...)
		l, ok, err := s.find(c.key)
		if err != nil || !ok {
			t.Fatalf("key %q is not found, %v", c.key, err)
		}
		list, err := l.appendPostings(nil, nil, &nums)
		if err != nil || len(list) != l.count {
			t.Fatalf("%q has %d postings of %d, %v", c.key, len(list), l.count, err)
		}
		of, items := make(map[uint64]uint32), make(map[uint64]bool)
		for i, e := range list {
			of[rows[e.chunk].id], items[rows[e.chunk].item] = e.tf, true
			if i > 0 && list[i-1].chunk >= e.chunk {
				t.Fatalf("%q: chunks %v", c.key, list)
			}
		}
		if len(items) != l.texts {
			t.Errorf("%q counts %d items, want %d", c.key, l.texts, len(items))
		}
		terms[termOf(c.key)] = of
	}
	return terms, chunks
}

// wanted returns what contents should return for memory segments.
func wanted(live func(id uint64) bool, from ...*memorySegment) (terms map[string]map[uint64]uint32, chunks map[uint64]row) {
	terms, chunks = make(map[string]map[uint64]uint32), make(map[uint64]row)
	for _, m := range from {
		for i := range m.cols.chunks() {
			if r := m.cols.row(uint32(i)); live == nil || live(r.id) {
				chunks[r.id] = row{item: r.item, id: r.id, length: r.length}
			}
		}
		for term, i := range m.terms {
			for _, e := range m.lists[i] {
				id := m.cols.row(e.chunk).id
				if _, ok := chunks[id]; !ok {
					continue
				}
				if terms[term] == nil {
					terms[term] = make(map[uint64]uint32)
				}
				terms[term][id] = e.tf
			}
		}
	}
	return terms, chunks
}

func sameContents(t *testing.T, s *termSegment, live func(id uint64) bool, from ...*memorySegment) {
	t.Helper()
	terms, chunks := contents(t, s)
	wantTerms, wantChunks := wanted(live, from...)
	if fmt.Sprint(terms) != fmt.Sprint(wantTerms) || fmt.Sprint(chunks) != fmt.Sprint(wantChunks) {
		t.Fatalf("segment of %d terms and %d chunks, want %d and %d", len(terms), len(chunks), len(wantTerms), len(wantChunks))
	}
}

// TestSegmentFiles builds segments from memory, writes, merges and reads them.
func TestSegmentFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plugin := segmentPlugin{}
	for round := range 40 {
		var from []*memorySegment
		var segments []scorchsegment.Segment
		var drops []*roaring.Bitmap
		live := func(id uint64) bool { return (id*2654435761)%8 < uint64(1+round%8) }
		for n := range 1 + r.IntN(4) {
			a := randomSegment(r, uint64(10_000*n), 1+r.IntN(200))
			b := randomSegment(r, uint64(10_000*n+5000), 1+r.IntN(200))
			built := builtOf(t, r, nil, a, b)
			sameContents(t, built.termSegment, nil, a, b)
			if some := builtOf(t, r, live, a, b); some.chunks > 0 {
				sameContents(t, some.termSegment, live, a, b)
			}
			path := filepath.Join(t.TempDir(), fmt.Sprint(n))
			if err := built.Persist(path); err != nil {
				t.Fatal(err)
			}
			if err := verifySegment(path); err != nil {
				t.Fatal(err)
			}
			opened, err := plugin.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			from, segments = append(from, a, b), append(segments, opened)
			drop := roaring.New()
			for i := range built.chunks {
				if !live(built.id(i)) {
					drop.Add(uint32(i))
				}
			}
			drops = append(drops, drop)
		}
		path := filepath.Join(t.TempDir(), "merged")
		numbers, _, err := plugin.Merge(segments, drops, path, make(chan struct{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := plugin.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer merged.Close()
		s := merged.(*openedSegment).termSegment //nolint:forcetypeassert // what Open returns
		sameContents(t, s, live, from...)
		for i, of := range numbers {
			for chunk, n := range of {
				id := segments[i].(*openedSegment).id(chunk) //nolint:forcetypeassert // what Open returns
				if live(id) != (n < uint64(s.chunks)) || live(id) && s.id(int(n)) != id {
					t.Fatalf("chunk %d of segment %d became %d", chunk, i, n)
				}
			}
		}
		if err := verifySegment(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSubsetOfList looks up some chunks in lists of each form.
func TestSubsetOfList(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	m := randomSegment(r, 0, 300)
	s := builtOf(t, r, nil, m).termSegment
	var nums []uint32
	for c := s.seek(nil); c.advance(); {
		l, err := s.list(c.list)
		if err != nil {
			t.Fatal(err)
		}
		all, err := l.appendPostings(nil, nil, &nums)
		if err != nil {
			t.Fatal(err)
		}
		q := subsetLookup{lookup: lookup{maxTf: MaxFrequency}}
		in := bitset(nil).clone(300)
		for chunk := uint32(0); chunk < 300; chunk += 1 + r.Uint32N(1<<r.Uint32N(8)) {
			q.chunks = append(q.chunks, chunk)
			in.set(chunk)
		}
		want := slices.DeleteFunc(all, func(e posting) bool { return !in.has(e.chunk) })
		got, err := l.appendAmong(nil, &q, &nums)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q among %v: %v, want %v, %v", c.key, q.chunks, got, want, err)
		}
	}
}

// TestMatchSkips compares the words that a prefix matches with those of a scan.
func TestMatchSkips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	m := newMemorySegment(1)
	m.addChunk(1, 1)
	for range 5000 {
		word := fmt.Sprintf("%x", r.IntN(1<<r.IntN(20)))
		if _, ok := m.terms[word]; !ok {
			m.lists[m.addList(word)] = []posting{{0, 1}}
		}
	}
	m.finish()
	s := &storedSegment{file: builtOf(t, r, nil, m).termSegment}
	words := m.sortedWords()
	for _, p := range []string{"", "1", "a3", "ffff", "0", "zz"} {
		for _, wrap := range []automaton{acceptAll{}, prefixOnly(p), prefixOnly("a" + p), prefixOnly("7f")} {
			mt := matcher{wrap, max(p, firstWord), p + afterUTF8}
			var got, want []string
			err := s.match(&mt, func(word string, _ int) error { got = append(got, word); return nil })
			for _, w := range words {
				if w >= mt.from && w < mt.until && mt.accepts(w) {
					want = append(want, w)
				}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("prefix %q: %d words, want %d, %v", p, len(got), len(want), err)
			}
		}
	}
}

// prefixOnly is an automaton that accepts strings with a prefix.
type prefixOnly string

func (p prefixOnly) Start() int               { return dead + 1 }
func (p prefixOnly) IsMatch(s int) bool       { return s == dead+1+len(p) }
func (p prefixOnly) CanMatch(s int) bool      { return s != dead }
func (p prefixOnly) WillAlwaysMatch(int) bool { return false }
func (p prefixOnly) Accept(s int, b byte) int {
	switch at := s - dead - 1; {
	case s == dead || at == len(p):
		return s
	case p[at] == b:
		return s + 1
	}
	return dead
}

// TestForeignSegments opens an index whose segments are in scorch's own format, as earlier versions wrote them.
func TestForeignSegments(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(scorchDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	queue := bleveindex.NewAnalysisQueue(1)
	defer queue.Close()
	old, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path": scorchDir(dir), "forceSegmentType": "zap", "forceSegmentVersion": 16,
	}, queue)
	if err != nil {
		t.Fatal(err)
	}
	b := bleveindex.NewBatch()
	b.Update(document.NewDocument(key(1)))
	b.SetInternal([]byte(versionKey), []byte(version))
	if err := cmp.Or(old.Open(), old.Batch(b), old.Close()); err != nil {
		t.Fatal(err)
	}
	ix := mustOpen(t, dir, Options{})
	if ix.Cursor() != 0 || ix.Recovered() == "" {
		t.Errorf("cursor %d, recovered %q", ix.Cursor(), ix.Recovered())
	}
	if err := ix.Apply(t.Context(), 1, []index.TextChunk{{ID: 1, Item: 1, Text: "harbour"}}, nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	if got := search(t, ix, "harbour"); len(got.Hits) != 1 {
		t.Errorf("found %v", got)
	}
}

// FuzzSegmentFile reads damaged files: an error or a panic that guard catches, never more memory than the file justifies.
func FuzzSegmentFile(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 7))
	m := randomSegment(r, 0, 60)
	var docs []bleveindex.Document
	for _, p := range liveChunks(newPart(m, nil)) {
		docs = append(docs, p)
	}
	b, err := buildSegment(docs)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint32(0), byte(0))
	f.Add(b, uint32(len(b)-20), byte(7))
	f.Fuzz(func(_ *testing.T, data []byte, at uint32, flip byte) {
		data = slices.Clone(data)
		if len(data) > 0 {
			data[int(at)%len(data)] ^= flip
		}
		_ = guard(func() error {
			file, err := parseTermFile(data)
			if err != nil {
				return err
			}
			_, _ = file.rows()
			var nums []uint32
			n := 0
			for c := file.seek([]byte("w1")); c.advance() && n < 1<<14; n++ {
				if l, err := file.list(c.list); err == nil {
					_, _ = l.appendPostings(nil, nil, &nums)
				}
			}
			_, _, err = file.find([]byte("w12"))
			return err
		})
	})
}
