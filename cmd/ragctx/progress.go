package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
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

// newProgress shows a job, which counts its files itself.
func newProgress(w io.Writer, env lookupEnv, quiet bool) progress {
	switch {
	case quiet:
		return noProgress{}
	case isTerminal(w, env):
		return newBar(w)
	}
	now := time.Now()
	return &lines{w: w, now: time.Now, start: now, last: now}
}

// jobProgress is a job's state as an ingest's.
func jobProgress(j engine.Job) engine.IngestProgress {
	p := engine.IngestProgress{Path: j.At, Report: j.IngestReport(), Skipped: j.Counts.Skipped + j.Counts.Failed}
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
	total       int // files; 0 is not known
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
	took := now.Sub(l.start)
	fmt.Fprintf(l.w, "%s: %s%s%s\n", cmp.Or(p.Stage, "ingesting"), tally(p, l.total, took), left(p, l.total, took), path)
}

// expect implements progress; update is called by the same caller.
func (l *lines) expect(n int) { l.total = n }

func (*lines) end() {}

// tally is a state in one phrase.
func tally(p engine.IngestProgress, total int, took time.Duration) string {
	r := p.Report
	return fmt.Sprintf("%d%s files, %d chunks, %.0f files/s, %.0f chunks/s", done(p), of(p, total), r.Chunks,
		rate(r.Files(), took), rate(r.Chunks, took))
}

// done is how many files are dealt with.
func done(p engine.IngestProgress) int { return p.Report.Files() + p.Skipped }

// of says of how many files, if that is known and not yet passed.
func of(p engine.IngestProgress, total int) string {
	if total < done(p) || total == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", total)
}

// left says how long the rest takes at the pace so far, if that can be told.
func left(p engine.IngestProgress, total int, took time.Duration) string {
	n := done(p)
	if total < n || n == 0 || p.Stage != "" {
		return ""
	}
	rest := time.Duration(float64(took) / float64(n) * float64(total-n))
	return fmt.Sprintf(", %s left", rest.Round(time.Second))
}

// rate is n per second.
func rate(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// bar draws on a terminal. The job counts its files while it does them, so the
// bar fills up from when their number is known.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	state     atomic.Pointer[engine.IngestProgress]
	total     atomic.Int64
	start     time.Time
}

func newBar(w io.Writer) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w)), start: time.Now()}
	b.bar = b.container.New(0, mpb.BarStyle(), mpb.BarWidth(14), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.text() })))
	return b
}

func (b *bar) text() string {
	p := b.state.Load()
	if p == nil {
		return " looking for files"
	}
	took := time.Since(b.start)
	total := int(b.total.Load())
	name := ""
	if p.Path != "" {
		name = "  " + ragctx.Clip(printable(filepath.Base(p.Path)))
	}
	if p.Stage != "" {
		return fmt.Sprintf(" %s: %d files%s", p.Stage, done(*p), name)
	}
	return fmt.Sprintf(" %d%s files, %.0f chunks/s%s%s", done(*p), of(*p, total), rate(p.Report.Chunks, took), left(*p, total, took), name)
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
	b.bar.Abort(true)
	b.container.Wait()
}
