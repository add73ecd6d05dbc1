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

// lineEvery is the time between two lines of progress.
const lineEvery = 5 * time.Second

// progress shows the progress of an ingest.
type progress interface {
	// update shows a state. Calls are not concurrent.
	update(engine.IngestProgress)
	// expect sets the number of files.
	expect(n int)
	// end removes the drawing.
	end()
}

// newProgress returns the progress of a job, which counts its files itself.
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

// jobProgress converts the state of a job.
func jobProgress(j engine.Job) engine.IngestProgress {
	p := engine.IngestProgress{Path: j.Current, Report: j.IngestReport(), Skipped: j.Counts.Skipped + j.Counts.Failed}
	if j.State == store.JobQueued {
		p.Stage = "waiting for other jobs"
	}
	return p
}

type noProgress struct{}

func (noProgress) update(engine.IngestProgress) {}
func (noProgress) expect(int)                   {}
func (noProgress) end()                         {}

// lines prints a line now and then.
type lines struct {
	w           io.Writer
	now         func() time.Time
	start, last time.Time
	total       int // files; 0 is unknown
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

// expect implements progress. The caller of update calls it.
func (l *lines) expect(n int) { l.total = n }

func (*lines) end() {}

// tally returns a state in a phrase.
func tally(p engine.IngestProgress, total int, took time.Duration) string {
	r := p.Report
	return fmt.Sprintf("%d%s files, %s, %.0f files/s, %.0f chunks/s", done(p), of(p, total), amount(r.Chunks, "chunk"),
		rate(r.Files(), took), rate(r.Chunks, took))
}

// done is the number of finished files.
func done(p engine.IngestProgress) int { return p.Report.Files() + p.Skipped }

// of returns the number of all files, as text, if it is known and not exceeded.
func of(p engine.IngestProgress, total int) string {
	if total < done(p) || total == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", total)
}

// left returns the time left at the average pace, as text, if it can be estimated.
func left(p engine.IngestProgress, total int, took time.Duration) string {
	n := done(p)
	if total < n || n == 0 || p.Stage != "" {
		return ""
	}
	rest := time.Duration(float64(took) / float64(n) * float64(total-n))
	return fmt.Sprintf(", %s left", rest.Round(time.Second))
}

// rate returns n per second.
func rate(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// bar draws a bar on a terminal. The job counts its files while it works, so the bar appears once
// their number is known.
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
		return fmt.Sprintf(" %s: %s%s", p.Stage, amount(done(*p), "file"), name)
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
