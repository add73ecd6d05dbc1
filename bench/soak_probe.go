package bench

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ProcessProbe returns a probe of a process on this machine and of its data directory; it uses
// /proc if there is one. A pid of 0 and a dir of "" are skipped. Figures of the Go runtime are read
// only for the caller's own process.
func ProcessProbe(pid int, dir string) func() Reading {
	return func() Reading {
		r := NewReading()
		if pid != 0 {
			readProcess(filepath.Join("/proc", strconv.Itoa(pid)), &r)
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

func readProcess(proc string, r *Reading) {
	if open, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		r.Files = float64(len(open))
	}
	eachStatus(proc, func(name string, v float64) {
		switch name {
		case "RssAnon":
			r.Memory = v * kernelUnit
		case "Threads":
			r.Threads = v
		}
	})
}

// kernelUnit is the kernel's unit of memory, in bytes.
const kernelUnit = 1024

// eachStatus calls see with each number in a process's status file.
func eachStatus(proc string, see func(name string, v float64)) {
	f, err := os.Open(filepath.Join(proc, "status")) //nolint:gosec // below /proc
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil {
			see(name, v)
		}
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
