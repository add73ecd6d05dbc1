package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// Usage is the resource usage of a process. Unknown figures are 0.
type Usage struct {
	CPU time.Duration
	// Anon is anonymous memory in RAM. File is the part of mapped files in RAM, which the system
	// may reclaim at any time. Both in bytes.
	Anon, File float64
}

// ProcessUsage returns the usage of a process on this machine; it needs /proc.
func ProcessUsage(pid int) Usage {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	u := Usage{CPU: processTime(proc)}
	eachStatus(proc, func(name string, v float64) {
		switch name {
		case "RssAnon":
			u.Anon = v * kernelUnit
		case "RssFile":
			u.File = v * kernelUnit
		}
	})
	return u
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

// tick is the unit of process times. It is the same on all architectures that Go supports.
const tick = 10 * time.Millisecond

// processTime returns the user and system time of a process, fields 14 and 15 of its stat file
// (proc(5)). Field 2 is a name in parentheses and may contain anything.
func processTime(proc string) time.Duration {
	b, err := os.ReadFile(filepath.Join(proc, "stat")) //nolint:gosec // below /proc
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * tick
}

// Sizes are the sizes on disk of the parts of a data directory, in bytes.
type Sizes struct {
	Database float64 `json:"database"`
	Keyword  float64 `json:"keyword"`
	Vector   float64 `json:"vector"`
	Other    float64 `json:"other"` // index catalogs and other files
}

// Total returns the sum of all parts.
func (s Sizes) Total() float64 { return s.Database + s.Keyword + s.Vector + s.Other }

// DirSizes returns the sizes of a data directory. Files that appear or vanish during the walk may
// or may not count.
func DirSizes(dir string) (s Sizes) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // it is gone
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		*s.part(strings.Split(filepath.ToSlash(rel), "/")) += float64(info.Size())
		return nil
	})
	return s
}

// part returns the counter for a file, by its path: index/COLLECTION/PART/….
func (s *Sizes) part(path []string) *float64 {
	switch {
	case len(path) == 1 && strings.HasPrefix(path[0], store.DatabaseName):
		return &s.Database
	case len(path) > 3 && path[0] == store.IndexName && path[2] == "keyword":
		return &s.Keyword
	case len(path) > 3 && path[0] == store.IndexName && strings.HasPrefix(path[2], "vector"):
		return &s.Vector
	default:
		return &s.Other
	}
}

// Size of the work of [control]: some milliseconds.
const (
	controlBytes = 64 << 10
	controlSums  = 64
)

// control does a fixed computation and returns its duration. It shows whether the machine itself
// became faster or slower, independently of ragctx.
func control() time.Duration {
	block := make([]byte, controlBytes)
	start := time.Now()
	for range controlSums {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
	}
	return time.Since(start)
}

// Machine describes this machine: its processor, architecture and system.
func Machine() string {
	name := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value) + ", " + name
				break
			}
		}
	}
	return name + ", " + runtime.GOOS
}
