package watch

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// rest is how many times as long as a look takes is waited until the next one,
// unless something happens.
const rest = 20

// root is one path that is watched.
type root struct {
	path    string
	opts    Options
	changed func(context.Context, Change) error

	events *events       // nil while polling
	poll   time.Duration // 0 is not

	seen picture // when it was last dealt with
	// again says that it changed while it was dealt with: who dealt with it may have
	// seen what is gone by the next look.
	again bool
	home  fs.FileInfo // the root when files were last seen in it
	// away says why the root was not looked at, so that it is said once.
	away string
}

// run looks at the root, deals with what has changed, and waits for more.
func (r *root) run(ctx context.Context) {
	defer func() { r.events.close() }()
	for ctx.Err() == nil {
		pause := r.look(ctx)
		if told := r.wait(ctx, pause); !told && r.events != nil {
			r.events.stale.Store(true) // a drive that comes and goes tells nothing
		}
	}
}

// look deals with the root as it is now. It returns after what time to look again
// if nothing happens.
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
		r.opts.Logger.InfoContext(ctx, "watched again", "path", r.path)
		r.away = ""
	}
	// Where a file could have changed without a new time, what looks the same may be another.
	if p.sum != r.seen.sum || r.seen.fresh || r.again {
		if err := r.changed(ctx, Change{Path: r.path, Empty: p.files == 0}); err != nil {
			if ctx.Err() == nil {
				r.opts.Logger.WarnContext(ctx, "what has changed could not be ingested; it is tried again", "path", r.path, "error", err)
			}
			return retry
		}
		r.seen, r.again = p, false
		if r.poll > 0 { // events would tell
			after, err := r.take(ctx)
			r.again = err != nil || after.sum != p.sum
		}
	}
	if r.poll > 0 {
		return poll
	}
	return r.opts.Recheck
}

// say logs why the root is left as it is, once.
func (r *root) say(ctx context.Context, why string) {
	if r.away == "" {
		r.opts.Logger.WarnContext(ctx, "not watched for the moment; its documents stay", "path", r.path, "reason", why)
	}
	r.away = why
}

// scan takes a picture of the root; what happens from then on is told.
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

// listen makes a new source of events where there is none, or where directories
// are not what they were when it was told of them.
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

// fallBack goes over to polling.
func (r *root) fallBack(ctx context.Context, why error) {
	r.events.close()
	r.events, r.poll = nil, r.opts.fallback
	r.opts.Logger.WarnContext(ctx, "the system cannot tell what happens in all folders; they are looked at at intervals",
		"path", r.path, "interval", r.poll, "reason", why, "remedy", remedy(why))
}

// wait returns when it is time to look again: after the pause, or, which it
// reports, when something has happened and has calmed down.
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
