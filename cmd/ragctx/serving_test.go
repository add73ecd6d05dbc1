package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	for inUse, want := range map[uint64]int{
		0: 1000, 1 << 20: 1000, spareHeap / 4: 400, spareHeap: 100, spareHeap + 1: 100, 8 << 30: 100,
	} {
		if got := percentFor(inUse); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", inUse, got, want)
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
	cores, before := runtime.GOMAXPROCS(0), percent()
	for _, set := range []string{"", "GOMAXPROCS", "GOGC"} {
		back := forServing(func(name string) (string, bool) { return "", name == set })
		runtime.GC()
		if more := runtime.GOMAXPROCS(0) > cores; more == (set == "GOMAXPROCS") {
			t.Errorf("with %q in the environment Go has %d processors of %d", set, runtime.GOMAXPROCS(0), cores)
		}
		if less := percent() > before; less == (set == "GOGC") {
			t.Errorf("with %q in the environment Go collects at %d %%", set, percent())
		}
		back()
		if runtime.GOMAXPROCS(0) != cores || percent() != before {
			t.Errorf("afterwards Go has %d processors and collects at %d %%", runtime.GOMAXPROCS(0), percent())
		}
	}
}
