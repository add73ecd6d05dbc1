package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
)

// TestMain checks for leaked goroutines.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPercentileIsNearestRank compares with the definition: the smallest value
// that at least p percent of the values do not exceed.
func TestPercentileIsNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 300).Draw(t, "values")
		p := float64(rapid.IntRange(1, 100).Draw(t, "p"))
		times := make([]float64, len(values))
		for i, v := range values {
			times[i] = float64(v)
		}
		slices.Sort(times)
		got := percentile(times, p)
		share := func(limit float64) int {
			n := 0
			for _, v := range times {
				if v <= limit {
					n++
				}
			}
			return n * 100
		}
		if !slices.Contains(times, got) || share(got) < int(p)*len(times) {
			t.Fatalf("p%v of %v is %v", p, times, got)
		}
		if i := slices.Index(times, got); i > 0 && share(times[i-1]) >= int(p)*len(times) {
			t.Fatalf("p%v of %v is %v; %v is enough", p, times, got, times[i-1])
		}
	})
}

func TestLatency(t *testing.T) {
	var times []float64
	for i := 1000; i >= 1; i-- {
		times = append(times, float64(i)/10)
	}
	want := Latency{Count: 1000, Min: 0.1, Mean: 50.05, P50: 50, P90: 90, P95: 95, P99: 99, P999: 99.9, Max: 100}
	if d := cmp.Diff(want, LatencyOf(times), cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	if got := LatencyOf(nil); got != (Latency{}) {
		t.Errorf("no samples give %+v", got)
	}
}

// fake responds like a server, with an error for every fifth request.
type fake struct {
	asked atomic.Int64
	seen  chan ragctx.ContextQuery
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q ragctx.ContextQuery
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/context" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	n := f.asked.Add(1)
	f.seen <- q
	if n%5 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"title": "Busy", "detail": "try later"}`)
		return
	}
	if n%5 == 1 {
		io.WriteString(w, `{"items": [], "total_tokens": 0}`)
		return
	}
	io.WriteString(w, `{"items": [{}, {}], "total_tokens": 40, "xml": "x"}`)
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func queries(texts ...string) []ragctx.ContextQuery {
	var out []ragctx.ContextQuery
	for _, s := range texts {
		out = append(out, ragctx.ContextQuery{Query: s, MaxTokens: 500})
	}
	return out
}

func TestRun(t *testing.T) {
	f := &fake{seen: make(chan ragctx.ContextQuery, 300)}
	var cpu time.Duration
	var lines []string
	r, err := Run(t.Context(), Options{
		URL: serve(t, f) + "/", Queries: queries("a", "b", "c"), Loads: []Load{{Clients: 4}, {Clients: 1}},
		Repeat: 2, Requests: 50, Warmup: 10,
		Setup: Setup{Documents: 7}, Seed: 3, Progress: func(line string) { lines = append(lines, line) },
		Usage: func() Usage { return Usage{CPU: cpu, Anon: 5, File: 6} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Setup{Documents: 7, Distinct: 3, Seed: 3, QueriesHash: hashOf(queries("a", "b", "c"))},
		r.Setup); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"run 1 of 2: 4 clients", "run 1 of 2: 1 client", "run 2 of 2: 4 clients", "run 2 " +
		"of 2: 1 client"}, lines); d != "" {
		t.Error(d)
	}
	if r.Format != Format || r.Version != Version || r.Repeat != 2 || r.Requests != 50 || r.Warmup != 10 ||
		len(r.Control) != 4 || len(r.Loads) != 2 {
		t.Errorf("%+v", r)
	}
	want := Measurement{
		Load: Load{Clients: 4}, Requests: 100, Succeeded: 80, Failed: 20, Errors: map[string]int{"status 503": 20}, Empty: 20,
		Bytes: Size{Mean: (20*32 + 60*51) / 80., Max: 51}, Tokens: Size{Mean: 30, Max: 40}, Items: Size{Mean: 1.5, Max: 2},
		Memory: &Memory{Anon: 5, File: 6},
	}
	times := cmpopts.IgnoreFields(Measurement{}, "Seconds", "PerSecond", "Latency", "Curve", "Timeline", "Runs")
	if d := cmp.Diff(want, r.Loads[0], times); d != "" {
		t.Error(d)
	}
	for _, m := range r.Loads {
		l := m.Latency
		if m.Seconds <= 0 || m.PerSecond <= 0 || l.Count != 80 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max ||
			len(m.Runs) != 2 || m.Runs[1].P50 <= 0 {
			t.Errorf("times are %+v", m)
		}
		count := 0
		for _, at := range m.Timeline {
			count += at.Count + at.Failed
		}
		if count != m.Requests || m.Curve[0].MS != l.Min {
			t.Errorf("%d of %d requests are in the timeline; the curve begins with %v of %v", count, m.Requests, m.Curve[0], l)
		}
	}
	counts := make(map[string]int)
	for range f.asked.Load() {
		q := <-f.seen
		counts[q.Query]++
		if q.MaxTokens != 500 || q.Namespace != ragctx.DefaultNamespace {
			t.Fatalf("asked %+v", q)
		}
	}
	if counts["a"] != 4*17+4 || counts["b"] != 4*17+3 || counts["c"] != 4*16+3 {
		t.Errorf("queries were asked %v times", counts)
	}
}

func TestRunEndsWithTheTime(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		io.WriteString(w, `{"items": [{}], "total_tokens": 1}`)
	})
	r, err := Run(t.Context(), Options{
		URL: serve(t, h), Queries: queries("a"), Repeat: 1,
		Duration: 50 * time.Millisecond,
	})
	if err != nil || r.succeeded() == 0 || r.Loads[0].Failed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRunInterrupted: an interrupted run returns its measurements without the requests that were cut
// off.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // the server sees the client go only then
		if n.Add(1) > 10 {
			cancel()
			<-r.Context().Done()
			return
		}
		io.WriteString(w, `{"items": [{}], "total_tokens": 1}`)
	})
	r, err := Run(ctx, Options{URL: serve(t, h), Queries: queries("a"), Loads: []Load{{Clients: 1}}, Duration: time.Hour})
	if !errors.Is(err, context.Canceled) || r.Loads[0].Succeeded != 10 || r.Loads[0].Failed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRunFails(t *testing.T) {
	garbage := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	cut := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for class, h := range map[string]http.Handler{
		"unreadable answer": garbage, "timeout": slow,
		"connection closed": cut,
	} {
		o := Options{URL: serve(t, h), Queries: queries("a"), Requests: 3, Repeat: 1}
		if class == "timeout" {
			o.Timeout = 50 * time.Millisecond
		}
		r, err := Run(t.Context(), o)
		if err == nil || r.Loads[0].Errors[class] != 3 {
			t.Errorf("%s: %v, %v", class, r.Loads, err)
		}
	}
	if r, err := Run(t.Context(), Options{
		URL: "http://127.0.0.1:1", Queries: queries("a"), Requests: 1,
		Repeat: 1,
	}); err == nil || r.Loads[0].Errors["dial failed"] != 1 {
		t.Errorf("nobody listens: %v, %v", r.Loads, err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := Options{URL: "http://127.0.0.1:1", Queries: queries("a")}
	for field, change := range map[string]func(*Options){
		"url":      func(o *Options) { o.URL = "nonsense" },
		"queries":  func(o *Options) { o.Queries = nil },
		"clients":  func(o *Options) { o.Loads = []Load{{Clients: MaxClients + 1}} },
		"rate":     func(o *Options) { o.Loads = []Load{{Rate: math.NaN()}} },
		"ingest":   func(o *Options) { o.Loads = []Load{{Ingest: Ingest{Same: -1}}} },
		"loads":    func(o *Options) { o.Loads = []Load{{Clients: 2}, {Clients: 2}} },
		"repeat":   func(o *Options) { o.Repeat = MaxRepeat + 1 },
		"requests": func(o *Options) { o.Requests = -1 },
		"duration": func(o *Options) { o.Duration = -1 },
		"warmup":   func(o *Options) { o.Warmup = -1 },
		"timeout":  func(o *Options) { o.Timeout = -1 },
	} {
		o := good
		change(&o)
		_, err := Run(t.Context(), o)
		if !errors.Is(err, ragctx.ErrInvalid) || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestReadQueries(t *testing.T) {
	got, err := ReadQueries(strings.NewReader("one\r\n\n  two words \n{\"text\": \"three\"}\n{\"_id\": 4, " +
		"\"query\": \"four\"}\n"))
	if d := cmp.Diff([]string{"one", "two words", "three", "four"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for name, text := range map[string]string{
		"queries: is empty":                "\n\n",
		"line 2: starts like JSON":         "a\n{nonsense\n",
		"line 1: has no query":             `{"id": 1}`,
		"line 1: is not valid UTF-8":       "\xff",
		"line 1: is 65537 bytes long":      strings.Repeat("x", ragctx.MaxQueryBytes+1),
		"queries: has a line of more than": strings.Repeat("x", 3*ragctx.MaxQueryBytes),
	} {
		if _, err := ReadQueries(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}

// TestDrawQueries: the drawn queries do not depend on the order of the texts.
func TestDrawQueries(t *testing.T) {
	var texts []Text
	for i := range 20 {
		texts = append(texts, Text{
			ID: fmt.Sprint(i), Title: fmt.Sprintf("Title %d", i),
			Body: fmt.Sprintf("Too short. This is the first sentence of document %d. And this is the second sentence "+
				"of document %d.", i, i),
		})
	}
	want := DrawQueries(texts, 30)
	if len(want) != 30 {
		t.Fatalf("%d queries", len(want))
	}
	slices.Reverse(texts)
	if d := cmp.Diff(want, DrawQueries(texts, 30)); d != "" {
		t.Error(d)
	}
	for _, q := range want {
		if q == "Too short." {
			t.Errorf("drew %q", q)
		}
	}
	if got := DrawQueries([]Text{{ID: "x"}}, 5); len(got) != 0 {
		t.Errorf("nothing gives %q", got)
	}
}

func TestSample(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	if got := Sample(ids, 2); len(got) != 2 || !slices.Equal(got, Sample([]string{"d", "c", "b", "a"}, 2)) {
		t.Errorf("%q", got)
	}
	if got := Sample(ids, 9); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// FuzzReadQueries: ReadQueries never panics, and its queries are valid.
func FuzzReadQueries(f *testing.F) {
	for _, seed := range []string{"a\nb", `{"text": "a"}`, "{", "\x00", `{"text": 1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		queries, err := ReadQueries(strings.NewReader(s))
		if err != nil {
			return
		}
		for _, text := range queries {
			if err := (ragctx.ContextQuery{Query: text}).WithDefaults().Validate(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
