package weaviate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
)

// copyOf is an endpoint with a copy of the chunks 1 to n. Its clock is a minute ahead.
type copyOf struct {
	n int

	mu      sync.Mutex
	deletes []string // consistency levels
	at      []int64  // the times of these deletions
}

var afterID = regexp.MustCompile(`limit:(\d+),after:"([^"]*)"`)

func (s *copyOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))
	if r.Method == http.MethodDelete {
		var in struct{ DeletionTimeUnixMilli int64 }
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deletes = append(s.deletes, r.URL.Query().Get("consistency_level"))
		s.at = append(s.at, in.DeletionTimeUnixMilli)
		_, _ = w.Write([]byte("{}"))
		return
	}
	var in struct{ Query string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	m := afterID.FindStringSubmatch(in.Query)
	var limit int
	_, _ = fmt.Sscan(m[1], &limit)
	first := uint64(1)
	if m[2] != "" {
		last, _ := chunkOf(m[2])
		first = last + 1
	}
	type row struct {
		Additional hit `json:"_additional"`
	}
	rows := []row{}
	for id := first; id <= uint64(s.n) && len(rows) < limit; id++ { //nolint:gosec // small
		rows = append(rows, row{hit{ID: objectID(id)}})
	}
	if len(rows) < limit {
		rows = append(rows, row{hit{ID: stateID}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"Get": map[string]any{"C": rows}}})
}

// TestStored passes the chunks of all endpoints, and reports the one that is away.
func TestStored(t *testing.T) {
	servers := []*copyOf{{n: sweepBatch + 5}, {n: 3}}
	urls := []string{"127.0.0.1:1"}
	for _, s := range servers {
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		urls = append(urls, strings.TrimPrefix(h.URL, "http://"))
	}
	for _, away := range []bool{true, false} {
		if !away {
			urls = urls[1:]
		}
		p, err := New(Options{URL: "weaviate://" + strings.Join(urls, ",")})
		if err != nil {
			t.Fatal(err)
		}
		x := tenant{client: p.client, class: "C", name: "ns1", follows: p.follows}
		seen := make(map[uint64]int)
		err = x.Stored(t.Context(), func(chunks []uint64) error {
			for _, c := range chunks {
				seen[c]++
			}
			return nil
		})
		if (err != nil) != away || len(seen) != sweepBatch+5 || seen[3] != 2 || seen[4] != 1 {
			t.Errorf("an endpoint is away: %v: %d chunks, %v", away, len(seen), err)
		}
	}
}

// TestDeletionTime deletes at a time that is not before the cluster's: what a node wrote last would come back otherwise.
func TestDeletionTime(t *testing.T) {
	s := &copyOf{}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	p, err := New(Options{URL: "weaviate://" + strings.TrimPrefix(h.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	x := tenant{client: p.client, class: "C", name: "ns1", follows: p.follows, savedAt: time.Now()}
	if err := x.Stored(t.Context(), func([]uint64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	clock := time.Now().Add(time.Minute)
	if err := errors.Join(x.Purge(t.Context(), []uint64{1}), x.apply(t.Context(), 1, nil, []uint64{2})); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.deletes, []string{"ALL", "QUORUM"}) {
		t.Errorf("deletes from %v", s.deletes)
	}
	for _, at := range s.at {
		if at < clock.UnixMilli() {
			t.Errorf("deleted %v before the clock of the cluster", clock.Sub(time.UnixMilli(at)))
		}
	}
	x.closed.Store(true)
	if err := x.Purge(t.Context(), nil); !errors.Is(err, index.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
