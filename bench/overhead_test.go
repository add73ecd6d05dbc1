package bench_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
)

// BenchmarkOverhead tells what REST adds to an answer: every question is asked of the
// engine and over HTTP, in turns, so that both see the same machine. The figure is the
// median of the differences of one pair each. Beside it stands what the server's own
// account of the same request leaves: the whole less its call of the engine; and the same
// of a handler of net/http that does nothing but ask the engine and send the bytes of the
// answer, as they were before: what is left of it, no server in Go can do without. And
// once more the difference for a client that only writes and reads its socket: what Go's
// client does besides is no server's.
func BenchmarkOverhead(b *testing.B) {
	c := setup(b)
	srv := httptest.NewServer(api.New(c.engine, api.Options{}))
	defer srv.Close()
	bare := newBareServer(b, c.engine)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // as callers on the same machine do
	defer client.CloseIdleConnections()
	socket := newSocketClient(b, srv.Listener.Addr().String())
	var direct, added, addedSocket, around, bareAround []time.Duration
	inProcess := func(q ragctx.ContextQuery) time.Duration {
		begin := time.Now()
		if _, err := c.engine.Context(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	overHTTP := func(body []byte) time.Duration {
		took, engine, answer := ask(b, client, srv.URL, body)
		around = append(around, took-engine)
		bare.answer = answer
		return took
	}
	for i := 0; b.Loop(); i++ {
		q := ragctx.NewQuery(c.queries[i%len(c.queries)])
		body, err := json.Marshal(q)
		if err != nil {
			b.Fatal(err)
		}
		var asked, http time.Duration
		if i/len(c.queries)%2 == 0 { // which one comes first takes turns, too
			asked, http = inProcess(q), overHTTP(body)
		} else {
			http, asked = overHTTP(body), inProcess(q)
		}
		direct, added = append(direct, asked), append(added, http-asked)
		bare.query = q
		inProcess(q) // so that it finds the machine as a call over HTTP does
		took, engine, _ := ask(b, client, bare.URL, body)
		bareAround = append(bareAround, took-engine)
		if i/len(c.queries)%2 == 0 {
			asked, http = inProcess(q), socket.ask(b, body)
		} else {
			http, asked = socket.ask(b, body), inProcess(q)
		}
		addedSocket = append(addedSocket, http-asked)
	}
	for _, list := range [][]time.Duration{direct, added, addedSocket, around, bareAround} {
		slices.Sort(list)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(direct[len(direct)/2]), "engine-p50-ms")
	b.ReportMetric(ms(added[len(added)/2]), "added-p50-ms")
	b.ReportMetric(ms(added[len(added)*9/10]), "added-p90-ms")
	b.ReportMetric(ms(addedSocket[len(addedSocket)/2]), "added-socket-p50-ms")
	b.ReportMetric(ms(around[len(around)/2]), "around-p50-ms")
	b.ReportMetric(ms(bareAround[len(bareAround)/2]), "bare-around-p50-ms")
}

// bareServer asks an engine and sends bytes that were made before.
type bareServer struct {
	*httptest.Server

	query  ragctx.ContextQuery // what the next request asks, whose body is read and not looked at
	answer []byte
}

func newBareServer(b *testing.B, e *engine.Engine) *bareServer {
	b.Helper()
	s := new(bareServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		begin := time.Now()
		if _, failed := e.Context(r.Context(), s.query); err != nil || failed != nil {
			http.Error(w, "failed", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Server-Timing", fmt.Sprintf("engine;dur=%.3f", float64(time.Since(begin).Microseconds())/1000))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.answer) // the client sees if it broke
	}))
	b.Cleanup(s.Close)
	return s
}

// socketClient writes requests to a socket and reads answers from it.
type socketClient struct {
	conn   net.Conn
	read   *bufio.Reader
	sent   []byte
	answer []byte
}

func newSocketClient(b *testing.B, addr string) *socketClient {
	b.Helper()
	var d net.Dialer
	conn, err := d.DialContext(b.Context(), "tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &socketClient{conn: conn, read: bufio.NewReaderSize(conn, 64<<10)}
}

// ask sends one question, and returns how long it took until its answer was read.
func (c *socketClient) ask(b *testing.B, body []byte) time.Duration {
	b.Helper()
	begin := time.Now()
	c.sent = fmt.Appendf(c.sent[:0], "POST /v1/context HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.conn.RemoteAddr(), len(body), body)
	if _, err := c.conn.Write(c.sent); err != nil {
		b.Fatal(err)
	}
	res, err := http.ReadResponse(c.read, nil)
	if err != nil || res.StatusCode != http.StatusOK || res.ContentLength <= 0 {
		b.Fatal(res, err)
	}
	c.answer = slices.Grow(c.answer[:0], int(res.ContentLength))[:res.ContentLength]
	_, err = io.ReadFull(res.Body, c.answer)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// ask sends one question, and returns how long it took until its answer was read, the
// engine's time by the server's account, and the answer.
func ask(b *testing.B, client *http.Client, url string, body []byte) (took, engine time.Duration, answer []byte) {
	b.Helper()
	begin := time.Now()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/v1/context", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Ragctx-Timing", "true")
	res, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	if answer, err = io.ReadAll(res.Body); err != nil {
		b.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(res.Status, err)
	}
	took = time.Since(begin)
	return took, engineTime(b, res.Header.Get("Server-Timing")), answer
}

// engineTime reads how long the engine took from what a server says of an answer.
func engineTime(b *testing.B, timing string) time.Duration {
	b.Helper()
	_, rest, _ := strings.Cut(timing, "engine;dur=")
	rest, _, _ = strings.Cut(rest, ",")
	took, err := time.ParseDuration(rest + "ms")
	if err != nil {
		b.Fatalf("the engine's time in %q: %v", timing, err)
	}
	return took
}
