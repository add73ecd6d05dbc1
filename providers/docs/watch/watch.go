// Package watch reports when folders and files should be ingested again.
//
// It receives file system events from the operating system, waits until they settle, and scans the
// whole root: names, sizes and times. It reports a change only if these differ from the last scan.
// Events are only a reason to scan, so lost, repeated and misleading events do no harm. It also
// scans periodically, and more often where the system reports no events: network drives, or more
// folders than the system's limits allow.
//
// A root that is missing, or unexpectedly empty, may be a drive that is temporarily detached.
// Documents are not deleted then. Watch waits for a missing root. It reports an empty root only if
// it is the same directory in which files were seen before; the mount point of a drive is a
// different directory.
package watch

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ragctx/ragctx/providers/docs"
)

// Options configures watching. The zero value works.
type Options struct {
	// Walk selects the files.
	Walk docs.WalkOptions
	// Poll scans at this interval and uses no events, for drives that do not report changes. 0 uses
	// events.
	Poll time.Duration
	// Quiet is the time without events before a root is scanned. Burst is the maximum delay if
	// events continue. Defaults are 300 ms and 5 s.
	Quiet, Burst time.Duration
	// Recheck is the interval of scans without events; default 10 min.
	Recheck time.Duration
	// Retry is the time until a missing or empty root is scanned again, or a failed change is
	// reported again; default 5 s.
	Retry time.Duration

	Now    func() time.Time // the clock of file times; nil is the system's
	Logger *slog.Logger

	// watcher creates the source of events; nil is the operating system's. Tests replace it.
	watcher func() (source, error)
	// fallback is the polling interval after a system limit is reached; default 30 s.
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
	Path string // as given to Paths
	// Empty says that the root reliably contains no files any more.
	Empty bool
}

// Paths watches folders and files until ctx ends, and then returns nil. It calls changed for each
// path at the beginning, once no event can be missed, and after every change; one call at a time. A
// path that is missing or empty at the beginning is reported when it is not. If changed fails, it
// is called again. Paths returns an error if a pattern in the options is invalid.
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

// check reports errors in the options that would affect every root.
func (o Options) check(ctx context.Context) error {
	for _, err := range docs.Walk(ctx, nil, o.Walk) {
		return err
	}
	return nil
}
