package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/access"
)

// TestEverywhereReads requires that the operations that each node answers exist, and that they only read.
func TestEverywhereReads(t *testing.T) {
	s := New(nil, Options{})
	var known []string
	for _, op := range operations(s.api.OpenAPI()) {
		known = append(known, op.OperationID)
	}
	for _, id := range everywhere {
		if !slices.Contains(known, id) {
			t.Errorf("there is no operation %s", id)
		}
		if roleOf(id) > access.Read && id != "status" {
			t.Errorf("%s needs the role %s: only the leader writes", id, roleOf(id))
		}
	}
	if len(s.forwarder.here) != len(everywhere) {
		t.Errorf("%d routes for %d operations", len(s.forwarder.here), len(everywhere))
	}
}

// deadlines records the deadlines of an answer.
type deadlines struct {
	*httptest.ResponseRecorder

	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestPieceWriter gives each piece of an answer of unknown length a deadline, also of one that another node sends.
func TestPieceWriter(t *testing.T) {
	sends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, "piece")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	}))
	t.Cleanup(sends.Close)
	to, err := url.Parse(sends.URL)
	if err != nil {
		t.Fatal(err)
	}
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	proxy := httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }}
	proxy.ServeHTTP(newPieceWriter(d), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if len(d.set) < 4 || !d.set[0].IsZero() || d.Body.String() != "piecepiecepiece" || !d.Flushed {
		t.Fatalf("deadlines %v of %q, flushed: %v", d.set, d.Body, d.Flushed)
	}
	for _, at := range d.set[1:] {
		if until := time.Until(at); until <= 0 || until > pieceTimeout {
			t.Errorf("a piece has %v", until)
		}
	}
}
