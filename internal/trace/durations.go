package trace

import (
	"slices"
	"sync/atomic"
	"time"
)

// DurationBounds returns the upper bounds of the classes that [Durations] counts in,
// ascending: 1, 2 and 5 of each power of ten, from below what a scan of a small
// collection takes to beyond what anybody waits for.
func DurationBounds() []time.Duration { return durationBounds[:] }

var durationBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
}

// Durations says how long something took, by classes.
type Durations struct {
	Count uint64
	Sum   time.Duration
	// Classes has, for each of [DurationBounds], how many took at most that long and
	// longer than the bound before; at the end those that took longer than all.
	Classes []uint64
}

// Mean returns the average, 0 of nothing.
func (d Durations) Mean() time.Duration {
	if d.Count == 0 {
		return 0
	}
	return d.Sum / time.Duration(d.Count) //nolint:gosec // far fewer than 2⁶³
}

// Quantile estimates what a share q of all took at most, within 0..1, as if the
// durations of a class were spread evenly over it. What took longer than all bounds
// counts as the last of them.
func (d Durations) Quantile(q float64) time.Duration {
	rank, below := q*float64(d.Count), 0.0
	for i, n := range d.Classes {
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

// Histogram counts durations without a lock. The zero value is empty; it is safe for
// concurrent use.
type Histogram struct {
	sum     atomic.Int64
	classes [len(durationBounds) + 1]atomic.Uint64
}

// Add counts one more.
func (h *Histogram) Add(took time.Duration) {
	took = max(0, took) // a clock that was set back
	i, _ := slices.BinarySearch(durationBounds[:], took)
	h.classes[i].Add(1)
	h.sum.Add(int64(took))
}

// Durations reads what was counted. The count is that of the classes, so that the
// two agree while more is counted.
func (h *Histogram) Durations() Durations {
	d := Durations{Sum: time.Duration(h.sum.Load()), Classes: make([]uint64, len(h.classes))}
	for i := range h.classes {
		d.Classes[i] = h.classes[i].Load()
		d.Count += d.Classes[i]
	}
	return d
}
