package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	ragindex "github.com/ragctx/ragctx/index"
)

// Searches during inserts: a fifth of the rows is added, in batches of a document's size, while one
// goroutine searches.
const (
	insertShare  = 5
	insertBatch  = 50
	quietSearchs = 5000
)

// latencies are the durations of searches, in milliseconds.
type latencies struct {
	QuietP50 float64 `json:"quiet_p50_ms"`
	QuietP99 float64 `json:"quiet_p99_ms"`
	BusyP50  float64 `json:"busy_p50_ms"`
	BusyP99  float64 `json:"busy_p99_ms"`
	BusyMax  float64 `json:"busy_max_ms"`
	Searches int     `json:"busy_searches"`
	Rate     float64 `json:"inserted_per_second"` // until all are linked
}

// searchDuringInserts fills the native index and measures searches without and with concurrent inserts,
// with GOMAXPROCS=2.
func searchDuringInserts(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 3 {
		return errUsage
	}
	base, err := openMatrix(args[0])
	if err != nil {
		return err
	}
	queries, err := openMatrix(args[1])
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(2)
	base = base.head(limit)
	x := &storedIndex{graph: "native"}
	first := base.rows - base.rows/insertShare
	if err := x.build(ctx, base.head(first), 2); err != nil {
		return err
	}
	l, err := x.beside(ctx, base, queries, first)
	if err := errors.Join(err, x.Close()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(l)
}

func (x *storedIndex) beside(ctx context.Context, base, queries matrix, first int) (latencies, error) {
	var l latencies
	quiet, err := x.latencies(ctx, queries, func(n int) bool { return n == quietSearchs })
	if err != nil {
		return l, err
	}
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- x.insert(ctx, base, first) }()
	var failed error
	busy, err := x.latencies(ctx, queries, func(int) bool {
		select {
		case failed = <-done:
			return true
		default:
			return false
		}
	})
	l = latencies{
		QuietP50: percentile(quiet, .5), QuietP99: percentile(quiet, .99), BusyP50: percentile(busy, .5),
		BusyP99: percentile(busy, .99), BusyMax: percentile(busy, 1), Searches: len(busy),
		Rate: float64(base.rows-first) / time.Since(began).Seconds(),
	}
	return l, errors.Join(err, failed)
}

// insert adds the rows from first on, and waits until they are linked.
func (x *storedIndex) insert(ctx context.Context, base matrix, first int) error {
	for i := first; i < base.rows; i += insertBatch {
		if err := x.apply(ctx, base, i, min(i+insertBatch, base.rows)); err != nil {
			return err
		}
	}
	return x.settled(ctx)
}

// latencies runs one query after another until stop returns true.
func (x *storedIndex) latencies(ctx context.Context, queries matrix, stop func(n int) bool) ([]time.Duration, error) {
	var times []time.Duration
	for i := 0; !stop(i); i++ {
		q := ragindex.VectorQuery{Vector: queries.row(i % queries.rows), K: k}
		began := time.Now()
		if _, err := x.index.Search(ctx, q); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// percentile returns the p-quantile in milliseconds.
func percentile(times []time.Duration, p float64) float64 {
	if len(times) == 0 {
		return 0
	}
	times = slices.Sorted(slices.Values(times))
	at := max(int(math.Ceil(p*float64(len(times))))-1, 0)
	return times[at].Seconds() * 1000
}
