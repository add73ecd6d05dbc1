package watch

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// pauseFactor is the minimum pause between two scans, in multiples of a scan's duration, unless an event
// occurs.
const pauseFactor = 20

// root is one watched path.
type root struct {
	path    string
	opts    Options
	changed func(context.Context, Change) error

	events *events       // nil when polling
	poll   time.Duration // 0 disables polling

	seen snapshot // snapshot of the last completed change
	// changedMeanwhile says that the root changed while a change was processed: files may have been processed
	// that the next scan does not see.
	changedMeanwhile bool
	info             fs.FileInfo // info of the root when files were last seen in it
	// pauseReason is the reason why the root could not be scanned. It is logged once.
	pauseReason string
}

// run scans the root, processes changes, and waits for the next event.
func (r *root) run(ctx context.Context) {
	defer func() { r.events.close() }()
	for ctx.Err() == nil {
		pause := r.check(ctx)
		if told := r.wait(ctx, pause); !told && r.events != nil {
			r.events.stale.Store(true) // a drive that is removed and attached again sends no events
		}
	}
}

// check scans the root and processes a change. It returns the time until the next scan without
// events.
func (r *root) check(ctx context.Context) time.Duration {
	start := time.Now()
	p, err := r.scan(ctx)
	retry := max(r.opts.Retry, pauseFactor*time.Since(start))
	poll := max(r.poll, pauseFactor*time.Since(start))
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		r.logPaused(ctx, err.Error())
		return retry
	case p.files > 0:
		r.info = p.info
	case r.info == nil || !os.SameFile(r.info, p.info):
		r.logPaused(ctx, "it is empty")
		return retry
	}
	if r.pauseReason != "" {
		r.opts.Logger.InfoContext(ctx, "watching again", "path", r.path)
		r.pauseReason = ""
	}
	// If a file could have changed without a new time, an equal snapshot does not prove that
	// nothing changed.
	if p.sum != r.seen.sum || r.seen.recent || r.changedMeanwhile {
		if err := r.changed(ctx, Change{Path: r.path, Empty: p.files == 0}); err != nil {
			if ctx.Err() == nil {
				r.opts.Logger.WarnContext(ctx, "changes could not be ingested; retrying", "path", r.path, "error", err)
			}
			return retry
		}
		r.seen, r.changedMeanwhile = p, false
		if r.poll > 0 { // events would report it
			after, err := r.snapshot(ctx)
			r.changedMeanwhile = err != nil || after.sum != p.sum
		}
	}
	if r.poll > 0 {
		return poll
	}
	return r.opts.Recheck
}

// logPaused logs once why the root is not scanned.
func (r *root) logPaused(ctx context.Context, why string) {
	if r.pauseReason == "" {
		r.opts.Logger.WarnContext(ctx, "watching is paused; the documents stay", "path", r.path, "reason", why)
	}
	r.pauseReason = why
}

// scan makes a snapshot of the root. Changes after it are reported as events.
func (r *root) scan(ctx context.Context) (snapshot, error) {
	r.listen(ctx)
	p, err := r.snapshot(ctx)
	if r.events == nil {
		return p, err
	}
	if lerr := r.events.settle(); lerr != nil {
		r.fallBack(ctx, lerr)
	}
	return p, err
}

// listen creates the source of events if it is missing or if registered directories were replaced.
func (r *root) listen(ctx context.Context) {
	if r.poll > 0 || r.events != nil && !r.events.stale.Load() {
		return
	}
	next, err := listen(r.opts)
	if err != nil {
		r.fallBack(ctx, err)
		return
	}
	r.events.close()
	r.events = next
}

// fallBack switches to polling.
func (r *root) fallBack(ctx context.Context, why error) {
	r.events.close()
	r.events, r.poll = nil, r.opts.fallback
	r.opts.Logger.WarnContext(ctx, "the system cannot report changes in all folders; polling them instead",
		"path", r.path, "interval", r.poll, "reason", why, "remedy", remedy(why))
}

// wait returns when the next scan is due: after the pause, or when events have occurred and
// settleTime. It reports whether events occurred.
func (r *root) wait(ctx context.Context, pause time.Duration) (told bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	case <-r.events.pending():
	}
	end := time.NewTimer(r.opts.Burst)
	defer end.Stop()
	timer.Reset(r.opts.Quiet)
	for {
		select {
		case <-ctx.Done():
			return true
		case <-timer.C:
			return true
		case <-end.C:
			return true
		case <-r.events.pending():
			timer.Reset(r.opts.Quiet)
		}
	}
}
