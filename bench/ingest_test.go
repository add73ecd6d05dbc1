package bench

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shelf is a server that stores documents, one chunk per line.
type shelf struct {
	mu     sync.Mutex
	texts  map[string]string
	puts   int
	erased int
	refuse int // every so many-th document
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, isDocument := strings.CutPrefix(r.URL.Path, "/v1/documents/")
	key := r.URL.Query().Get("namespace") + "/" + id
	switch {
	case !isDocument:
		io.WriteString(w, `{"items": [{}], "total_tokens": 1}`)
	case r.Method == http.MethodDelete:
		if _, there := s.texts[key]; !there || r.URL.Query().Get("erase") != "true" {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		s.erased++
		delete(s.texts, key)
	case s.refuse > 0 && (s.puts+1)%s.refuse == 0:
		s.puts++
		http.Error(w, "{}", http.StatusServiceUnavailable)
	default:
		s.puts++
		var d struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&d)
		s.texts[key] = d.Text
		_ = json.NewEncoder(w).Encode(map[string]int{"chunks": strings.Count(d.Text, "\n")})
	}
}

// TestIngestBeside writes into both namespaces during the queries, and removes the documents
// afterwards.
func TestIngestBeside(t *testing.T) {
	s := &shelf{texts: map[string]string{"mine/kept": "x"}, refuse: 4}
	r, err := Run(t.Context(), Options{
		URL: serve(t, s), Queries: queries("a"), Repeat: 2, Duration: 100 * time.Millisecond, Setup: Setup{Namespace: "mine"},
		Loads: []Load{{Clients: 1}, {Clients: 1, Ingest: Ingest{Own: 200, Same: 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"mine/kept": "x"}, s.texts); d != "" || s.erased == 0 {
		t.Errorf("%d erased, what is left: %s", s.erased, d)
	}
	if m := r.Loads[0]; m.Own != nil || m.Same != nil {
		t.Errorf("nothing was to be written: %+v", m)
	}
	own, same := r.Loads[1].Own, r.Loads[1].Same
	for name, w := range map[string]*Written{"own": own, "same": same, "alone": r.Ingest} {
		if w == nil || w.Documents == 0 || w.Chunks < w.Documents || w.Bytes == 0 || w.DocumentsPerSecond <= 0 ||
			w.Latency.Count != w.Documents {
			t.Errorf("%s: %+v", name, w)
		}
	}
	if failed := own.Failed + same.Failed + r.Ingest.Failed; failed == 0 ||
		r.Ingest.Errors["status 503"] != r.Ingest.Failed {
		t.Errorf("%d failed: %v", failed, r.Ingest.Errors)
	}
	if own.Wanted != 200 || same.Wanted != 100 {
		t.Errorf("wanted %v and %v", own.Wanted, same.Wanted)
	}
}

// TestFill: every run writes the same documents, whichever request is faster.
func TestFill(t *testing.T) {
	filled := func() map[string]string {
		s := &shelf{texts: make(map[string]string)}
		got, err := Fill(t.Context(), FillOptions{URL: serve(t, s), Namespace: "n", Chunks: 40 * generatedChunks, Seed: 7})
		if err != nil || got.Documents != 40 || len(s.texts) != 40 {
			t.Fatalf("%+v, %v", got, err)
		}
		return s.texts
	}
	if d := cmp.Diff(filled(), filled()); d != "" {
		t.Error(d)
	}
	s := &shelf{texts: make(map[string]string), refuse: 3}
	if _, err := Fill(t.Context(), FillOptions{URL: serve(t, s), Chunks: 1000}); err == nil ||
		!strings.Contains(err.Error(), "status 503") {
		t.Errorf("a document was refused: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fill(ctx, FillOptions{URL: serve(t, s), Chunks: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestGenerated(t *testing.T) {
	a := Generated(1, 5)
	if a != Generated(1, 5) || a == Generated(2, 5) || a == Generated(1, 6) {
		t.Error("seed and number do not decide")
	}
	if !strings.HasPrefix(a, "# ") || strings.Count(a, "\n## ") < leastSections {
		t.Errorf("not a document: %.200s", a)
	}
	if got := DrawQueries([]Text{{ID: "a", Body: a}}, 5); len(got) != 1 {
		t.Errorf("queries of it: %q", got)
	}
}

func TestDirSizes(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{
		"ragctx.db": 100, "ragctx.db-wal": 10, "index/1-documents/keyword/a/b": 7, "index/1-documents/vector-1/c": 5,
		"index/1-documents/catalog": 3, "lock": 1,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, make([]byte, n), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got := DirSizes(dir)
	if d := cmp.Diff(Sizes{Database: 110, Keyword: 7, Vector: 5, Other: 4}, got); d != "" || got.Total() != 126 {
		t.Error(d, got.Total())
	}
	if got := DirSizes(filepath.Join(dir, "nowhere")); got != (Sizes{}) {
		t.Errorf("nothing has %+v", got)
	}
}

func TestProcessUsage(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the system has no /proc")
	}
	for before := ProcessUsage(os.Getpid()).CPU; ProcessUsage(os.Getpid()).CPU == before; {
		_ = url.PathEscape(strings.Repeat(" ", 1000)) // until there is something to see
	}
	if u := ProcessUsage(os.Getpid()); u.Anon < 1<<20 || u.CPU <= 0 {
		t.Errorf("%+v", u)
	}
	if u := ProcessUsage(0); u != (Usage{}) {
		t.Errorf("no process uses %+v", u)
	}
	if Machine() == "" || control() <= 0 {
		t.Error("the machine is nothing")
	}
}
