package watch

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// rest is the minimum pause between two scans, in multiples of a scan's duration, unless an event
// occurs.
const rest = 20

// root is one watched path.
type root struct {
	path    string
	opts    Options
	changed func(context.Context, Change) error

	events *events       // nil when polling
	poll   time.Duration // 0 disables polling

	seen picture // snapshot of the last completed change
	// again says that the root changed while a change was processed: files may have been processed
	// that the next scan does not see.
	again bool
	home  fs.FileInfo // info of the root when files were last seen in it
	// away is the reason why the root could not be scanned. It is logged once.
	away string
}

// run scans the root, processes changes, and waits for the next event.
func (r *root) run(ctx context.Context) {
	defer func() { r.events.close() }()
	for ctx.Err() == nil {
		pause := r.look(ctx)
		if told := r.wait(ctx, pause); !told && r.events != nil {
			r.events.stale.Store(true) // a drive that is removed and attached again sends no events
		}
	}
}

// look scans the root and processes a change. It returns the time until the next scan without
// events.
func (r *root) look(ctx context.Context) time.Duration {
	start := time.Now()
	p, err := r.scan(ctx)
	retry := max(r.opts.Retry, rest*time.Since(start))
	poll := max(r.poll, rest*time.Since(start))
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		r.say(ctx, err.Error())
		return retry
	case p.files > 0:
		r.home = p.home
	case r.home == nil || !os.SameFile(r.home, p.home):
		r.say(ctx, "it is empty")
		return retry
	}
	if r.away != "" {
		r.opts.Logger.InfoContext(ctx, "watching again", "path", r.path)
		r.away = ""
	}
	// If a file could have changed without a new time, an equal snapshot does not prove that
	// nothing changed.
	if p.sum != r.seen.sum || r.seen.fresh || r.again {
		if err := r.changed(ctx, Change{Path: r.path, Empty: p.files == 0}); err != nil {
			if ctx.Err() == nil {
				r.opts.Logger.WarnContext(ctx, "changes could not be ingested; retrying", "path", r.path, "error", err)
			}
			return retry
		}
		r.seen, r.again = p, false
		if r.poll > 0 { // events would report it
			after, err := r.take(ctx)
			r.again = err != nil || after.sum != p.sum
		}
	}
	if r.poll > 0 {
		return poll
	}
	return r.opts.Recheck
}

// say logs once why the root is not scanned.
func (r *root) say(ctx context.Context, why string) {
	if r.away == "" {
		r.opts.Logger.WarnContext(ctx, "watching is paused; the documents stay", "path", r.path, "reason", why)
	}
	r.away = why
}

// scan makes a snapshot of the root. Changes after it are reported as events.
func (r *root) scan(ctx context.Context) (picture, error) {
	r.listen(ctx)
	p, err := r.take(ctx)
	if r.events == nil {
		return p, err
	}
	if lerr := r.events.settle(); lerr != nil {
		r.fallBack(ctx, lerr)
	}
	return p, err
}

// listen creates the source of events, if there is none or if registered directories were replaced.
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
// settled. It reports whether events occurred.
func (r *root) wait(ctx context.Context, pause time.Duration) (told bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	case <-r.events.happened():
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
		case <-r.events.happened():
			timer.Reset(r.opts.Quiet)
		}
	}
}
