package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/engine"
)

// TestQuestionsAreSearchedFor: only the load that repeats its questions uses the answer cache, and
// every form of a report has the number of cached answers.
func TestQuestionsAreSearchedFor(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i := range 3 {
		if _, err := e.Documents().Put(t.Context(), "",
			ragctx.Document{ExternalID: fmt.Sprint(i), Text: bench.Generated(5, i)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(api.New(e, api.Options{}))
	defer srv.Close()
	const requests = 40
	loads := []bench.Load{{Clients: 4}, {Rate: 2000}, {Rate: 2000, Constant: true}, {Clients: 1, Repeated: true}}
	r, err := bench.Run(t.Context(), bench.Options{
		URL: srv.URL, Queries: []ragctx.ContextQuery{{Query: bench.Word(3) + " " + bench.Word(40)}, {Query: bench.Word(7) + " " + bench.Word(60)}}, Loads: loads,
		Repeat: 1, Requests: requests, Warmup: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	cached := 0
	for _, m := range r.Loads {
		// A slow machine may refuse some requests of an open loop.
		if m.Succeeded == 0 || m.Succeeded+m.Failed != requests {
			t.Errorf("%s: %d succeeded and %d failed of %d", m.Load, m.Succeeded, m.Failed, requests)
		}
		if m.FromCache == nil || m.FromCache.Count > 0 != m.Repeated || m.FromCache.Count+m.Searched.Count != m.Succeeded {
			t.Errorf("%s: %+v from the cache, %+v searched for", m.Load, m.FromCache, m.Searched)
			continue
		}
		cached += m.FromCache.Count
	}
	if hits := e.Metrics().Answers().Cache.Hits; int(hits) != cached {
		t.Errorf("%d answers from the cache are told of, and it gave %d", cached, hits)
	}
	var table, data bytes.Buffer
	if err := bench.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&data).Encode(r); err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"4 clients: no answer came from the answer cache: every": table.String(),
		"1 client, repeated questions: ":                         table.String(),
		" of the answers came from the answer cache (p50":        table.String(),
		`"from_cache_latency_ms":`:                               data.String(),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
