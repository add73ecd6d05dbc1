package keyword

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// zipfText draws words with the frequencies of a natural language.
func zipfText(r *rand.Rand, words int) string {
	z := rand.NewZipf(r, 1.1, 8, 60_000)
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%x ", z.Uint64())
	}
	return b.String()
}

func benchChunks(n int) []index.TextChunk {
	r := rand.New(rand.NewPCG(1, 2))
	chunks := make([]index.TextChunk, n)
	for i := range chunks {
		chunks[i] = index.TextChunk{ID: uint64(i), Item: uint64(i / 25), Title: zipfText(r, 4), Text: zipfText(r, 76)}
	}
	return chunks
}

func benchIndex(b *testing.B, dir string, chunks []index.TextChunk) *Index {
	b.Helper()
	ix, err := Open(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ix.Close() })
	for i := 0; i < len(chunks); i += 500 {
		if err := ix.Apply(b.Context(), uint64(i+1), chunks[i:min(i+500, len(chunks))], nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := ix.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	waitLoaded(b, ix)
	return ix
}

func BenchmarkSearch(b *testing.B) {
	chunks := benchChunks(30_000)
	for _, store := range []string{"Memory", "Disk"} {
		b.Run(store, func(b *testing.B) {
			dir := ""
			if store == "Disk" {
				dir = b.TempDir()
			}
			ix := benchIndex(b, dir, chunks)
			v := ix.view.Load()
			r := rand.New(rand.NewPCG(3, 4))
			queries := make([]string, 200)
			for i := range queries {
				queries[i] = zipfText(r, 6)
			}
			b.ReportAllocs()
			b.ReportMetric(float64(len(v.parts)), "segments")
			i, hits := 0, 0
			for b.Loop() {
				i++
				res, err := ix.Search(b.Context(), index.KeywordQuery{Text: queries[i%len(queries)], K: 100})
				if err != nil {
					b.Fatal(err)
				}
				hits += len(res.Hits)
			}
			b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
		})
	}
}

func BenchmarkIngest(b *testing.B) {
	chunks := benchChunks(10_000)
	b.ResetTimer()
	for b.Loop() {
		ix := benchIndex(b, b.TempDir(), chunks)
		_ = ix.Close()
	}
	b.ReportMetric(float64(len(chunks)*b.N)/b.Elapsed().Seconds(), "chunks/s")
}

func BenchmarkApplyOne(b *testing.B) {
	chunks := benchChunks(5_000)
	ix := benchIndex(b, b.TempDir(), chunks[:2_000])
	i := 0
	for b.Loop() {
		i++
		u := chunks[i%len(chunks)]
		if err := ix.Apply(b.Context(), uint64(10_000+i), []index.TextChunk{u}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadWords(b *testing.B) {
	ix := benchIndex(b, b.TempDir(), benchChunks(10_000))
	v := ix.acquire()
	defer v.release()
	chunks, bytes := 0, int64(0)
	for b.Loop() {
		for _, p := range v.stored() {
			s, ok := p.segment.(*storedSegment)
			if !ok {
				b.Fatal("not stored")
			}
			words, err := s.readWords(func() bool { return true }, index.LongText)
			if err != nil {
				b.Fatal(err)
			}
			chunks, bytes = chunks+p.live, bytes+words.Bytes()
		}
	}
	b.ReportMetric(float64(bytes)/float64(chunks), "B/chunk")
	b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
}
