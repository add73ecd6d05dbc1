package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// BenchmarkLedgerAppend measures durable appends by 8 writers at the same time, one
// message or a batch at a time.
func BenchmarkLedgerAppend(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			l := openLedger(b, b.TempDir(), ledger.Options{NewID: orderedID})
			defer l.Close()
			const writers = 8
			var left atomic.Int64
			start := time.Now()
			b.ResetTimer()
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := l.Append(b.Context(), benchBatch(size, w)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N*size)/time.Since(start).Seconds(), "messages/s")
		})
	}
}

// orderedID makes ids as the engine does: in an index, each comes after those before.
func orderedID() string { return uuid.Must(uuid.NewV7()).String() }

func benchBatch(n, writer int) []ledger.Message {
	batch := make([]ledger.Message, n)
	for i := range batch {
		batch[i] = ledger.Message{
			Namespace: "default", Cluster: "team", Topic: fmt.Sprint("TOPIC_", i%5), Sender: fmt.Sprint("agent-", writer),
			Text: "A message of about eighty bytes, as agents write them to each other when they work.",
			Data: []byte(`{"percentComplete":45,"blockers":["none"]}`),
		}
	}
	return batch
}

// BenchmarkLedgerPublish measures the time from the call of Append to the moment at
// which a subscriber has the message, with 8 writers of 50 messages a second each.
func BenchmarkLedgerPublish(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l := s.Ledger(ledger.Options{NewID: orderedID})
	defer l.Close()
	sub, err := l.Subscribe(ledger.Filter{Namespace: "default", Cluster: "team"})
	if err != nil {
		b.Fatal(err)
	}
	var sent sync.Map // text to time
	var took []time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range sub.C() {
			at, _ := sent.Load(m.Text)
			took = append(took, time.Since(at.(time.Time)))
			if len(took) == b.N {
				return
			}
		}
	}()
	var n atomic.Int64
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				i := n.Add(1)
				if i > int64(b.N) {
					return
				}
				<-tick.C
				m := benchBatch(1, w)
				m[0].Text = fmt.Sprint(i)
				sent.Store(m[0].Text, time.Now())
				if _, err := l.Append(ctx, m); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	<-done
	slices.Sort(took)
	ms := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(.5), "p50-ms")
	b.ReportMetric(ms(.99), "p99-ms")
}
