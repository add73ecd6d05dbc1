package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/ragctx/ragctx/bench"
)

// ProcessProbe returns a probe of a process on this machine and of its data directory; it uses
// /proc if there is one. A pid of 0 and a dir of "" are skipped. Figures of the Go runtime are read
// only for the caller's own process.
func ProcessProbe(pid int, dir string) func() Reading {
	return func() Reading {
		r := NewReading()
		if pid != 0 {
			readProcess(pid, &r)
		}
		if pid == os.Getpid() {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			r.Heap, r.Goroutines = float64(m.HeapInuse), float64(runtime.NumGoroutine())
		}
		if dir != "" {
			r.Disk = diskUsage(dir)
		}
		return r
	}
}

// readProcess reads the figures of a process on this machine.
func readProcess(pid int, r *Reading) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if open, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		r.Files = float64(len(open))
	}
	if threads, err := os.ReadDir(filepath.Join(proc, "task")); err == nil {
		r.Threads = float64(len(threads))
	}
	if u := bench.ProcessUsage(pid); u.Anon > 0 {
		r.Memory = u.Anon
	}
}

// diskUsage returns the total size of the files in dir. Files that appear or vanish during the walk
// may or may not count.
func diskUsage(dir string) (sum float64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += float64(info.Size())
			}
		}
		return nil
	})
	return sum
}
