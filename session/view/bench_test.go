package view_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// BenchmarkLongSession measures a session of 10,000 messages in a database, and reports the median
// and the 99th percentile.
func BenchmarkLongSession(b *testing.B) {
	st := onDisk(b)
	w := newWorld(b, view.Options{Storage: st.Sessions(session.Options{}), Notes: st.Notes()})
	for i := range 10 {
		w.append(talk(250*i, 250, 30)...)
	}
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		do    func()
		after func() // is not timed
	}{
		{"append", func() {
			_, _, err := w.Append(ctx, key, view.AppendOptions{}, ragctx.TextMessage(ragctx.RoleUser, "and then?"))
			must(err)
		}, nil},
		{"compile", func() {
			_, err := w.Compile(ctx, key, view.CompileOptions{MaxTokens: 50_000})
			must(err)
		}, nil},
		{"view", func() {
			_, err := w.View(ctx, key, view.ViewOptions{Budget: stage.Budget{Tokens: 50_000, Window: 2_000_000}})
			must(err)
		}, nil},
		{"turn", func() { // an agent's work for each call
			_, _, err := w.Append(ctx, key, view.AppendOptions{}, ragctx.TextMessage(ragctx.RoleUser, "and then?"))
			must(err)
			_, err = w.View(ctx, key, view.ViewOptions{Budget: stage.Budget{Tokens: 50_000, Window: 2_000_000}})
			must(err)
		}, nil},
		{"compact", func() {
			out, err := w.Compact(ctx, key, view.CompactOptions{})
			must(err)
			if out.Stored == nil {
				b.Fatal(out.Reason)
			}
		}, func() {
			_, _, err := w.Undo(ctx, key, session.Condition{})
			must(err)
		}},
		{"cold", func() {
			w.Forget(nil)
			_, err := w.Compile(ctx, key, view.CompileOptions{MaxTokens: 50_000})
			must(err)
		}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.after == nil {
				c.after = func() {}
			}
			c.do() // the first read
			c.after()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				c.do()
				took = append(took, time.Since(start))
				c.after()
			}
			slices.Sort(took)
			for name, share := range map[string]float64{"p50-ms": .5, "p99-ms": .99} {
				b.ReportMetric(took[int(share*float64(len(took)-1))].Seconds()*1000, name)
			}
		})
	}
}
