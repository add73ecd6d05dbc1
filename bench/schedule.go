package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// schedule returns the due times of an open loop's requests since its start: n requests, or as many
// as are due before limit. 0 is no limit; one of the two is set.
func schedule(l Load, n int, limit time.Duration, seed uint64) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 0x0be17)) //nolint:gosec // arrivals are no secret
	gap := float64(time.Second) / l.Rate
	var due []time.Duration
	for at := 0.0; n == 0 || len(due) < n; {
		if l.Constant {
			at = float64(len(due)) * gap
		} else {
			at += r.ExpFloat64() * gap
		}
		if limit > 0 && at >= float64(limit) || len(due) == maxScheduled {
			break
		}
		due = append(due, time.Duration(at))
	}
	return due
}

// generator records how well the load generator kept its schedule.
type generator struct {
	// late are delays of requests that no limit held back.
	late []float64 // ms
	// waited counts requests that waited because the largest number was under way.
	waited int
}

// openLoop sends each request at its due time after start, whether or not earlier ones were answered,
// with at most l.Clients at once. A request that finds no free place waits, and the wait counts.
// open returns when all are answered. Once ctx is done it begins no more, and interrupted requests
// are not counted.
func (a *asker) openLoop(ctx context.Context, l Load, start time.Time, due []time.Duration) ([]sample, generator,
	time.Duration,
) {
	var (
		wg      sync.WaitGroup
		places  = make(chan struct{}, l.Clients)
		samples = make([]sample, len(due))
		done    = make([]bool, len(due))
		gen     generator
		held    time.Duration // until when the limit delayed the schedule
	)
	timer := time.NewTimer(0)
	defer timer.Stop()
	a.next.Store(0)
	for i, at := range due {
		if !sleepUntil(ctx, timer, start.Add(at)) {
			break
		}
		if at >= held {
			gen.late = append(gen.late, millis(time.Since(start)-at))
		}
		waited, ok := take(ctx, places)
		if !ok {
			break
		}
		if waited {
			held = time.Since(start)
		}
		if waited || at < held {
			gen.waited++
		}
		wg.Go(func() {
			defer func() { <-places }()
			s := a.ask(ctx, a.body(l.Repeated))
			s.at, s.took = at, s.began.Sub(start.Add(at))+s.sent
			samples[i], done[i] = s, ctx.Err() == nil || s.err == nil
		})
	}
	wg.Wait()
	took := time.Since(start)
	answered := samples[:0]
	for i, s := range samples {
		if done[i] {
			answered = append(answered, s)
		}
	}
	return answered, gen, took
}

// sleepUntil waits until the given time. It returns false if ctx ended first.
func sleepUntil(ctx context.Context, timer *time.Timer, at time.Time) bool {
	if d := time.Until(at); d > 0 {
		timer.Reset(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// take takes a place and reports whether it had to wait for one.
func take(ctx context.Context, places chan struct{}) (waited, ok bool) {
	select {
	case places <- struct{}{}:
		return false, true
	default:
	}
	select {
	case places <- struct{}{}:
		return true, true
	case <-ctx.Done():
		return true, false
	}
}
