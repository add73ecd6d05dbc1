package ledgertest

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// ten appends ten messages with the texts 0 to 9 at start + 10 ms times the text.
func (w *world) ten(t fataler) []ledger.Message {
	t.Helper()
	var out []ledger.Message
	for i := range 10 {
		m := msg([]string{"X", "Y", "Z"}[i%3], strconv.Itoa(i))
		m.Sender = []string{"a", "b"}[i%2]
		m.Timestamp = start.UnixMilli() + int64(10*i)
		if i == 4 {
			m.Receiver = "judge"
		}
		out = append(out, w.append(t, m)...)
	}
	return out
}

// The filters of a query: since and until are inclusive, after is not.
func testQuery(t *testing.T, w *world) {
	all := w.ten(t)
	at := func(i int) int64 { return all[i].Timestamp }
	for _, c := range []struct {
		q    ledger.Query
		want string
	}{
		{ledger.Query{}, "0123456789"},
		{ledger.Query{Newest: true}, "9876543210"},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"Y"}}}, "147"},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"Y", "Z"}}}, "124578"},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"Y", "Z", "Y"}}, Newest: true, Limit: 3}, "875"},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"nothing"}}}, ""},
		{ledger.Query{Filter: ledger.Filter{Sender: "b"}}, "13579"},
		{ledger.Query{Filter: ledger.Filter{Receiver: "judge"}}, "4"},
		{ledger.Query{Filter: ledger.Filter{Sender: "a", Topics: []string{"X"}, Receiver: ledger.Broadcast}}, "06"},
		{ledger.Query{ID: all[5].ID}, "5"},
		{ledger.Query{ID: all[5].ID, Filter: ledger.Filter{Topics: []string{"X"}}}, ""},
		{ledger.Query{ID: ledger.NewID("no such")}, ""},
		{ledger.Query{Since: at(3)}, "3456789"},
		{ledger.Query{Since: at(3) + 1}, "456789"},
		{ledger.Query{Until: at(3)}, "0123"},
		{ledger.Query{After: at(3)}, "456789"},
		{ledger.Query{After: at(3), Since: at(6), Until: at(7)}, "67"},
		{ledger.Query{Since: at(7), Until: at(3)}, ""},
		{ledger.Query{AfterSeq: all[6].Sequence}, "789"},
		{ledger.Query{ThroughSeq: all[1].Sequence}, "01"},
		{ledger.Query{AfterSeq: all[6].Sequence, ThroughSeq: all[8].Sequence, Newest: true}, "87"},
		{ledger.Query{AfterSeq: all[9].Sequence + 1000}, ""},
		{ledger.Query{Limit: 2}, "01"},
		{ledger.Query{Limit: 2, Offset: 3}, "34"},
		{ledger.Query{Offset: 8}, "89"},
		{ledger.Query{Offset: 80}, ""},
		{ledger.Query{Newest: true, Limit: 2, Offset: 1}, "87"},
		{ledger.Query{MaxBytes: 1}, "0"},
		{ledger.Query{MaxBytes: 3, Offset: 1}, "123"},
		{ledger.Query{MaxBytes: 100}, "0123456789"},
		{ledger.Query{Since: 1, Until: 1 << 50, After: 1, Limit: 1 << 40}, "0123456789"},
	} {
		c.q.Namespace, c.q.Cluster = filter.Namespace, filter.Cluster
		found := w.query(t, c.q)
		if got := strings.Join(texts(found), ""); got != c.want || found == nil {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
		c.q.Limit, c.q.Offset, c.q.MaxBytes, c.q.Newest = 0, 0, 0, false
		count, err := w.Count(context.Background(), c.q)
		if want := len(w.query(t, c.q)); err != nil || count != want {
			t.Errorf("Count(%+v) = %d, %v; want %d", c.q, count, err, want)
		}
	}
	for _, q := range []ledger.Query{
		{},
		{Filter: ledger.Filter{Namespace: "space"}},
		{Filter: ledger.Filter{Cluster: "team"}},
		{Filter: filter, Limit: -1},
		{Filter: filter, Offset: -1},
		{Filter: filter, Since: -1},
		{Filter: filter, ID: "5"},
		{Filter: filter, AfterSeq: 1 << 63},
	} {
		_, err := w.Query(context.Background(), q)
		wantError(t, err, ragctx.ErrInvalid, "a query that makes no sense")
		if q.Limit, q.Offset = 0, 0; q.Check() == nil { // Find and Count ignore both
			continue
		}
		_, err = w.Count(context.Background(), q)
		wantError(t, err, ragctx.ErrInvalid, "a count that makes no sense")
		_, _, err = w.Find(context.Background(), q)
		wantError(t, err, ragctx.ErrInvalid, "a search that makes no sense")
	}
}

// The newest message of a filter.
func testFind(t *testing.T, w *world) {
	all := w.ten(t)
	for _, c := range []struct {
		q    ledger.Query
		want int // -1 for no match
	}{
		{ledger.Query{}, 9},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"Y"}}}, 7},
		{ledger.Query{Filter: ledger.Filter{Sender: "b"}, Until: all[6].Timestamp}, 5},
		{ledger.Query{Limit: 3, Offset: 3}, 9},
		{ledger.Query{Filter: ledger.Filter{Sender: "nobody"}}, -1},
	} {
		c.q.Namespace, c.q.Cluster = filter.Namespace, filter.Cluster
		m, ok, err := w.Find(context.Background(), c.q)
		if err != nil || ok != (c.want >= 0) || ok && m.Sequence != all[c.want].Sequence {
			t.Errorf("Find(%+v) = %+v, %t, %v", c.q, m, ok, err)
		}
	}
	if last, err := ledger.LastSequence(context.Background(), w, ledger.Filter{
		Namespace: "space", Cluster: "team",
		Topics: []string{"X"},
	}); err != nil || last != all[9].Sequence {
		t.Errorf("Last = %d, %v", last, err)
	}
}

// Clusters and namespaces are isolated.
func testWalls(t *testing.T, w *world) {
	w.append(t, msg("X", "ours"))
	for _, f := range []ledger.Filter{{Namespace: "space", Cluster: "others"}, {Namespace: "elsewhere", Cluster: "team"}} {
		if got := w.query(t, ledger.Query{Filter: f}); len(got) != 0 {
			t.Errorf("%+v sees %v", f, texts(got))
		}
		if n, err := w.Count(context.Background(), ledger.Query{Filter: f}); n != 0 || err != nil {
			t.Errorf("%+v counts %d, %v", f, n, err)
		}
		sub, err := w.Subscribe(f)
		if err != nil {
			t.Fatal(err)
		}
		m := msg("X", "ours")
		w.append(t, m)
		m.Namespace, m.Cluster = f.Namespace, f.Cluster
		theirs := w.append(t, m)
		if got := <-sub.C(); got.Sequence != theirs[0].Sequence || len(sub.C()) != 0 {
			t.Errorf("%+v is told of %+v", f, got)
		}
		sub.Close()
		if d := cmp.Diff(theirs, w.query(t, ledger.Query{Filter: f})); d != "" {
			t.Error(d)
		}
	}
}

func testUsage(t *testing.T, w *world) {
	for _, data := range []string{
		`{"role":"worker","inputTokens":10,"outputTokens":1,"totalCostUsd":0.5}`,
		`{"role":"worker","inputTokens":5,"cacheReadInputTokens":7}`,
		`{"role":"judge","cacheCreationInputTokens":3}`, `{"inputTokens":1}`, `"nothing"`,
	} {
		m := msg(ledger.TopicTokenUsage, "")
		m.Data = []byte(data)
		w.append(t, m)
	}
	w.append(t, msg("X", ""))
	got, err := ledger.TokensByRole(context.Background(), w, filter)
	want := map[string]ledger.Usage{
		"worker": {InputTokens: 15, OutputTokens: 1, CacheReadTokens: 7, CostUSD: .5, Count: 2},
		"judge":  {CacheCreationTokens: 3, Count: 1}, "unknown": {InputTokens: 1, Count: 2},
		ledger.TotalRole: {InputTokens: 16, OutputTokens: 1, CacheReadTokens: 7, CacheCreationTokens: 3, CostUSD: .5, Count: 5},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}
