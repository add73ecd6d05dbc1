package trace

import (
	"slices"
	"sync/atomic"
	"time"
)

// DurationBounds returns the upper bounds of the buckets of [Durations], ascending: 1, 2 and 5
// times each power of ten. They range from less than a scan of a small collection takes to more
// than any client waits.
func DurationBounds() []time.Duration { return durationBounds[:] }

var durationBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
}

// Durations is a histogram of durations.
type Durations struct {
	Count uint64
	Sum   time.Duration
	// Buckets has a count for each of [DurationBounds]: the durations up to the bound and above the
	// one before. The last count is for durations above all bounds.
	Buckets []uint64
}

// Mean returns the average, or 0 if nothing was counted.
func (d Durations) Mean() time.Duration {
	if d.Count == 0 {
		return 0
	}
	return d.Sum / time.Duration(d.Count) //nolint:gosec // far fewer than 2⁶³
}

// Quantile estimates the duration that a share q (0 to 1) of all durations does not exceed. It
// interpolates linearly within a bucket. Durations above all bounds count as the last bound.
func (d Durations) Quantile(q float64) time.Duration {
	rank, below := q*float64(d.Count), 0.0
	for i, n := range d.Buckets {
		if i == len(durationBounds) || n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		var from time.Duration
		if i > 0 {
			from = durationBounds[i-1]
		}
		return from + time.Duration((rank-below)/float64(n)*float64(durationBounds[i]-from))
	}
	if d.Count == 0 {
		return 0
	}
	return durationBounds[len(durationBounds)-1]
}

// Histogram counts durations without a lock. The zero value is ready for use. It is safe for
// concurrent use.
type Histogram struct {
	sum     atomic.Int64
	buckets [len(durationBounds) + 1]atomic.Uint64
}

// Add counts a duration.
func (h *Histogram) Add(took time.Duration) {
	took = max(0, took) // negative if the clock was set back
	i, _ := slices.BinarySearch(durationBounds[:], took)
	h.buckets[i].Add(1)
	h.sum.Add(int64(took))
}

// Durations returns a snapshot. Count is the sum of the bucket counts, so that the two agree during
// concurrent calls of Add.
func (h *Histogram) Durations() Durations {
	d := Durations{Sum: time.Duration(h.sum.Load()), Buckets: make([]uint64, len(h.buckets))}
	for i := range h.buckets {
		d.Buckets[i] = h.buckets[i].Load()
		d.Count += d.Buckets[i]
	}
	return d
}
