package main_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// This test measures many small namespaces: the memory of the process, and the first question in each
// closed namespace:
//
//	go test . -run TestNamespaces -namespaces 10000 -namespaces-dir DIR -timeout 1h -v
//
// A filled directory is reused.
var (
	namespaces      = flag.Int("namespaces", 0, "how many namespaces TestNamespaces makes; 0 leaves it out")
	namespacesDir   = flag.String("namespaces-dir", "", "where they are kept; \"\" is a temporary directory")
	namespacesAsked = flag.Int("namespaces-asked", 1000, "in how many of them it asks a first question")
)

const (
	namespaceChunks  = 20
	namespaceWriters = 8

	// Limits for many namespaces.
	namespacesMemory = 1 << 30
	namespacesFirst  = 100 * time.Millisecond
)

func namespaceName(n int) string { return fmt.Sprintf("customer-%05d", n) }

// fillNamespaces stores one document in each namespace from number from on.
func fillNamespaces(ctx context.Context, e *engine.Engine, from, to int) error {
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, namespaceWriters)
	var wg sync.WaitGroup
	for w := range namespaceWriters {
		wg.Go(func() {
			s := newSpoken(uint64(from + w + 10))
			for errs[w] == nil {
				n := int(next.Add(1)) - 1
				if n >= to {
					return
				}
				var put store.Put
				if put, errs[w] = e.Documents().Put(ctx, namespaceName(n), s.handbook(),
					""); put.Chunks < namespaceChunks && errs[w] == nil {
					errs[w] = fmt.Errorf("namespace %d has %d chunks", n, put.Chunks)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// handbook is a document of slightly more than namespaceChunks chunks.
func (s spoken) handbook() ragctx.Document {
	var text strings.Builder
	for range namespaceChunks {
		fmt.Fprintf(&text, "## %s\n\n%s.\n\n", s.sentence(3), s.sentence(45))
	}
	return ragctx.Document{ExternalID: "handbook.md", Text: text.String()}
}

// TestNamespaces checks the limits of memory and time with many small namespaces.
func TestNamespaces(t *testing.T) {
	if *namespaces <= 0 {
		t.Skip("-namespaces says how many")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("memory is read from /proc")
	}
	dir := *namespacesDir
	if dir == "" {
		dir = t.TempDir()
	}
	note, filled := filepath.Join(dir, "namespaces-filled"), 0
	if b, err := os.ReadFile(note); err == nil {
		filled, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if filled < *namespaces {
		e := openNamespaces(t, dir)
		start := time.Now()
		err := fillNamespaces(t.Context(), e, filled, *namespaces)
		if err = errors.Join(err, os.WriteFile(note, strconv.AppendInt(nil, int64(*namespaces), 10), 0o600)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d namespaces filled in %v", *namespaces-filled, time.Since(start).Round(time.Millisecond))
		underMemory(t, "filled")
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	e := openNamespaces(t, dir)
	t.Cleanup(func() { _ = e.Close() })
	t.Logf("opened in %v", time.Since(begin).Round(time.Millisecond))
	cold, warm := askNamespaces(t, e)
	t.Logf("first question %s", percentiles(cold))
	t.Logf("second         %s", percentiles(warm))
	underMemory(t, "asked")
	if p99 := cold[len(cold)*99/100]; p99 > namespacesFirst {
		t.Errorf("the first question takes %v at p99; at most %v is right", p99, namespacesFirst)
	}
}

func openNamespaces(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Dir: filepath.Join(dir, "data"), AnswerCache: -1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// askNamespaces asks two questions in each of some namespaces, in random order.
func askNamespaces(t *testing.T, e *engine.Engine) (cold, warm []time.Duration) {
	t.Helper()
	order, s := rand.New(rand.NewPCG(5, 5)).Perm(*namespaces), newSpoken(1)
	missed := 0
	for _, n := range order[:min(*namespacesAsked, *namespaces)] {
		for _, took := range []*[]time.Duration{&cold, &warm} {
			q := ragctx.NewQuery(s.sentence(10))
			q.Namespace = namespaceName(n)
			begin := time.Now()
			answer, err := e.Context(t.Context(), q)
			*took = append(*took, time.Since(begin))
			if err != nil || len(answer.Degraded) > 0 {
				t.Fatalf("%s: without %v, %v", q.Namespace, answer.Degraded, err)
			}
			if len(answer.Items) == 0 { // none of its words may be there
				missed++
			}
		}
	}
	if missed > len(cold)/50 {
		t.Errorf("%d of %d questions found nothing", missed, 2*len(cold))
	}
	return cold, warm
}

// underMemory returns the resident memory, mapped files included, and its maximum.
func underMemory(t *testing.T, when string) {
	t.Helper()
	runtime.GC()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kib := make(map[string]int)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 {
			kib[strings.TrimSuffix(f[0], ":")], _ = strconv.Atoi(f[1])
		}
	}
	t.Logf("%s: %d MiB resident, %d MiB of it its own, at most %d MiB till now", when, kib["VmRSS"]>>10,
		kib["RssAnon"]>>10, kib["VmHWM"]>>10)
	if kib["VmHWM"] > namespacesMemory>>10 {
		t.Errorf("%s: the process took %d MiB; at most %d MiB is right", when, kib["VmHWM"]>>10, namespacesMemory>>20)
	}
}
