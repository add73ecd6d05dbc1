package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

func TestServeRefusesPublicAddresses(t *testing.T) {
	s := startPaused(t, Options{})
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = s.Serve(t.Context(), ln)
	if !errors.Is(err, ragctx.ErrDenied) || !strings.Contains(err.Error(), "ragctx keys create") {
		t.Errorf("err = %v", err)
	}
	if _, err := ln.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

func TestHostAndOrigin(t *testing.T) {
	f := start(t, Options{})
	for _, tc := range []struct {
		header string
		status int
	}{
		{"Host: localhost", 200},
		{"Host: LOCALHOST:80", 200},
		{"Host: 127.0.0.1", 200},
		{"Host: 127.1.2.3:9", 200},
		{"Host: [::1]", 200},
		{"Host: [::1]:80", 200},
		{"Host: [::ffff:127.0.0.1]:80", 200},
		{"Host: evil.example", 403},
		{"Host: localhost.evil.example", 403},
		{"Host: 127.0.0.1.evil.example:80", 403},
		{"Host: 10.0.0.1", 403},
		{"Host: 0.0.0.0", 403},
		{"Host: [::]:80", 403},
		{"Host: 2130706433", 403},
		{"Origin: http://localhost:3000", 200},
		{"Origin: https://127.0.0.1", 200},
		{"Origin: http://[::1]:1", 200},
		{"Origin: https://evil.example", 403},
		{"Origin: http://localhost.evil.example", 403},
		{"Origin: null", 403},
		{"Origin: file://", 403},
		{"Origin: http://localhost@evil.example", 403},
	} {
		a := f.call(t, "GET", "/healthz", "", tc.header)
		if a.status != tc.status {
			t.Errorf("%s: status %d, want %d", tc.header, a.status, tc.status)
		}
		if a.status == 403 {
			if p := a.problem(t); p.Code != "denied" || p.Errors[0].Location != "header."+strings.Split(tc.header, ":")[0] {
				t.Errorf("%s: %s", tc.header, a.body)
			}
		}
	}
}

func TestRequestIDs(t *testing.T) {
	f := start(t, Options{})
	if got := f.call(t, "GET", "/healthz", "", "X-Request-Id: abc-1.2_3").header.Get("X-Request-Id"); got != "abc-1.2_3" {
		t.Errorf("id = %q", got)
	}
	for _, bad := range []string{"a b", "a\"b", "é", strings.Repeat("a", maxRequestID+1)} {
		if got := f.call(t, "GET", "/healthz", "", "X-Request-Id: "+bad).header.Get("X-Request-Id"); got == bad || got == "" {
			t.Errorf("id for %q = %q", bad, got)
		}
	}
	f.call(t, "GET", "/v1/documents/secret", "", "X-Request-Id: req-7")
	if log := f.log.String(); !strings.Contains(log, "msg=request request_id=req-7 method=GET route=/v1/documents/{id} path=/v1/documents/secret status=404") {
		t.Errorf("access log:\n%s", log)
	}
}

// TestAccessLog: the log has the path as it was asked, and the route as the OpenAPI
// document has it, also of requests that were refused.
func TestAccessLog(t *testing.T) {
	f := start(t, Options{RequireKeys: true})
	for path, want := range map[string]string{
		"/v1/sessions/s%2F1/providers/wiki?x=1": "route=/v1/sessions/{id}/providers/{name} path=/v1/sessions/s/1/providers/wiki",
		"/v1/memories/m-1/history":              "route=/v1/memories/{id}/history path=/v1/memories/m-1/history",
		"/v1/nothing":                           "route=none path=/v1/nothing",
	} {
		if a := f.call(t, "GET", path, "", "X-Request-Id: refused"); a.status != 401 {
			t.Errorf("%s: status %d", path, a.status)
		}
		if log := f.log.String(); !strings.Contains(log, want+" status=401") {
			t.Errorf("%s: the log does not have %q:\n%s", path, want, log)
		}
	}
}

func TestPanicIsAnswered(t *testing.T) {
	f := start(t, Options{}, func(s *Server) {
		s.echo.GET("/panic", func(echo.Context) error { panic("secret detail") })
		s.echo.GET("/late", func(c echo.Context) error {
			c.Response().WriteHeader(200)
			c.Response().Flush()
			panic("too late")
		})
	})
	a := f.call(t, "GET", "/panic", "")
	if p := a.problem(t); p.Status != 500 || p.Code != "internal" || strings.Contains(a.body, "secret") {
		t.Errorf("answer: %s", a.body)
	}
	resp, err := http.Get(f.url + "/late")
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("an answer that was cut off looks whole")
	}
	if log := f.log.String(); !strings.Contains(log, "secret detail") || !strings.Contains(log, "serve_test.go") {
		t.Errorf("the panic is not in the log:\n%s", log)
	}
	f.call(t, "GET", "/healthz", "") // still up
}

func TestInternalErrorsAreNotTold(t *testing.T) {
	f := start(t, Options{}, func(s *Server) {
		s.echo.GET("/broken", func(echo.Context) error { return errors.New("secret detail") })
		s.echo.GET("/full", func(echo.Context) error { return errors.Join(ragctx.ErrNoSpace, errors.New("secret detail")) })
	})
	for path, status := range map[string]int{"/broken": 500, "/full": 507} {
		a := f.call(t, "GET", path, "")
		if p := a.problem(t); p.Status != status || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if strings.Count(f.log.String(), "secret detail") != 2 {
		t.Errorf("log:\n%s", f.log)
	}
}

func TestClosedEngineIsUnavailable(t *testing.T) {
	f := start(t, Options{})
	if err := f.eng.Close(); err != nil {
		t.Fatal(err)
	}
	if p := f.call(t, "GET", "/readyz", "").problem(t); p.Status != 503 {
		t.Errorf("readyz: %+v", p)
	}
	if a := f.call(t, "GET", "/healthz", ""); a.status != 200 {
		t.Errorf("healthz: %d", a.status)
	}
}

func TestBodyLimit(t *testing.T) {
	f := start(t, Options{MaxBodyBytes: 100})
	fits := `{"content":"` + strings.Repeat("x", 100-14) + `"}`
	if a := f.call(t, "POST", "/v1/memories", fits); a.status != 201 {
		t.Errorf("%d bytes: %d %s", len(fits), a.status, a.body)
	}
	over := strings.Replace(fits, "x", "xx", 1)
	p := f.call(t, "POST", "/v1/memories", over).problem(t)
	if p.Status != 413 || p.Code != "too_large" || !strings.Contains(p.Errors[0].Message, "100 bytes") {
		t.Errorf("%+v", p)
	}
	// Without a Content-Length, the body has to be read to be found too long.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/v1/memories", io.MultiReader(strings.NewReader(over)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: status %d", resp.StatusCode)
	}
}

func TestBodyThatEndsEarly(t *testing.T) {
	f := start(t, Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"content\":"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(b), "ends too early") || strings.Contains(string(b), "JSON") {
		t.Errorf("status %d: %s", resp.StatusCode, b)
	}
}

// TestHumasOwnErrors checks the form of errors that no check of ours came
// before.
func TestHumasOwnErrors(t *testing.T) {
	f := start(t, Options{}, func(s *Server) {
		huma.Get(s.api, "/number/{n}", func(context.Context, *struct {
			N int `path:"n"`
		},
		) (*struct{}, error) {
			return nil, errors.New("secret detail")
		})
	})
	p := f.call(t, "GET", "/number/x", "").problem(t)
	if p.Status != 422 || p.Code != "invalid" || len(p.Errors) != 1 || p.Errors[0].Location != "path.n" {
		t.Errorf("%+v", p)
	}
	a := f.call(t, "GET", "/number/1", "")
	if p := a.problem(t); p.Status != 500 || p.Code != "internal" || strings.Contains(a.body, "secret") {
		t.Errorf("%s", a.body)
	}
}

func TestGracefulShutdown(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	f := start(t, Options{}, func(s *Server) {
		s.echo.GET("/slow", func(c echo.Context) error {
			close(entered)
			<-release
			return errors.Join(c.Request().Context().Err(), c.String(200, "done"))
		})
	})
	got := make(chan answer, 1)
	go func() { got <- f.call(t, "GET", "/slow", "") }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- f.stop() }()
	for { // until nothing new is let in
		c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			break
		}
		c.Close()
	}
	close(release)
	if a := <-got; a.status != 200 || a.body != "done" {
		t.Errorf("the request in flight got %d %q", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestShutdownIsBounded(t *testing.T) {
	entered := make(chan struct{})
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s := New(eng, Options{ShutdownTimeout: 10 * time.Millisecond})
	s.echo.GET("/stuck", func(c echo.Context) error {
		close(entered)
		<-c.Request().Context().Done() // told to give up in the end
		return c.Request().Context().Err()
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	called := make(chan error, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String() + "/stuck")
		if err == nil {
			resp.Body.Close()
		}
		called <- err
	}()
	<-entered
	cancel()
	if err := <-served; err != nil {
		t.Errorf("it was told to stop, and fails: %v", err)
	}
	if err := <-called; err == nil {
		t.Error("the request that was cut off looks answered")
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestClientThatGoesAwayIsNoError(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	f := start(t, Options{}, func(s *Server) {
		s.echo.GET("/slow", func(c echo.Context) error {
			close(entered)
			<-c.Request().Context().Done()
			defer close(left)
			return errors.New("interrupted")
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Fatal("an answer to a caller who had gone")
	}
	<-left
	if err := f.stop(); err != nil { // the log line is written by now
		t.Fatal(err)
	}
	if log := f.log.String(); strings.Contains(log, "level=ERROR") || !strings.Contains(log, "status=499") {
		t.Errorf("log:\n%s", log)
	}
}

func TestConcurrency(t *testing.T) {
	f := start(t, Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := string(rune('a' + i))
			for range 5 {
				if _, err := f.client.PutDocument(t.Context(), "", ragctx.Document{ExternalID: id, Text: "The port of " + id + " is 80."}, ""); err != nil {
					t.Error(err)
				}
				if _, err := f.client.Context(t.Context(), ragctx.NewQuery("port of "+id)); err != nil {
					t.Error(err)
				}
				f.call(t, "GET", "/openapi.json", "")
				f.call(t, "POST", "/v1/context", `{"query":1}`).problem(t)
			}
		})
	}
	wg.Wait()
}
