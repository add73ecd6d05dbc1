package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/store"
)

// lineEvery is how often progress is written where it cannot be drawn.
const lineEvery = 5 * time.Second

// progress shows how far an ingest has come.
type progress interface {
	// update is called with one state after the other, by one caller at a time.
	update(engine.IngestProgress)
	// expect says how many files there will be.
	expect(n int)
	// end removes what was drawn.
	end()
}

func newProgress(w io.Writer, env lookupEnv, quiet bool, o engine.IngestOptions) progress {
	switch {
	case quiet:
		return noProgress{}
	case isTerminal(w, env):
		return newBar(w, func(ctx context.Context) int {
			n, _ := engine.CountEntries(ctx, o) // the ingest will meet the error, too, and say so
			return n
		})
	}
	now := time.Now()
	return &lines{w: w, now: time.Now, start: now, last: now}
}

// newJobProgress shows a job, which counts its files itself.
func newJobProgress(w io.Writer, env lookupEnv, quiet bool) progress {
	if !quiet && isTerminal(w, env) {
		return newBar(w, func(context.Context) int { return 0 })
	}
	return newProgress(w, env, quiet, engine.IngestOptions{})
}

// jobProgress is a job's state as an ingest's.
func jobProgress(j engine.Job) engine.IngestProgress {
	p := engine.IngestProgress{Path: j.At, Report: reportOf(j), Skipped: j.Counts.Skipped + j.Counts.Failed}
	if j.State == store.JobQueued {
		p.Stage = "waiting for other jobs"
	}
	return p
}

type noProgress struct{}

func (noProgress) update(engine.IngestProgress) {}
func (noProgress) expect(int)                   {}
func (noProgress) end()                         {}

// lines writes a line now and then.
type lines struct {
	w           io.Writer
	now         func() time.Time
	start, last time.Time
}

func (l *lines) update(p engine.IngestProgress) {
	now := l.now()
	if now.Sub(l.last) < lineEvery {
		return
	}
	l.last = now
	path := ""
	if p.Path != "" {
		path = ", " + printable(p.Path)
	}
	fmt.Fprintf(l.w, "%s: %s%s\n", cmp.Or(p.Stage, "ingesting"), tally(p, now.Sub(l.start)), path)
}

func (*lines) expect(int) {}

func (*lines) end() {}

// tally is a state in one phrase.
func tally(p engine.IngestProgress, took time.Duration) string {
	r := p.Report
	return fmt.Sprintf("%d files, %d chunks, %.0f files/s, %.0f chunks/s", r.Files()+p.Skipped, r.Chunks,
		rate(r.Files(), took), rate(r.Chunks, took))
}

// rate is n per second.
func rate(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// bar draws on a terminal. The files are counted while they are ingested, so the
// bar fills up from when their number is known.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	state     atomic.Pointer[engine.IngestProgress]
	total     atomic.Int64
	start     time.Time
	stop      context.CancelFunc // ends the counting
	counting  sync.WaitGroup
}

func newBar(w io.Writer, count func(context.Context) int) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w)), start: time.Now()}
	b.bar = b.container.New(0, mpb.BarStyle(), mpb.BarWidth(14), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.text() })))
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.counting.Go(func() {
		if n := count(ctx); ctx.Err() == nil {
			b.expect(n)
		}
	})
	return b
}

func (b *bar) text() string {
	p := b.state.Load()
	if p == nil {
		return " looking for files"
	}
	took := time.Since(b.start)
	done := p.Report.Files() + p.Skipped
	of, left := "", ""
	if total := int(b.total.Load()); total >= done && done > 0 {
		of = fmt.Sprintf(" of %d", total)
		rest := time.Duration(float64(took) / float64(done) * float64(total-done))
		left = fmt.Sprintf(", %s left", rest.Round(time.Second))
	}
	name := ""
	if p.Path != "" {
		name = "  " + ragctx.Clip(printable(filepath.Base(p.Path)))
	}
	if p.Stage != "" {
		return fmt.Sprintf(" %s: %d files%s", p.Stage, done, name)
	}
	return fmt.Sprintf(" %d%s files, %.0f chunks/s%s%s", done, of, rate(p.Report.Chunks, took), left, name)
}

// expect implements progress.
func (b *bar) expect(n int) {
	if n > 0 {
		b.total.Store(int64(n))
		b.bar.SetTotal(int64(n), false)
	}
}

func (b *bar) update(p engine.IngestProgress) {
	b.state.Store(&p)
	b.bar.SetCurrent(int64(p.Report.Files() + p.Report.Deleted + p.Skipped))
}

func (b *bar) end() {
	b.stop()
	b.counting.Wait()
	b.bar.Abort(true)
	b.container.Wait()
}
