package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"

	"github.com/ragctx/ragctx/bench"
)

// TestFitLine recovers the line from which the points were generated.
func TestFitLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-100, 100).Draw(t, "a"), rapid.Float64Range(-100, 100).Draw(t, "b")
		var x, y []float64
		for i := range rapid.IntRange(3, 50).Draw(t, "n") {
			x, y = append(x, float64(i)), append(y, a+b*float64(i))
		}
		_, slope, stderr := fitLine(x, y)
		if math.Abs(slope-b) > 1e-6 || stderr > 1e-3 {
			t.Fatalf("slope %v ± %v, want %v", slope, stderr, b)
		}
	})
}

// TestGrowth separates growth from noise, and uses only the second half.
func TestGrowth(t *testing.T) {
	const gib = 1 << 30
	noise := rand.New(rand.NewPCG(1, 1))
	at := func(n int, memory func(minute float64) float64) []Reading {
		out := make([]Reading, n)
		for i := range out {
			out[i] = NewReading()
			out[i].Seconds = float64(i) * 1800 / float64(n)
			out[i].Memory = memory(out[i].Seconds/60) + (noise.Float64()-.5)*gib/20
		}
		return out
	}
	for name, c := range map[string]struct {
		readings []Reading
		want     Verdict
	}{
		"level":               {at(360, func(float64) float64 { return gib }), Steady},
		"warms up":            {at(360, func(m float64) float64 { return gib * min(1, .5+m/20) }), Steady},
		"falls":               {at(360, func(m float64) float64 { return gib * (1 - m/100) }), Steady},
		"a fifth in an hour":  {at(360, func(m float64) float64 { return gib * (1 + m/300) }), Growing},
		"slow in a short run": {at(24, func(m float64) float64 { return gib * (1 + m/800) }), Unclear},
		"hardly any readings": {at(10, func(m float64) float64 { return gib * m }), TooShort},
		"hardly any time":     {at(360, func(m float64) float64 { return gib * m })[:100], TooShort},
	} {
		g, known := growthOf(c.readings, func(r Reading) float64 { return r.Memory }, 1)
		if !known || g.Verdict != c.want && (name != "slow in a short run" || g.Verdict == Growing) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if _, known := growthOf(at(50, func(float64) float64 { return 0 }), func(r Reading) float64 { return r.Heap },
		1); known {
		t.Error("what was never read is known")
	}
}

// stock is a server that stores its input and fails now and then.
type stock struct {
	mu                sync.Mutex
	documents         map[string]bool
	turns             map[string]int // by session
	completed         int            // turns, also those erased since
	requests, deletes int
}

func newStock() *stock { return &stock{documents: make(map[string]bool), turns: make(map[string]int)} }

func (s *stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Session string `json:"session_id"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case s.requests%97 == 0:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == http.MethodPut:
		s.documents[r.URL.EscapedPath()] = true
	case r.Method == http.MethodDelete:
		s.deletes++
		if r.URL.Query().Get("erase") == "true" {
			delete(s.turns, id)
		}
		if !s.documents[r.URL.EscapedPath()] && !strings.HasPrefix(id, "soak-") {
			w.WriteHeader(http.StatusNotFound)
		}
		delete(s.documents, r.URL.EscapedPath())
	case r.URL.Path == "/v1/turns":
		s.turns[body.Session]++
		s.completed++
	}
	if r.Method != http.MethodDelete && r.URL.Query().Get("namespace") != "" && r.URL.Query().Get("namespace") != "n" {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func TestSoak(t *testing.T) {
	for _, history := range []bool{false, true} {
		server := newStock()
		reads := 0
		ctx, cancel := context.WithCancel(t.Context())
		r, err := RunSoak(ctx, SoakOptions{
			URL: serveTest(t, server), Namespace: "n", Duration: time.Minute, Rate: 5000, Clients: 4, Pool: 20, History: history,
			Every: 10 * time.Millisecond,
			Probe: func() Reading { reads++; r := NewReading(); r.Files = float64(reads); return r },
			Progress: func(r Reading) {
				if r.Operations > 3000 { // 600 turns, of which some 20 a client are to stay
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for k := range operationKinds {
			if none := history && k == eraseKind; (r.Operations[k.String()] == 0) != none {
				t.Errorf("with history %v, %s was done: %v", history, k, r.Operations)
			}
		}
		if len(r.Readings) != reads || r.Readings[len(r.Readings)-1].Operations == 0 || len(r.Growth) != 1 ||
			r.Growth[0].Name != "open files" {
			t.Errorf("%d readings of %d; growth of %+v", len(r.Readings), reads, r.Growth)
		}
		for kind := range r.Errors {
			if !strings.HasSuffix(kind, " status 503") {
				t.Errorf("failed with %v", r.Errors)
			}
		}
		// A turn stays when its erasure failed or was given up, so the bound is generous.
		server.mu.Lock() // a request that was given up may still be served
		alive := 0
		for _, n := range server.turns {
			alive += n
		}
		if bounded := alive < server.completed/2; len(server.documents) > 20 || bounded == history || server.deletes == 0 {
			t.Errorf("with history %v %d documents and %d of %d turns are alive after %d deletes", history,
				len(server.documents), alive, server.completed, server.deletes)
		}
		server.mu.Unlock()
	}
}

// TestSoakMeasures measures a server's capacity and uses a share of it.
func TestSoakMeasures(t *testing.T) {
	r, err := RunSoak(t.Context(), SoakOptions{
		URL: serveTest(t, newStock()), Namespace: "n", Duration: 400 * time.Millisecond, Pool: 20, Every: 50 * time.Millisecond,
	})
	if err != nil || r.Capacity <= 0 || math.Abs(r.Rate-.7*r.Capacity) > 1e-6 {
		t.Errorf("rate %v of %v, %v", r.Rate, r.Capacity, err)
	}
	if all := r.Latency["query"].Count + r.Latency["turn"].Count + r.Latency["put"].Count + r.Latency["delete"].Count + r.Latency["remember"].Count; r.All.Count != all {
		t.Errorf("%d operations are all but erasures, want %d", r.All.Count, all)
	}
	if l := r.Latency["query"]; l.Count == 0 || l.P50 <= 0 || int64(l.Count) != r.Operations["query"] {
		t.Errorf("latency %+v of %d questions", l, r.Operations["query"])
	}
	if r.Failed > 0 != (len(r.Faults) > 0) {
		t.Errorf("%d failed; faults %q", r.Failed, r.Faults)
	}
}

func TestFaults(t *testing.T) {
	well := func() SoakReport {
		return SoakReport{
			Seconds: 600, Rate: 60, PerSecond: 59,
			Growth: []Growth{
				{Name: "memory", Verdict: Steady},
				{Name: "disk", Verdict: Growing},
				{Name: "threads", Verdict: TooShort},
			},
			Latency: map[string]bench.Latency{
				"query": {Count: leastJudged, P50: 2, P99: 10},
				"put":   {Count: leastJudged - 1, P50: 1, P99: 100},
			},
		}
	}
	for name, change := range map[string]func(*SoakReport){
		"":                        func(*SoakReport) {},
		"2 operations failed":     func(r *SoakReport) { r.Failed = 2 },
		"memory: grows by":        func(r *SoakReport) { r.Growth[0].Verdict = Growing },
		"the server fell behind":  func(r *SoakReport) { r.Seconds, r.Rate, r.PerSecond = 600, 60, 52 },
		"query: p99 is 5.5 times": func(r *SoakReport) { r.Latency["query"] = bench.Latency{Count: leastJudged, P50: 2, P99: 11} },
	} {
		r := well()
		change(&r)
		got := faults(r, 5)
		if name == "" && len(got) > 0 || name != "" && (len(got) != 1 || !strings.HasPrefix(got[0], name)) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := faults(SoakReport{Latency: map[string]bench.Latency{"put": {Count: 1000, P50: 1, P99: 100}}}, 0); len(got) > 0 {
		t.Errorf("not to be judged: %q", got)
	}
}

func TestSoakInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := RunSoak(ctx, SoakOptions{
		URL: serveTest(t, newStock()), Namespace: "n", Every: time.Millisecond, Pool: 4, Rate: 1000,
		Progress: func(r Reading) {
			if r.Operations > 2 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || len(r.Readings) == 0 {
		t.Errorf("%d readings, %v", len(r.Readings), err)
	}
}

func TestSoakRefuses(t *testing.T) {
	good := SoakOptions{URL: "http://127.0.0.1:1"}
	for field, change := range map[string]func(*SoakOptions){
		"url":      func(o *SoakOptions) { o.URL = "nonsense" },
		"clients":  func(o *SoakOptions) { o.Clients = -1 },
		"rate":     func(o *SoakOptions) { o.Rate = -1 },
		"pool":     func(o *SoakOptions) { o.Pool = 1 },
		"share":    func(o *SoakOptions) { o.Share = 1.5 },
		"max_tail": func(o *SoakOptions) { o.MaxTail = -1 },
		"every":    func(o *SoakOptions) { o.Every = -1 },
		"duration": func(o *SoakOptions) { o.Duration = -1 },
	} {
		o := good
		change(&o)
		_, err := RunSoak(t.Context(), o)
		if !errors.Is(err, ragctx.ErrInvalid) || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestProcessProbe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/file", make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ProcessProbe(os.Getpid(), dir)()
	if r.Disk != 5000 || r.Heap <= 0 || r.Goroutines <= 0 {
		t.Errorf("read %+v", r)
	}
	if _, err := os.Stat("/proc/self/status"); err == nil && (r.Memory <= 0 || r.Files <= 0 || r.Threads <= 0) {
		t.Errorf("read %+v", r)
	}
	if r := ProcessProbe(0, "")(); r != NewReading() {
		t.Errorf("read %+v of nothing", r)
	}
}

func TestSoakTable(t *testing.T) {
	r := SoakReport{
		Seconds: 60, Operations: map[string]int64{"query": 30}, PerSecond: .5, Failed: 1,
		Errors:   map[string]int{"put status 503": 1},
		Capacity: 1, Rate: .7, Latency: map[string]bench.Latency{"query": {Count: 30, P50: 2, P99: 5, Max: 9}},
		All: bench.Latency{Count: 31, P50: 2, P99: 6, Max: 9}, Faults: []string{"1 operations failed"},
		Growth: []Growth{{"memory", "MiB", 100, 2.5, 1, Steady}, {"open files", "", 30, 60, 1, Growing}},
	}
	for i := range 7 {
		at := NewReading()
		at.Seconds, at.Operations, at.Memory, at.Files = float64(10*i), int64(5*i), 100<<20, 30
		r.Readings = append(r.Readings, at)
	}
	want := `  seconds  operations  memory, MiB  heap, MiB  goroutines  threads  open files  disk, MiB
        0           0        100.0          -           -        -          30          -
       30          15        100.0          -           -        -          30          -
       60          30        100.0          -           -        -          30          -

60 s, 0.5 operations/s, 1 failed (put status 503: 1); sessions were erased once they were old
0.7 operations/s were due, of 1.0 that the server can do
query: p50 2.0 ms, p99 5.0 ms (2.5 times), max 9.0 ms
all but erasures: p50 2.0 ms, p99 6.0 ms (3.0 times), max 9.0 ms
second half, by a fitted line:
memory, MiB  mean 100.0  +2.50 ± 1.00 per hour   steady
open files   mean 30.0   +60.00 ± 1.00 per hour  grows
FAULT 1 operations failed
`
	var b bytes.Buffer
	if err := WriteSoakTable(&b, r, 3); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func serveTest(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
