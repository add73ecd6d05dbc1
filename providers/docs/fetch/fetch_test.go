package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a web server, and a client of it with a clock that only sleeping moves.
type site struct {
	*Client

	url string

	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
	asked []string // request URIs but robots.txt
}

// serve runs a handler as a site with an allowed host. A robots.txt that the handler does not serve
// is missing.
func serve(t *testing.T, h http.HandlerFunc, change ...func(*Options)) *site {
	t.Helper()
	s := &site{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			s.mu.Lock()
			s.asked = append(s.asked, r.RequestURI)
			s.mu.Unlock()
		}
		h(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	hosts, err := Hosts{}.With(s.url)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Hosts: hosts,
		Now:   func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.slept, s.now = append(s.slept, d), s.now.Add(d)
			return ctx.Err()
		},
	}
	for _, f := range change {
		f(&o)
	}
	s.Client = New(o)
	t.Cleanup(s.Close)
	return s
}

// pages serves texts by path; other paths are 404.
func pages(texts map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, text)
	}
}

func reason(t *testing.T, err error, want string) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(e.Error(), want) {
		t.Fatalf("error %v, want one of a page with %q", err, want)
	}
	return e
}

func TestGet(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.UserAgent(), "ragctx") || r.Header.Get("Accept") == "" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		io.WriteString(w, "<p>caf\xe9")
	})
	p, err := s.Get(t.Context(), s.url+"/a/../b%20c?x=1#part", "")
	if err != nil || p.URL != s.url+"/b%20c?x=1" || p.At != p.URL || p.MIME != "text/html; charset=iso-8859-1" ||
		string(p.Data) != "<p>caf\xe9" {
		t.Errorf("page %+v, %v", p, err)
	}
}

// TestUnchanged: validators cost a request without an answer's body.
func TestUnchanged(t *testing.T) {
	for name, set := range map[string]func(http.Header){
		"etag": func(h http.Header) { h.Set("ETag", `W/"v1"`) },
		"modified": func(h http.Header) {
			h.Set("Last-Modified", "Sun, 01 Mar 2026 10:00:00 GMT")
			h.Set("Date", "Sun, 01 Mar 2026 10:00:02 GMT")
		},
	} {
		text := "one"
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if text == "one" {
				set(w.Header())
			}
			http.ServeContent(w, r, "", time.Date(2026, 3, 1, 10, 0, len(text)-3, 0, time.UTC), strings.NewReader(text))
		})
		first, err := s.Get(t.Context(), s.url, "")
		if err != nil || first.State == "" || first.Unchanged {
			t.Fatalf("%s: %+v, %v", name, first, err)
		}
		again, err := s.Get(t.Context(), s.url, first.State)
		if err != nil || !again.Unchanged || len(again.Data) > 0 || again.State != first.State {
			t.Errorf("%s: again %+v, %v", name, again, err)
		}
		text = "three"
		if p, err := s.Get(t.Context(), s.url, first.State); err != nil || p.Unchanged || string(p.Data) != "three" {
			t.Errorf("%s: changed %+v, %v", name, p, err)
		}
	}
	// A Last-Modified that is too recent to identify a version is not kept.
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Sun, 01 Mar 2026 10:00:00 GMT")
		w.Header().Set("Date", "Sun, 01 Mar 2026 10:00:01 GMT")
	})
	if p, err := s.Get(t.Context(), s.url, ""); err != nil || p.State != "" {
		t.Errorf("just changed: %+v, %v", p, err)
	}
	s = serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotModified) })
	_, err := s.Get(t.Context(), s.url, "")
	reason(t, err, "status 304")
}

func TestStatus(t *testing.T) {
	status := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			w.WriteHeader(status)
		}
	})
	for _, c := range []struct {
		status int
		want   string
		gone   bool
	}{
		{404, "404 Not Found", true},
		{410, "410 Gone", true},
		{401, "need a password", false},
		{403, "need a password", false},
		{400, "400 Bad Request", false},
		{204, "204 No Content", false},
		{501, "501", false},
	} {
		status = c.status
		before := len(s.asked)
		_, err := s.Get(t.Context(), s.url+"/page", "")
		if e := reason(t, err, c.want); e.Gone != c.gone {
			t.Errorf("%d: gone is %v", c.status, e.Gone)
		}
		if n := len(s.asked) - before; n != 1 {
			t.Errorf("%d: asked %d times", c.status, n)
		}
	}
}

// TestFailing: a failing server is asked again with pauses, then left alone.
func TestFailing(t *testing.T) {
	fail := true
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if fail && r.URL.Path != "/robots.txt" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	_, err := s.Get(t.Context(), s.url+"/a", "")
	if e := reason(t, err, "503"); e.Gone || len(s.asked) != 1+maxRetries {
		t.Errorf("%+v after %d requests", e, len(s.asked))
	}
	_, err = s.Get(t.Context(), s.url+"/b", "")
	reason(t, err, "5 times in a row")
	if len(s.asked) != maxFailures {
		t.Errorf("asked %d times", len(s.asked))
	}
	fail = false
	s.now = s.now.Add(pauseAfterFailures)
	if _, err := s.Get(t.Context(), s.url+"/c", ""); err != nil {
		t.Errorf("after its rest: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		header string
		pause  time.Duration
		want   string
	}{{"30", 30 * time.Second, ""}, {"3600", 0, "retry in 1h0m0s"}} {
		n := 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				return
			}
			if n++; n == 1 {
				w.Header().Set("Retry-After", c.header)
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		_, err := s.Get(t.Context(), s.url, "")
		if c.want != "" {
			reason(t, err, c.want)
			continue
		}
		if longest := max(time.Duration(0), s.slept[len(s.slept)-1]); err != nil || longest != c.pause {
			t.Errorf("%s: %v after %v", c.header, err, s.slept)
		}
	}
}

// TestRate: requests to a host begin at least half a second apart.
func TestRate(t *testing.T) {
	s := serve(t, pages(map[string]string{"/robots.txt": "User-agent: *\nCrawl-delay: 2"}))
	for range 3 {
		s.Get(t.Context(), s.url+"/x", "")
	}
	want := fmt.Sprint([]time.Duration{500 * time.Millisecond, 2 * time.Second, 2 * time.Second})
	if got := fmt.Sprint(s.slept); got != want {
		t.Errorf("slept %v, want %v", got, want)
	}
}

func TestRedirects(t *testing.T) {
	elsewhere := serve(t, pages(map[string]string{"/secret": "secret"}))
	var s *site
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/moved": "/page", "/elsewhere": elsewhere.url + "/secret", "/loop": "/loop", "/file": "file:///etc/passwd",
			"/user": strings.Replace(s.url, "//", "//a:b@", 1), "/forbidden": "/private/x", "/gone": "/nowhere",
		}[r.URL.Path]
		switch {
		case to != "":
			http.Redirect(w, r, to, http.StatusFound)
		case r.URL.Path == "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /private/")
		case r.URL.Path == "/page":
			io.WriteString(w, "here")
		default:
			http.NotFound(w, r)
		}
	})
	p, err := s.Get(t.Context(), s.url+"/moved", "")
	if err != nil || p.URL != s.url+"/moved" || p.At != s.url+"/page" || string(p.Data) != "here" {
		t.Errorf("page %+v, %v", p, err)
	}
	for path, want := range map[string]string{
		"/elsewhere": "is not allowed; add it to allow_hosts", "/loop": "more than 5 times", "/file": "not the URL of a page",
		"/user": "not the URL of a page", "/forbidden": "redirects to " + s.url + "/private/x, which is forbidden by the robots.txt",
	} {
		_, err := s.Get(t.Context(), s.url+path, "")
		if e := reason(t, err, want); e.URL != s.url+path || e.Gone || strings.Contains(e.Reason, "a:b") {
			t.Errorf("%s: %+v", path, e)
		}
	}
	_, err = s.Get(t.Context(), s.url+"/gone", "")
	if e := reason(t, err, "404"); !e.Gone {
		t.Errorf("what leads to nothing is not gone: %+v", e)
	}
	if len(elsewhere.asked) != 0 {
		t.Errorf("another host was asked: %v", elsewhere.asked)
	}
}

// TestHostileBodies: size, time and type are bounded.
func TestHostileBodies(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Write(make([]byte, 2<<20))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			w.Write([]byte("x"))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("x"))
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte("x"))
		case "/slow":
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}, func(o *Options) { o.MaxBytes, o.Timeout = 1<<20, 300*time.Millisecond })
	defer close(release)
	for path, want := range map[string]string{
		"/long": "longer than the limit of 1048576 bytes", "/bomb": "longer than the limit of 1048576 bytes", "/brotli": "compressed with br",
		"/cut": "no complete response", "/image": "image/png, which has no text", "/slow": "within 300ms",
	} {
		_, err := s.Get(t.Context(), s.url+path, "")
		if e := reason(t, err, want); e.Gone {
			t.Errorf("%s is gone", path)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx, s.url+"/page", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("of a cancelled context: %v", err)
	}
}

// TestRobots: forbidden pages are not requested, and no page is while the file cannot be read.
func TestRobots(t *testing.T) {
	status := http.StatusOK
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" && status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		pages(map[string]string{
			"/robots.txt": "User-agent: ragctx\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
			"/a":          "a", "/b": "b",
		})(w, r)
	}
	s := serve(t, h)
	_, err := s.Get(t.Context(), s.url+"/a", "")
	reason(t, err, "forbidden by the robots.txt")
	if _, err := s.Get(t.Context(), s.url+"/b", ""); err != nil || len(s.asked) != 1 {
		t.Errorf("%v after %v", err, s.asked)
	}
	if s = serve(t, h, func(o *Options) { o.IgnoreRobots = true }); s.opts.IgnoreRobots {
		if _, err := s.Get(t.Context(), s.url+"/a", ""); err != nil {
			t.Errorf("ignoring: %v", err)
		}
	}
	status = http.StatusForbidden
	s = serve(t, h)
	if _, err := s.Get(t.Context(), s.url+"/a", ""); err != nil {
		t.Errorf("without a robots.txt: %v", err)
	}
	status = http.StatusInternalServerError
	s = serve(t, h)
	_, err = s.Get(t.Context(), s.url+"/a", "")
	reason(t, err, "the robots.txt of its host was answered with status 500")
	if len(s.asked) != 0 {
		t.Errorf("asked for %v", s.asked)
	}
}

// TestBusy runs many at a time, for the race detector.
func TestBusy(t *testing.T) {
	var under, most, n int
	var mu sync.Mutex
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		under++
		n++
		most = max(most, under)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		under--
		mu.Unlock()
	})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { s.Get(t.Context(), fmt.Sprintf("%s/%d", s.url, i), "") })
	}
	wg.Wait()
	if n != 21 || most > DefaultParallel {
		t.Errorf("%d requests, %d at a time", n, most)
	}
}

// TestNoServer: an unreachable server is a failure, and its page is not gone.
func TestNoServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	s := serve(t, pages(nil), func(o *Options) { o.Hosts, _ = o.Hosts.With("http://" + ln.Addr().String()); o.IgnoreRobots = true })
	_, err = s.Get(t.Context(), "http://"+ln.Addr().String()+"/x", "")
	if e := reason(t, err, "refused"); e.Gone {
		t.Error("is gone")
	}
}
