package keyword

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ragctx/ragctx/index"
)

// How often Compact checks whether old files are gone, and how many times before it gives up
// because searches still read them.
const (
	compactPause  = 20 * time.Millisecond
	compactRounds = 1500
)

// errInUse reports that old files are still being read, errNotRemoved that removing them failed.
var (
	errInUse      = errors.New("old files are still in use")
	errNotRemoved = errors.New("old files could not be removed")
)

// Compact implements [index.KeywordIndex]. Scorch keeps the terms of a deleted chunk until it merges the
// segment, and old files until the last reader is done. So Compact has scorch merge the segments
// that hold deleted chunks, and waits until every file that held one is gone. Searches and changes
// go on during that time.
//
// It takes as long as writing these segments once or twice, in the worst case the whole index.
// After an error some deleted data may remain; call Compact again.
func (ix *Index) Compact(ctx context.Context) error {
	if err := ix.Flush(ctx); err != nil || ix.dir == "" {
		return err
	}
	select {
	case ix.merger <- struct{}{}:
		defer func() { <-ix.merger }()
	case <-ctx.Done():
		return ctx.Err()
	case <-ix.life.Done():
		return index.ErrClosed
	}
	if err := ix.compact(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("keyword: compact: %w", err)
	}
	return nil
}

func (ix *Index) compact(ctx context.Context) error {
	err := ix.compactAll(ctx)
	if errors.Is(err, errNotRemoved) {
		err = ix.compactAll(ctx)
	}
	return err
}

func (ix *Index) compactAll(ctx context.Context) error {
	if err := os.RemoveAll(trashDir(ix.dir)); err != nil {
		return err
	}
	if err := ix.reopen(ctx); err != nil {
		return err
	}
	var old []string
	wait := func(context.Context) error { return nil }
	err := ix.withStore(ctx, func(s store) error {
		wait = s.awaitMerges
		return nil
	})
	if err == nil {
		err = wait(ctx) // without blocking flushes
	}
	if err == nil {
		err = ix.withStore(ctx, func(s store) (err error) {
			old, err = s.tainted()
			return err
		})
	}
	for range compactRounds {
		if err != nil || len(old) == 0 {
			return err
		}
		if old, err = ix.compactOnce(ctx, old); err == nil && len(old) > 0 {
			err = sleep(ctx, compactPause)
		}
	}
	return errInUse
}

// compactOnce merges if the index still uses one of the old files, releases the merged segments,
// and returns the files that remain.
func (ix *Index) compactOnce(ctx context.Context, old []string) (left []string, err error) {
	var merge func(context.Context) error
	err = ix.withStore(ctx, func(s store) (err error) {
		merge, err = s.prepareMerge(old)
		return err
	})
	if err == nil && merge != nil {
		err = merge(ctx) // without blocking flushes
	}
	if err == nil {
		err = ix.Flush(ctx)
	}
	if err == nil {
		err = ix.withStore(ctx, func(s store) (err error) {
			if left, err = s.remaining(old); err == nil && len(left) > 0 {
				err = s.cleanupError() // waiting does not help
			}
			return err
		})
	}
	return left, err
}

// reopen reopens the store if it failed to remove old files.
func (ix *Index) reopen(ctx context.Context) error {
	failed := false
	err := ix.withStore(ctx, func(s store) error {
		if failed = s.cleanupError() != nil; failed {
			ix.drop()
		}
		return nil
	})
	if err != nil || !failed {
		return err
	}
	if err := ix.withStore(ctx, func(store) error { return nil }); err != nil {
		return err
	}
	return ix.Flush(ctx) // releases the files of the closed store
}

// drop closes the store after a failure. The next use reopens it.
func (ix *Index) drop() {
	_ = ix.store.close() // the first error was reported already
	ix.store, ix.dropped = nil, true
}

// withStore calls f with exclusive use of the store, if there is one. A dropped store is reopened,
// because its files are in an unknown state.
func (ix *Index) withStore(ctx context.Context, f func(s store) error) error {
	select {
	case ix.writer <- struct{}{}:
		defer func() { <-ix.writer }()
	case <-ctx.Done():
		return ctx.Err()
	case <-ix.life.Done():
		return index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if ix.store == nil && !ix.dropped {
		return nil
	}
	if ix.store == nil {
		s, err := ix.openStore(ix.dir)
		if err != nil {
			return err
		}
		ix.store = s
	}
	return guard(func() error { return f(ix.store) })
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
