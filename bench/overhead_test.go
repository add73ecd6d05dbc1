package bench_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// BenchmarkOverhead tells what REST adds to an answer: every question is asked of the
// engine and over HTTP, in turns, so that both see the same machine. The figure is the
// median of the differences of one pair each. Beside it stands what the server's own
// account of the same request leaves: the whole less its call of the engine.
func BenchmarkOverhead(b *testing.B) {
	c := setup(b)
	srv := httptest.NewServer(api.New(c.engine, api.Options{}))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // as callers on the same machine do
	defer client.CloseIdleConnections()
	var direct, added, around []time.Duration
	inProcess := func(q ragctx.ContextQuery) time.Duration {
		begin := time.Now()
		if _, err := c.engine.Context(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	overHTTP := func(body []byte) time.Duration {
		begin := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/v1/context", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Ragctx-Timing", "true")
		res, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, err)
		}
		took := time.Since(begin)
		around = append(around, took-engineTime(b, res.Header.Get("Server-Timing")))
		return took
	}
	for i := 0; b.Loop(); i++ {
		q := ragctx.NewQuery(c.queries[i%len(c.queries)])
		body, err := json.Marshal(q)
		if err != nil {
			b.Fatal(err)
		}
		var engine, http time.Duration
		if i/len(c.queries)%2 == 0 { // which one comes first takes turns, too
			engine, http = inProcess(q), overHTTP(body)
		} else {
			http, engine = overHTTP(body), inProcess(q)
		}
		direct, added = append(direct, engine), append(added, http-engine)
	}
	slices.Sort(direct)
	slices.Sort(added)
	slices.Sort(around)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(direct[len(direct)/2]), "engine-p50-ms")
	b.ReportMetric(ms(added[len(added)/2]), "added-p50-ms")
	b.ReportMetric(ms(added[len(added)*9/10]), "added-p90-ms")
	b.ReportMetric(ms(around[len(around)/2]), "around-p50-ms")
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
