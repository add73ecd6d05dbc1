package bench_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// BenchmarkOverhead tells what REST adds to an answer: every question is asked of the
// engine and over HTTP, in turns, so that both see the same machine. The figure is the
// median of the differences of one pair each.
func BenchmarkOverhead(b *testing.B) {
	c := setup(b)
	srv := httptest.NewServer(api.New(c.engine, api.Options{}))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // as callers on the same machine do
	defer client.CloseIdleConnections()
	var direct, added []time.Duration
	inProcess := func(q ragctx.ContextQuery) time.Duration {
		begin := time.Now()
		if _, err := c.engine.Context(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	overHTTP := func(body []byte) time.Duration {
		begin := time.Now()
		res, err := client.Post(srv.URL+"/v1/context", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, err)
		}
		return time.Since(begin)
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
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(direct[len(direct)/2]), "engine-p50-ms")
	b.ReportMetric(ms(added[len(added)/2]), "added-p50-ms")
	b.ReportMetric(ms(added[len(added)*9/10]), "added-p90-ms")
}
