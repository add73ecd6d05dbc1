package main_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// eraseDocuments is the number of documents, each of slightly more than 20 chunks.
var eraseDocuments = flag.Int("erase-documents", 500, "how many documents BenchmarkErase erases from")

// BenchmarkErase measures erasing one document after another:
//
//	go test -run '^$' -bench Erase -benchtime 20x . -erase-documents 500
//
// The wall-clock time of an erasure includes background work of the previous one; the CPU time covers
// the whole process.
func BenchmarkErase(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Options{Dir: b.TempDir(), AnswerCache: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	s := newSpoken(1)
	for i := range *eraseDocuments {
		text := s.handbook().Text
		if _, err := e.Documents().Put(b.Context(), "",
			ragctx.Document{ExternalID: fmt.Sprintf("%d.md", i), Text: text}, ""); err != nil {
			b.Fatal(err)
		}
	}
	untilQuiet(b.Context())
	begun := processTime()
	i := 1
	for b.Loop() {
		if _, err := e.Documents().Erase(b.Context(), "", fmt.Sprintf("%d.md", i*7%*eraseDocuments)); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64((processTime()-begun).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// untilQuiet waits until the process does almost nothing in the background.
func untilQuiet(ctx context.Context) {
	const look = 300 * time.Millisecond
	for begun := processTime(); ctx.Err() == nil; {
		time.Sleep(look)
		now := processTime()
		if now-begun < look/20 {
			return
		}
		begun = now
	}
}
