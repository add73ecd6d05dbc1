package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/storetest"
	"github.com/ragctx/ragctx/providers/memory"
)

// BenchmarkTurn measures how long a turn waits for its acknowledgement, one turn
// every 10 ms, alone and while documents are stored as fast as they go.
func BenchmarkTurn(b *testing.B) {
	for _, bc := range []struct {
		name         string
		units, lanes int
	}{
		{"alone", 0, 0},
		{"beside 5-unit documents", 5, 2},
		{"beside 100-unit documents", 100, 2},
		{"beside 20000-unit documents", 20_000, 1},
	} {
		b.Run(bc.name, func(b *testing.B) { benchmarkTurn(b, bc.units, bc.lanes) })
	}
}

func benchmarkTurn(b *testing.B, units, lanes int) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ns, err := s.Namespace(b.Context(), "default", true)
	if err != nil {
		b.Fatal(err)
	}
	embedder, err := s.Embedder(b.Context(), embed.Identity{Name: "test", Dimensions: 256})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	stored := make([]int, lanes)
	for lane := range lanes {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(lane), 1))
			for i := 0; ctx.Err() == nil; i++ {
				c := storetest.RandomContent(rng, units, embedder)
				d := passage.PreparedDocument{Document: ragctx.Document{ExternalID: fmt.Sprint(lane, "-", i)}}
				if _, err := s.PutDocument(ctx, ns, d, "", c); err == nil {
					stored[lane] += units
				}
			}
		})
	}
	took := make([]time.Duration, 0, 1000)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for i := 0; b.Loop(); i++ {
		<-tick.C
		start := time.Now()
		turn := ragctx.Turn{
			ID: fmt.Sprint(i), SessionID: "s", Prompt: "how do I roll back?",
			Response: "with the command roll back", Occurred: start,
		}
		m, parts, _, err := memory.Episode(turn)
		if err != nil {
			b.Fatal(err)
		}
		c := store.Content{Text: m.Content, Embedder: embedder}
		for _, p := range parts {
			c.Chunks = append(c.Chunks, store.Chunk{Chunk: p, Hash: store.VectorKeyOf(fmt.Sprint(i, p.Text)), Vector: make([]float32, 256)})
		}
		if _, _, _, err := s.PutTurn(b.Context(), ns, turn, m, c, false); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	ran := time.Since(began)
	stop()
	wg.Wait()
	slices.Sort(took)
	ms := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	total := 0
	for _, n := range stored {
		total += n
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(.5), "p50-ms")
	b.ReportMetric(ms(.99), "p99-ms")
	b.ReportMetric(ms(1), "max-ms")
	b.ReportMetric(float64(total)/ran.Seconds(), "units/s")
}
