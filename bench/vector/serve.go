package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// index is one of the compared indexes.
type index interface {
	// build indexes all rows with the given number of threads. A row's number is its id.
	build(ctx context.Context, base matrix, threads int) error
	// search appends the ids of the k best hits, best first. ef is the search width of a graph, 0
	// for its default.
	search(ctx context.Context, q []float32, k, ef int, to []uint32) ([]uint32, error)
	// exact searches by comparing the query with every row.
	exact(ctx context.Context, q []float32, k int, to []uint32) ([]uint32, error)
}

// measured is the cost of a command.
type measured struct {
	CPU   float64 `json:"cpu"`   // seconds of CPU time of the process
	Wall  float64 `json:"wall"`  // seconds
	Bytes int64   `json:"bytes"` // growth of anonymous resident memory
}

// serve runs commands from in, one per line, and answers each with a line of JSON:
//
//	build THREADS
//	search EF QUERIES K FILE   the ids of the hits go to FILE, as uint32
//	exact 0 QUERIES K FILE
//
// So the processes of several indexes can take turns.
func serve(ctx context.Context, x index, base, queries matrix, in io.Reader, out io.Writer) error {
	for commands := bufio.NewScanner(in); commands.Scan(); {
		m, err := command(ctx, x, base, queries, strings.Fields(commands.Text()))
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(m); err != nil {
			return err
		}
	}
	return nil
}

func command(ctx context.Context, x index, base, queries matrix, words []string) (measured, error) {
	var n [3]int
	for i, w := range words[1:min(len(words), 4)] {
		v, err := strconv.Atoi(w)
		if err != nil {
			return measured{}, fmt.Errorf("command %q: %w", words, err)
		}
		n[i] = v
	}
	switch {
	case len(words) == 2 && words[0] == "build":
		return measure(func() error {
			runtime.GOMAXPROCS(n[0])
			err := x.build(ctx, base, n[0])
			runtime.GOMAXPROCS(1)
			return err
		})
	case len(words) == 5 && words[0] == "search":
		return answer(queries.head(n[1]), n[2], words[4], func(q []float32, ids []uint32) ([]uint32, error) {
			return x.search(ctx, q, n[2], n[0], ids)
		})
	case len(words) == 5 && words[0] == "exact":
		return answer(queries.head(n[1]), n[2], words[4], func(q []float32, ids []uint32) ([]uint32, error) {
			return x.exact(ctx, q, n[2], ids)
		})
	}
	return measured{}, fmt.Errorf("command %q is unknown", words)
}

// answer asks all queries one after another and writes the ids of the hits.
func answer(queries matrix, k int, path string,
	ask func(q []float32, ids []uint32) ([]uint32, error),
) (measured, error) {
	ids := make([]uint32, 0, queries.rows*k)
	m, err := measure(func() error {
		for i := range queries.rows {
			var err error
			if ids, err = ask(queries.row(i), ids); err != nil {
				return err
			}
			for len(ids) < (i+1)*k {
				ids = append(ids, math.MaxUint32)
			}
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	data, err := binary.Append(nil, binary.LittleEndian, ids)
	if err != nil {
		return m, err
	}
	return m, os.WriteFile(path, data, 0o600)
}

// measure runs do. Memory is measured after a garbage collection.
func measure(do func() error) (measured, error) {
	debug.FreeOSMemory()
	before, err := anonymous()
	if err != nil {
		return measured{}, err
	}
	cpu, wall := processTime(), time.Now()
	if err := do(); err != nil {
		return measured{}, err
	}
	m := measured{CPU: (processTime() - cpu).Seconds(), Wall: time.Since(wall).Seconds()}
	debug.FreeOSMemory()
	after, err := anonymous()
	m.Bytes = after - before
	return m, err
}

// processTime returns the CPU time of this process.
func processTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// anonymous returns the anonymous resident memory of this process.
func anonymous() (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "RssAnon:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		return 0, fmt.Errorf("/proc/self/status has no RssAnon: %w", err)
	}
	return kib << 10, nil
}
