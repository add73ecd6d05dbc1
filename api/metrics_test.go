package api

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/resolve"
)

func (f *fixture) scrape(t *testing.T) (scrape, string) {
	t.Helper()
	a := f.call(t, "GET", "/metrics", "")
	if a.status != 200 || a.header.Get("Content-Type") != expositionType {
		t.Fatalf("status %d, type %q: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	s, err := parse(a.body)
	if err != nil {
		t.Fatalf("%v in\n%s", err, a.body)
	}
	return s, a.body
}

// everySearch has each search done again.
var everySearch = index.MonitorOptions{Share: 1, PerSecond: 1e9, Load: 1}

// TestMetrics compares families and series, without their values, with a golden file.
// Run with -update after a change that is meant.
func TestMetrics(t *testing.T) {
	f := startWith(t, engine.Options{RecallMonitor: everySearch, VectorGraph: "flat"}, Options{Version: `v1 "a\b"`})
	if s, _ := f.scrape(t); s.values[`ragctx_indexes_open{kind="documents"}`] != 0 {
		t.Errorf("an index is open: %v", s.values)
	}
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Zebras have stripes."}`)
	f.call(t, "POST", "/v1/memories", `{"content":"Ada likes tea."}`)
	f.call(t, "POST", "/v1/context", `{"query":"zebras and tea"}`)
	var s scrape
	var text string
	for end := time.Now().Add(2 * time.Minute); s.values[`ragctx_vector_recall_samples{kind="documents"}`]*s.values[`ragctx_vector_recall_samples{kind="memories"}`] == 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal(text)
		}
		f.call(t, "POST", "/v1/context", `{"query":"zebras and tea"}`)
		s, text = f.scrape(t)
	}
	for id, want := range map[string]float64{
		`ragctx_indexes_open{kind="documents"}`:                                           1,
		`ragctx_units{kind="documents"}`:                                                  1,
		`ragctx_legs{kind="memories",leg="vector",state="ready"}`:                         1,
		`ragctx_legs{kind="memories",leg="keyword",state="failed"}`:                       0,
		`ragctx_vector_units{kind="documents",graph="flat"}`:                              1,
		`ragctx_keyword_units{kind="memories",implementation="scorch"}`:                   1,
		`ragctx_vector_recall_at_10{kind="documents"}`:                                    1,
		`ragctx_vector_recall_at_10_high{kind="documents"}`:                               1,
		`ragctx_jobs{state="running"}`:                                                    0,
		`ragctx_jobs_ended_total{state="failed"}`:                                         0,
		`ragctx_build_info{version="v1 \"a\\b\"",go_version="` + runtime.Version() + `"}`: 1,
	} {
		if got, ok := s.values[id]; !ok || got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
	for id, most := range map[string]float64{
		`go_goroutines{}`: 1e5, `go_memstats_heap_alloc_bytes{}`: 1e11, `ragctx_vector_searches_total{kind="documents",exact="false"}`: 1e6,
		`ragctx_vector_search_duration_seconds_count{kind="memories",exact="true"}`: 1e6, `ragctx_vector_recall_at_10_low{kind="memories"}`: 1,
	} {
		if got := s.values[id]; got <= 0 || got > most {
			t.Errorf("%s is %v", id, got)
		}
	}
	if runtime.GOOS == "linux" && s.values["process_resident_memory_bytes{}"] < 1<<20 {
		t.Errorf("resident: %v", s.values["process_resident_memory_bytes{}"])
	}
	golden(t, "metrics.txt", seriesShape(text))
}

// seriesShape is an exposition without what differs between runs and machines.
func seriesShape(text string) string {
	text = regexp.MustCompile(`(?m)^([^#].*) \S+$`).ReplaceAllString(text, "$1 _")
	text = strings.ReplaceAll(text, runtime.Version(), "go")
	return regexp.MustCompile(`(?m)^(# \w+ )?process_resident.*\n`).ReplaceAllString(text, "")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v; %s has changed; run go test ./api -run %s -update:\n%s", err, file, t.Name(), got)
	}
}

// TestMetricsAreGuarded: they are for this machine alone, as everything is, and no
// line in the log.
func TestMetricsAreGuarded(t *testing.T) {
	f := start(t, Options{})
	for _, header := range []string{"Host: example.com", "Origin: https://example.com"} {
		if a := f.call(t, "GET", "/metrics", "", header); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", header, a.status)
		}
	}
	if a := f.call(t, "POST", "/metrics", "{}"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", a.status)
	}
	f.scrape(t)
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, "/metrics") && strings.Contains(line, "status=200") && !strings.Contains(line, "level=DEBUG") {
			t.Error(line)
		}
	}
}

// TestMetricsWithoutDatabase: what does not need it is there while it does not answer.
func TestMetricsWithoutDatabase(t *testing.T) {
	f := start(t, Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(r.Context())
	cancel() // the database is not asked for somebody who has left
	out, err := f.metrics(gone, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(string(out.Body))
	if _, jobs := s.values[`ragctx_jobs{state="running"}`]; err != nil || jobs || s.values["go_goroutines{}"] == 0 {
		t.Errorf("%v\n%s", err, out.Body)
	}
}

// asked is a provider that notes what it is asked.
type asked struct {
	last atomic.Pointer[ragctx.ContextQuery]
}

func (*asked) Name() string { return "asked" }

func (p *asked) Query(_ context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	p.last.Store(&q)
	return ragctx.ContextResult{}, nil
}

// TestExactGoesThrough asks by every route and by the client, with and without, and
// looks at what the vector legs were asked, and providers of the operator's, which are
// asked for contexts.
func TestExactGoesThrough(t *testing.T) {
	p := new(asked)
	f := startWith(t, engine.Options{Providers: []resolve.Registered{{Provider: p}}, RecallMonitor: index.MonitorOptions{Share: -1}}, Options{})
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Zebras have stripes."}`)
	f.call(t, "POST", "/v1/memories", `{"content":"Zebras are striped."}`)
	counts := func() (normal, exact float64) {
		s, _ := f.scrape(t)
		for _, kind := range []string{"documents", "memories"} {
			normal += s.values[`ragctx_vector_searches_total{kind="`+kind+`",exact="false"}`]
			exact += s.values[`ragctx_vector_searches_total{kind="`+kind+`",exact="true"}`]
		}
		return normal, exact
	}
	for name, ask := range map[string]func(exact bool) error{
		"/v1/context":         func(exact bool) error { return f.ask(t, "/v1/context", exact) },
		"/v1/search":          func(exact bool) error { return f.ask(t, "/v1/search", exact) },
		"/v1/memories:search": func(exact bool) error { return f.ask(t, "/v1/memories:search", exact) },
		"Client.Context": func(exact bool) error {
			q := ragctx.NewQuery("zebras")
			q.Exact = exact
			_, err := f.client.Context(t.Context(), q)
			return err
		},
		"Client.Search": func(exact bool) error {
			q := ragctx.NewQuery("zebras")
			q.Exact = exact
			_, err := f.client.Search(t.Context(), q)
			return err
		},
	} {
		for _, exact := range []bool{true, false} {
			p.last.Store(nil)
			normalBefore, exactBefore := counts()
			if err := ask(exact); err != nil {
				t.Fatal(name, err)
			}
			normalAfter, exactAfter := counts()
			if q := p.last.Load(); strings.HasSuffix(strings.ToLower(name), "context") && (q == nil || q.Exact != exact) {
				t.Errorf("%s with exact %t: the provider was asked %+v", name, exact, q)
			}
			if grew := exactAfter > exactBefore; grew != exact || (normalAfter > normalBefore) == exact {
				t.Errorf("%s with exact %t: %v exact searches, %v others", name, exact, exactAfter-exactBefore, normalAfter-normalBefore)
			}
		}
	}
}

// ask sends a question.
func (f *fixture) ask(t *testing.T, path string, exact bool) error {
	t.Helper()
	body := `{"query":"zebras"` + map[bool]string{true: `,"exact":true`}[exact] + `}`
	if a := f.call(t, "POST", path, body); a.status != 200 {
		t.Errorf("%s: %d %s", path, a.status, a.body)
	}
	return nil
}

// TestVectorStatus is the same by the client and by REST.
func TestVectorStatus(t *testing.T) {
	f := startWith(t, engine.Options{RecallMonitor: index.MonitorOptions{Share: -1}}, Options{})
	if got := into[engine.VectorStatus](t, f.call(t, "GET", "/v1/indexes", ""), 200); got.Indexes == nil || len(got.Indexes) != 0 {
		t.Errorf("%+v", got)
	}
	f.call(t, "PUT", "/v1/documents/a.md?namespace=team", `{"text":"Zebras have stripes."}`)
	f.call(t, "POST", "/v1/context", `{"query":"zebras", "namespace":"team"}`)
	got, err := f.client.VectorStatus(t.Context())
	if err != nil || len(got.Indexes) != 2 || got.Documents.Searches != 1 || got.Documents.Recall != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if i := got.Indexes[0]; i.Namespace != "team" || i.Kind != "documents" || i.Chunks != 1 || i.Live.Searches != 1 || cmp.Or(i.Graph, "none") == "none" {
		t.Errorf("%+v", i)
	}
}

// TestDoctorMeasures sends each way of giving it time.
func TestDoctorMeasures(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"# One\n\nZebras have stripes.\n\n# Two\n\nLions have manes."}`)
	f.call(t, "PUT", "/v1/documents/b.md", `{"text":"Tigers have stripes."}`)
	for searching, want := range map[time.Duration]bool{0: true, time.Second: true, -1: false} {
		j, err := f.client.CheckUp(t.Context(), engine.DoctorOptions{Searching: searching})
		if err != nil {
			t.Fatal(err)
		}
		if j, err = f.eng.Jobs().Await(t.Context(), j.ID); err != nil || strings.Contains(string(j.Result), `"found"`) != want {
			t.Errorf("%v: %s, %v", searching, j.Result, err)
		}
	}
	if a := f.call(t, "POST", "/v1/doctor", `{"recall_seconds":-1}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a negative time: %d", a.status)
	}
}
