package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		inUse, spare uint64
		want         int
	}{
		{0, spareHeap, 300},
		{1 << 20, spareHeap, 300},
		{spareHeap / 2, spareHeap, 200},
		{spareHeap, spareHeap, 100},
		{spareHeap + 1, spareHeap, 100},
		{8 << 30, spareHeap, 100},
		{16 << 20, 32 << 20, 200},
		{16 << 20, 0, 100},
	} {
		if got := percentFor(c.inUse, c.spare); got != c.want {
			t.Errorf("%d bytes in use, %d to spare: %d %%, want %d", c.inUse, c.spare, got, c.want)
		}
	}
}

func TestSpareFor(t *testing.T) {
	for limit, want := range map[int64]uint64{math.MaxInt64: spareHeap, 8 * spareHeap: spareHeap, 256 << 20: 32 << 20, 0: 0, -1: 0} {
		if got := spareFor(limit); got != want {
			t.Errorf("of %d bytes %d are spared, want %d", limit, got, want)
		}
	}
}

// While serving, Go collects less often than it would, and has more processors; afterwards
// all is as before. What the environment says is not touched.
func TestForServing(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	const limit = 16 * spareHeap // of which all is spared
	cores, before := runtime.GOMAXPROCS(0), percent()
	for _, set := range []string{"", "GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
		_, back := forServing(func(name string) (string, bool) { return "", name == set }, limit)
		runtime.GC()
		if more := runtime.GOMAXPROCS(0) > cores; more == (set == "GOMAXPROCS") {
			t.Errorf("with %q in the environment Go has %d processors of %d", set, runtime.GOMAXPROCS(0), cores)
		}
		roomy := percentFor(inUse(), spareHeap) > 110 // with the live heap that earlier tests left behind
		if less := percent() > before; less == (set == "GOGC") && roomy {
			t.Errorf("with %q in the environment Go collects at %d %%", set, percent())
		}
		if kept := debug.SetMemoryLimit(-1); (kept < limit) == (set == "GOMEMLIMIT") {
			t.Errorf("with %q in the environment Go keeps to %d bytes", set, kept)
		}
		back()
		if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
			t.Errorf("afterwards Go keeps to %d bytes", limit)
		}
		if runtime.GOMAXPROCS(0) != cores || percent() != before {
			t.Errorf("afterwards Go has %d processors and collects at %d %%", runtime.GOMAXPROCS(0), percent())
		}
	}
}

// While somebody works with a large body, and for a while after, memory is collected more
// often than usual.
func TestLargeBodiesAreCollected(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	large, back := forServing(func(string) (string, bool) { return "", false }, 16*spareHeap)
	defer back()
	usual := percent()
	one, other := large(), large()
	for _, done := range []func(){one, other} {
		runtime.GC()
		if p := percent(); p != largePercent {
			t.Errorf("beside a large body %d %%, want %d", p, largePercent)
		}
		done()
	}
	if p := percent(); p != largePercent {
		t.Errorf("a moment after it %d %%, want %d", p, largePercent)
	}
	if usual <= largePercent {
		t.Errorf("else %d %%, want more than %d", usual, largePercent)
	}
}
