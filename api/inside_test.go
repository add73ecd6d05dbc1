package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/ledger"
)

func openInside(t *testing.T) (*engine.Engine, *Client) {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	return eng, NewInside(eng, Options{})
}

// TestInside: a client without a server does what others do, and needs no key where they do.
func TestInside(t *testing.T) {
	eng, c := openInside(t)
	if _, err := eng.Keys().Create(t.Context(), access.Key{Name: "ops", Role: access.Admin}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutDocument(t.Context(), "", ragctx.Document{ExternalID: "a/b.md", Text: "# Zebras\n\nhave stripes"}, ""); err != nil {
		t.Fatal(err)
	}
	q := ragctx.NewQuery("stripes")
	if a, err := c.Context(t.Context(), q); err != nil || !strings.Contains(a.XML, "have stripes") {
		t.Errorf("%q, %v", a.XML, err)
	}
	if _, err := c.Document(t.Context(), "", "none", 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("no document: %v", err)
	}
	var p *Problem
	if _, err := c.PutDocument(t.Context(), "", ragctx.Document{ExternalID: ""}, ""); !errors.As(err, &p) || p.Status < 400 {
		t.Errorf("no id: %v", err)
	}
	if err := c.DeleteDocument(t.Context(), "", "a/b.md"); err != nil { // an answer without a body
		t.Error(err)
	}
}

// TestInsideStreams: bodies are read and written as they come, and end with who reads.
func TestInsideStreams(t *testing.T) {
	_, c := openInside(t)
	var lines bytes.Buffer
	for range 2000 {
		lines.WriteString(`{"topic":"T","sender":"s","content_text":"` + strings.Repeat("x", 100) + `"}` + "\n")
	}
	done, err := c.ImportMessages(t.Context(), "", "team", iotest.HalfReader(&lines))
	if err != nil || done.Imported != 2000 {
		t.Fatalf("%+v, %v", done, err)
	}
	var out bytes.Buffer
	whole := ledger.Query{Filter: ledger.Filter{Cluster: "team"}}
	if err := c.ExportMessages(t.Context(), whole, &out); err != nil || strings.Count(out.String(), "\n") != 2000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	full := errors.New("the disk is full")
	if err := c.ExportMessages(t.Context(), whole, writerFunc(func([]byte) (int, error) { return 0, full })); err == nil {
		t.Error("an export that could not be written is none")
	}
	for _, err := range c.FollowMessages(t.Context(), whole.Filter, 1999) {
		if err != nil {
			t.Fatal(err)
		}
		break // which ends the request
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestInsideBreaksOff: an answer that breaks off is not taken for a whole one.
func TestInsideBreaksOff(t *testing.T) {
	_, c := openInside(t)
	s := c.http.Transport.(inside).server()
	s.echo.GET("/broken", func(e echo.Context) error {
		_, _ = io.WriteString(e.Response(), "half")
		panic(http.ErrAbortHandler)
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/broken", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("it is %q", b)
	}
}

// TestInsideErrors: a caller in this process gets the engine's own error, of which an answer over
// a socket says less.
func TestInsideErrors(t *testing.T) {
	eng, c := openInside(t)
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, want := eng.Memories().Put(t.Context(), ragctx.Memory{Content: "tea"})
	if want == nil {
		t.Fatal("a closed engine remembers")
	}
	_, _, err := c.Remember(t.Context(), ragctx.Memory{Content: "tea"})
	if err == nil || err.Error() != want.Error() {
		t.Errorf("%v, not %v", err, want)
	}
}
