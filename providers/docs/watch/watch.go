// Package watch tells when folders and files should be ingested again.
//
// It is told by the operating system what happens in which folder, waits until
// that has calmed down, and looks at the whole root: names, sizes and times. Only
// if they differ from what they were does it call its caller. What was told is
// never more than a reason to look, so that lost, doubled and misleading events
// do no harm. Where nobody tells (network drives, too many folders for the
// system's limits), and now and then in any case, it looks by itself.
//
// A root that is gone, or empty where it was not, may be a drive that is not
// there for a while. Neither is an occasion to delete documents: a missing root
// is waited for, and one that is empty is reported only if it is still the same
// directory in which files were seen before. The directory on which a drive is
// mounted is another one.
package watch

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ragctx/ragctx/providers/docs"
)

// Options say how is watched. The zero value works.
type Options struct {
	// Walk says which files count.
	Walk docs.WalkOptions
	// Poll looks at everything at this interval, and asks the operating system for
	// nothing: for drives whose changes it does not tell. 0 does not.
	Poll time.Duration
	// Quiet is how long nothing must have happened before a root is looked at, Burst
	// how long that may put it off; default 300 ms and 5 s.
	Quiet, Burst time.Duration
	// Recheck is how often a root is looked at though nothing was told; default 10 min.
	Recheck time.Duration
	// Retry is how soon a root is looked at again that is missing or empty, or whose
	// change could not be dealt with; default 5 s.
	Retry time.Duration

	Now    func() time.Time // the clock of the files' times; nil is the system's
	Logger *slog.Logger

	// watcher makes the source of events; nil is that of the operating system. Tests
	// have their own.
	watcher func() (source, error)
	// fallback is the interval of polling where the system's limits leave nothing
	// else; default 30 s.
	fallback time.Duration
}

func (o Options) withDefaults() Options {
	o.Quiet = cmp.Or(max(o.Quiet, 0), 300*time.Millisecond)
	o.Burst = max(cmp.Or(max(o.Burst, 0), 5*time.Second), o.Quiet)
	o.Recheck = cmp.Or(max(o.Recheck, 0), 10*time.Minute)
	o.fallback = cmp.Or(o.fallback, 30*time.Second)
	o.Retry = cmp.Or(max(o.Retry, 0), 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.watcher == nil {
		o.watcher = newSource
	}
	return o
}

// Change says that a root should be ingested again.
type Change struct {
	Path string // as it was given
	// Empty says that there are no files in it any more, and that this can be believed.
	Empty bool
}

// Paths watches folders and files until ctx ends, and then returns nil. It calls
// changed for each of them at the beginning, as soon as nothing that happens is
// missed any more, and whenever it has changed; one call at a time. One that is
// missing or empty at the beginning waits until it is not. What changed cannot
// deal with is tried again. Paths returns an error if a pattern of the
// options is none.
func Paths(ctx context.Context, paths []string, o Options, changed func(context.Context, Change) error) error {
	o = o.withDefaults()
	if err := o.check(ctx); err != nil {
		return err
	}
	var one sync.Mutex
	var all sync.WaitGroup
	for _, path := range paths {
		r := &root{path: path, opts: o, poll: o.Poll, changed: func(ctx context.Context, c Change) error {
			one.Lock()
			defer one.Unlock()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return changed(ctx, c)
		}}
		all.Go(func() { r.run(ctx) })
	}
	all.Wait()
	return nil
}

// check finds mistakes in the options that would meet every root.
func (o Options) check(ctx context.Context) error {
	for _, err := range docs.Walk(ctx, nil, o.Walk) {
		return err
	}
	return nil
}
