package api

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

func TestWantsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZip": true, "x-gzip": true, "deflate, gzip": true, "br;q=1.0, gzip;q=0.2": true, "*": true, "*;q=0.1": true,
		"gzip;q=0": false, "gzip; q=0.000": false, "*;q=0": false, "*, gzip;q=0": false, "identity": false, "deflate": false,
		"identity;q=0.5, gzip;q=0.4": false, "identity;q=0.5, gzip;q=0.5": true, "gzip;q=x": false, "gzip;q=2": false, "gzip;q=-1": false,
		"gzip;q=NaN": false, "gzipped": false, ";;,,": false, "gzip;q=0.5;q=0": true, " gzip ; q=1 ": true,
	} {
		if got := wantsGzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if !wantsGzip([]string{"deflate", "gzip"}) || wantsGzip(nil) {
		t.Error("lines are not joined")
	}
}

// get asks without a client that unpacks by itself.
func get(t *testing.T, method, url string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	var r io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = unpacked
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCompressed asks for the same with and without gzip.
func TestCompressed(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "PUT", "/v1/documents/long.md", `{"text":"`+strings.Repeat("Zebras have stripes. ", 200)+`"}`)
	f.call(t, "PUT", "/v1/documents/short.md", `{"text":"Zebras."}`)
	for path, want := range map[string]string{
		"/v1/documents/long.md": "gzip", "/v1/documents/short.md": "", "/openapi.json": "gzip", "/metrics": "gzip", "/v1/documents/none": "", "/healthz": "",
	} {
		plain, packed := get(t, "GET", f.url+path), get(t, "GET", f.url+path, "Accept-Encoding: br, gzip") //nolint:bodyclose // get has it closed
		if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != want || plain.StatusCode != packed.StatusCode {
			t.Errorf("%s: %d %q, then %d %q", path, plain.StatusCode, plain.Header.Get("Content-Encoding"), packed.StatusCode, packed.Header.Get("Content-Encoding"))
		}
		for _, res := range []*http.Response{plain, packed} {
			if got := res.Header.Values("Vary"); len(got) != 1 || got[0] != "Accept-Encoding" {
				t.Errorf("%s: Vary %q", path, got)
			}
		}
		sent := packed.ContentLength
		if a, b := body(t, plain), body(t, packed); path != "/metrics" && path != "/v1/documents/none" && a != b { // these two are of the moment
			t.Errorf("%s: %d bytes differ from %d", path, len(a), len(b))
		} else if want != "" && sent >= int64(len(b)) {
			t.Errorf("%s: %d bytes were sent of %d", path, sent, len(b))
		}
	}
}

// TestCompressedTag finds that an answer is what it was, in gzip or not.
func TestCompressedTag(t *testing.T) {
	f := start(t, Options{})
	url := f.url + "/openapi.json"
	plain, packed := get(t, "GET", url).Header.Get("ETag"), get(t, "GET", url, "Accept-Encoding: gzip").Header.Get("ETag") //nolint:bodyclose // get has it closed
	if packed != "W/"+plain {
		t.Errorf("tags %s and %s", plain, packed)
	}
	for _, tag := range []string{plain, packed} {
		res := get(t, "GET", url, "Accept-Encoding: gzip", "If-None-Match: "+tag) //nolint:bodyclose // get has it closed
		if b := body(t, res); res.StatusCode != http.StatusNotModified || b != "" || res.Header.Get("Vary") == "" {
			t.Errorf("%s: status %d, %d bytes, %v", tag, res.StatusCode, len(b), res.Header)
		}
	}
}

// TestCompressedStreams sends what is flushed at once, in gzip or not, and events as they are.
func TestCompressedStreams(t *testing.T) {
	asked := make(chan struct{})
	s := &Server{}
	e := echo.New()
	e.Pre(s.encode)
	lines := func(typ string) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderContentType, typ)
			for _, line := range []string{"first\n", "second\n"} {
				if _, err := io.WriteString(c.Response(), line); err != nil {
					return err
				}
				c.Response().Flush()
				<-asked
			}
			return nil
		}
	}
	e.GET("/lines", lines(linesType))
	e.GET("/events", lines(eventsType))
	e.GET("/packed", func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentEncoding, "br")
		return c.String(http.StatusOK, strings.Repeat("x", 5000))
	})
	e.GET("/file", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/zip", make([]byte, 5000)) })
	e.GET("/none", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.GET("/late", func(c echo.Context) error {
		_, _ = c.Response().Write(make([]byte, 10))
		panic(http.ErrAbortHandler)
	})
	srv := httptest.NewServer(e)
	defer srv.Close()
	for path, want := range map[string]string{"/lines": "gzip", "/events": ""} {
		res := get(t, "GET", srv.URL+path, "Accept-Encoding: gzip") //nolint:bodyclose // get has it closed
		if got := res.Header.Get("Content-Encoding"); got != want {
			t.Errorf("%s: in %q", path, got)
		}
		var r io.Reader = res.Body
		if want != "" {
			unpacked, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			r = unpacked
		}
		read := bufio.NewReader(r)
		for _, line := range []string{"first\n", "second\n"} {
			if got, err := read.ReadString('\n'); got != line || err != nil {
				t.Errorf("%s: %q, %v", path, got, err)
			}
			asked <- struct{}{} // only now it goes on
		}
		if _, err := read.ReadByte(); err != io.EOF {
			t.Errorf("%s: ends with %v", path, err)
		}
	}
	for path, want := range map[string]string{"/packed": "br", "/file": "", "/none": ""} {
		if res := get(t, "GET", srv.URL+path, "Accept-Encoding: gzip"); res.Header.Get("Content-Encoding") != want { //nolint:bodyclose // get has it closed
			t.Errorf("%s: in %q", path, res.Header.Get("Content-Encoding"))
		}
	}
	if res, err := srv.Client().Get(srv.URL + "/late"); err == nil {
		_ = res.Body.Close()
		t.Error("an answer that was cut looks whole")
	}
}

// TestAnswersAsAWhole sends what nobody wants compressed with its length, unless it is long or comes
// in pieces.
func TestAnswersAsAWhole(t *testing.T) {
	s := &Server{log: slog.New(slog.DiscardHandler)}
	e := echo.New()
	e.Pre(s.encode)
	send := func(pieces ...int) echo.HandlerFunc {
		return func(c echo.Context) error {
			for i, n := range pieces {
				if i > 0 {
					c.Response().Flush()
				}
				if _, err := c.Response().Write(make([]byte, n)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for path, want := range map[string]struct {
		pieces []int
		length int64
	}{"/none": {nil, 0}, "/some": {[]int{40_000}, 40_000}, "/most": {[]int{maxBuffered}, -1}, "/pieces": {[]int{4000, 1}, -1}} {
		e.GET(path, send(want.pieces...))
		srv := httptest.NewServer(e)
		res := get(t, "GET", srv.URL+path) //nolint:bodyclose // get has it closed
		n, err := io.Copy(io.Discard, res.Body)
		total := 0
		for _, p := range want.pieces {
			total += p
		}
		if err != nil || n != int64(total) || res.ContentLength != want.length {
			t.Errorf("%s: %d of %d bytes, %v; length %d, want %d", path, n, total, err, res.ContentLength, want.length)
		}
		srv.Close()
	}
	e.GET("/fails", func(c echo.Context) error {
		_, _ = c.Response().Write(make([]byte, 10))
		return errors.New("too late")
	})
	srv := httptest.NewServer(e)
	defer srv.Close()
	if res, err := srv.Client().Get(srv.URL + "/fails"); err == nil {
		_ = res.Body.Close()
		t.Error("an answer that failed half-way looks whole")
	}
}
