package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
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
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

var overheadRest = flag.Duration("overhead-rest", 35*time.Second,
	"how long nothing of the indexes changes before BenchmarkOverhead; their parts are merged once nothing was "+
		"written for 20 and 30 s")

// BenchmarkOverhead measures the cost of REST. "client" uses Go's client, "socket" one that only
// writes to and reads from its socket, without the work of Go's client. "bare" is a net/http handler
// that only asks the engine and sends the bytes of an earlier answer: the minimum for a server in Go.
// Compare it with the "around" of "client". Each kind has rounds of its own, because the garbage of
// one is collected during the next.
func BenchmarkOverhead(b *testing.B) {
	c := setup(b)
	rested(b, c.engine, *overheadRest)
	srv := httptest.NewServer(api.New(c.engine, api.Options{}))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // as callers on the same machine do
	defer client.CloseIdleConnections()
	questions := make([]question, len(c.queries))
	for i, text := range c.queries {
		questions[i] = newQuestion(b, text)
		_, _, questions[i].answer = ask(b, client, srv.URL, questions[i].body)
	}
	b.Run("client", func(b *testing.B) {
		var around []time.Duration
		inPairs(b, c.engine, questions, func(q question) time.Duration {
			took, engine, _ := ask(b, client, srv.URL, q.body)
			around = append(around, took-engine)
			return took
		})
		b.ReportMetric(percentileMS(around, 50), "around-p50-ms")
	})
	b.Run("socket", func(b *testing.B) {
		socket := newSocketClient(b, srv.Listener.Addr().String())
		inPairs(b, c.engine, questions, func(q question) time.Duration { return socket.ask(b, q.body) })
	})
	b.Run("bare", func(b *testing.B) {
		bare := newBareServer(b, c.engine)
		var around []time.Duration
		inPairs(b, c.engine, questions, func(q question) time.Duration {
			bare.asked = q
			took, engine, _ := ask(b, client, bare.URL, q.body)
			around = append(around, took-engine)
			return took
		})
		b.ReportMetric(percentileMS(around, 50), "around-p50-ms")
	})
}

// question is a query with its request and response over HTTP.
type question struct {
	query        ragctx.ContextQuery
	body, answer []byte
}

func newQuestion(b *testing.B, text string) question {
	b.Helper()
	q := ragctx.NewQuery(text)
	body, err := json.Marshal(q)
	if err != nil {
		b.Fatal(err)
	}
	return question{query: q, body: body}
}

// rested waits until the indexes have not changed for the given time.
func rested(b *testing.B, e *engine.Engine, still time.Duration) {
	b.Helper()
	parts := func() map[store.Collection][2]index.PartStats {
		now := make(map[store.Collection][2]index.PartStats)
		for _, i := range e.Metrics().Indexes(context.Background()) {
			now[i.ID] = [2]index.PartStats{i.Keyword, i.Vector}
		}
		return now
	}
	last, since := parts(), time.Now()
	for time.Since(since) < still {
		select {
		case <-time.After(min(still, 100*time.Millisecond)):
		case <-b.Context().Done():
			b.Fatal(b.Context().Err())
		}
		if now := parts(); !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
	}
}

// inPairs asks every question of the engine and over HTTP in turns, so that both see the same machine.
// It reports the median of the differences in each pair.
func inPairs(b *testing.B, e *engine.Engine, questions []question, door func(question) time.Duration) {
	b.Helper()
	inProcess := func(q question) time.Duration {
		begin := time.Now()
		if _, err := e.Context(b.Context(), q.query); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	b.ReportAllocs()
	var direct, added []time.Duration
	for i := 0; b.Loop(); i++ {
		q := questions[i%len(questions)]
		var asked, through time.Duration
		if i/len(questions)%2 == 0 { // which one comes first takes turns, too
			asked, through = inProcess(q), door(q)
		} else {
			through, asked = door(q), inProcess(q)
		}
		direct, added = append(direct, asked), append(added, through-asked)
	}
	b.ReportMetric(percentileMS(direct, 50), "engine-p50-ms")
	b.ReportMetric(percentileMS(added, 50), "added-p50-ms")
	b.ReportMetric(percentileMS(added, 90), "added-p90-ms")
}

// percentileMS sorts times and returns a percentile in milliseconds.
func percentileMS(times []time.Duration, p int) float64 {
	slices.Sort(times)
	return float64(times[min(len(times)-1, len(times)*p/100)].Microseconds()) / 1000
}

// bareServer asks an engine and sends prepared bytes.
type bareServer struct {
	*httptest.Server

	asked question // by the next request, whose body is read and not looked at
}

func newBareServer(b *testing.B, e *engine.Engine) *bareServer {
	b.Helper()
	s := new(bareServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		begin := time.Now()
		if _, failed := e.Context(r.Context(), s.asked.query); err != nil || failed != nil {
			http.Error(w, "failed", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Server-Timing", fmt.Sprintf("engine;dur=%.3f", float64(time.Since(begin).Microseconds())/1000))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.asked.answer) // the client sees if it broke
	}))
	b.Cleanup(s.Close)
	return s
}

// socketClient writes requests to a socket and reads the responses.
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

// ask sends one question, and returns its latency.
func (c *socketClient) ask(b *testing.B, body []byte) time.Duration {
	b.Helper()
	begin := time.Now()
	c.sent = fmt.Appendf(c.sent[:0], "POST /v1/context HTTP/1.1\r\nHost: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s",
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

// ask sends one question. It returns its latency, the engine's time by the server's clock, and the
// answer.
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

// engineTime reads the engine's time from a response.
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
