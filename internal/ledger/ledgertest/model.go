package ledgertest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// testModel applies the same random operations to the log and to a log in memory.
func testModel(t *testing.T, w *world) {
	model := newWorld(t, func(_ testing.TB, _ string, o ledger.Options) Log { return ledger.NewMemoryLog(o) })
	defer limitChecks(t, w.checks)()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		p := pair{w: w, model: model, cluster: fmt.Sprintf("cluster %d", round)}
		rt.Repeat(map[string]func(*rapid.T){
			"append": p.append,
			"import": p.importing,
			"query":  p.query,
			"clock": func(t *rapid.T) {
				by := rapid.Int64Range(-2000, 5000).Draw(t, "ms")
				w.clock.Add(by)
				model.clock.Add(by)
			},
			"": func(t *rapid.T) {
				p.compare(t, ledger.Query{Filter: ledger.Filter{Namespace: "space", Cluster: p.cluster}})
			},
		})
	})
}

// limitChecks limits package rapid to n sequences until restore is called. The flag is rapid's only
// setting for it.
func limitChecks(t *testing.T, n int) (restore func()) {
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	if n == 0 || was != checks.DefValue {
		return func() {}
	}
	set := func(value string) {
		if err := checks.Value.Set(value); err != nil {
			t.Error(err)
		}
	}
	set(strconv.Itoa(n))
	return func() { set(was) }
}

// pair is a log and its model.
type pair struct {
	w, model *world
	cluster  string
}

func (p *pair) draw(t *rapid.T) []ledger.Message {
	message := rapid.Custom(func(t *rapid.T) ledger.Message {
		m := ledger.Message{
			Namespace: "space", Cluster: p.cluster, Topic: rapid.SampledFrom([]string{"X", "Y", ledger.TopicAgentOutput}).Draw(t, "topic"),
			Sender: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "sender"), Text: rapid.StringN(0, 20, 400).Draw(t, "text"),
			Timestamp: max(0, p.w.clock.Load()+rapid.Int64Range(-3000, 3000).Draw(t, "ahead")),
		}
		if rapid.Bool().Draw(t, "named") {
			m.ID = "msg_" + strings.Repeat(rapid.StringMatching("[0-9a-f]").Draw(t, "id"), 32)
		}
		return m
	})
	return rapid.SliceOfN(message, 0, 12).Draw(t, "messages")
}

func (p *pair) append(t *rapid.T) {
	messages := p.draw(t)
	got, err := p.w.Append(context.Background(), messages)
	want, werr := p.model.Append(context.Background(), messages)
	p.same(t, want, got, werr, err)
}

func (p *pair) importing(t *rapid.T) {
	messages := p.draw(t)
	got, err := p.w.Import(context.Background(), messages)
	want, werr := p.model.Import(context.Background(), messages)
	p.same(t, want, got, werr, err)
}

func (p *pair) query(t *rapid.T) {
	span := func(name string) int64 {
		if rapid.Bool().Draw(t, "no "+name) {
			return 0
		}
		return p.w.clock.Load() + rapid.Int64Range(-5000, 5000).Draw(t, name)
	}
	p.compare(t, ledger.Query{
		Filter: ledger.Filter{
			Namespace: "space", Cluster: p.cluster, Sender: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "sender"),
			Topics: rapid.SliceOfN(rapid.SampledFrom([]string{"X", "Y", ledger.TopicAgentOutput}), 0, 2).Draw(t, "topics"),
		},
		Since: span("since"), Until: span("until"), After: span("after"),
		Limit: rapid.IntRange(0, 20).Draw(t, "limit"), Offset: rapid.IntRange(0, 20).Draw(t, "offset"),
		MaxBytes: rapid.IntRange(0, 200).Draw(t, "bytes"), Newest: rapid.Bool().Draw(t, "newest"),
	})
}

func (p *pair) compare(t *rapid.T, q ledger.Query) {
	got, err := p.w.Query(context.Background(), q)
	want, werr := p.model.Query(context.Background(), q)
	p.same(t, want, got, werr, err)
}

// same compares answers. Of generated ids and sequences it compares only the order.
func (p *pair) same(t *rapid.T, want, got []ledger.Message, werr, err error) {
	t.Helper()
	code, _ := ragctx.CodeOf(err)
	if wcode, _ := ragctx.CodeOf(werr); (err == nil) != (werr == nil) || code != wcode {
		t.Fatalf("error %v, want %v", err, werr)
	}
	if d := cmp.Diff(plain(want), plain(got)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
}

// plain returns messages without the values that logs choose.
func plain(messages []ledger.Message) []ledger.Message {
	out := []ledger.Message{}
	for _, m := range messages {
		if m.Topic == ledger.TopicOmitted {
			m.Data = []byte(fmt.Sprint(ledger.ReceiptOf(m).Messages))
		}
		m.Sequence, m.ID = 0, ""
		out = append(out, m)
	}
	return out
}

// testReopen compares the messages before and after reopening.
func testReopen(t *testing.T, w *world) {
	for range 2 {
		w.ten(t)
		for range 70 {
			w.append(t, msg(ledger.TopicAgentOutput, "o"))
		}
		before := w.all(t)
		w.reopen(t)
		if d := cmp.Diff(before, w.all(t)); d != "" {
			t.Errorf("reopened (-before +after):\n%s", d)
		}
		last := before[len(before)-1]
		if m := w.append(t, msg("X", ""))[0]; m.Sequence <= last.Sequence || m.Timestamp <= last.Timestamp {
			t.Errorf("after reopening %+v follows %+v", m, last)
		}
	}
}

// Timestamps grow even after a restart with the clock set back.
func testReopenClock(t *testing.T, w *world) {
	var last ledger.Message
	for range 8 {
		w.clock.Add(rand.Int64N(2000) - time.Second.Milliseconds())
		m := w.append(t, msg("X", ""), msg("X", ""))
		if m[0].Timestamp <= last.Timestamp || m[0].Sequence <= last.Sequence {
			t.Fatalf("%+v follows %+v", m[0], last)
		}
		last = m[1]
		w.reopen(t)
	}
}
