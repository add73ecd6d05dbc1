package keyword

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ragctx/ragctx/index"
)

// How often Compact looks whether old files are gone, and how long it bears with
// searches that still read them.
const (
	compactPause  = 20 * time.Millisecond
	compactRounds = 1500
)

// errInUse says that old files are still being read, errUncleaned that removing them failed.
var (
	errInUse     = errors.New("old files are still in use")
	errUncleaned = errors.New("old files could not be removed")
)

// Compact implements [index.Lexical]. Scorch keeps the terms of a deleted unit
// until it merges the segment, and old files until nobody reads them. So Compact
// has it merge the segments that hold deleted units, and waits until
// every file is gone that held one; searches and changes go on meanwhile. It
// takes as long as writing these segments once or twice, the whole index at worst.
// After an error some may be left, and another call may succeed.
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
	if errors.Is(err, errUncleaned) {
		err = ix.compactAll(ctx)
	}
	return err
}

func (ix *Index) compactAll(ctx context.Context) error {
	if err := os.RemoveAll(trashDir(ix.dir)); err != nil {
		return err
	}
	if err := ix.renew(ctx); err != nil {
		return err
	}
	var old []string
	wait := func(context.Context) error { return nil }
	err := ix.withStore(ctx, func(s store) error {
		wait = s.awaitMerges
		return nil
	})
	if err == nil {
		err = wait(ctx) // beside flushes
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

// compactOnce merges if the index still uses one of the old files, lets go of
// what was merged, and returns those that are left.
func (ix *Index) compactOnce(ctx context.Context, old []string) (left []string, err error) {
	var merge func(context.Context) error
	err = ix.withStore(ctx, func(s store) (err error) {
		merge, err = s.prepareMerge(old)
		return err
	})
	if err == nil && merge != nil {
		err = merge(ctx) // beside flushes
	}
	if err == nil {
		err = ix.Flush(ctx)
	}
	if err == nil {
		err = ix.withStore(ctx, func(s store) (err error) {
			if left, err = s.left(old); err == nil && len(left) > 0 {
				err = s.uncleaned() // waiting does not help
			}
			return err
		})
	}
	return left, err
}

// renew opens the store again if it failed to remove old files.
func (ix *Index) renew(ctx context.Context) error {
	failed := false
	err := ix.withStore(ctx, func(s store) error {
		if failed = s.uncleaned() != nil; failed {
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
	return ix.Flush(ctx) // lets go of the files of the one that was closed
}

// drop closes the store after a failure. What uses it next opens it again.
func (ix *Index) drop() {
	_ = ix.store.close() // what fails has failed before
	ix.store, ix.dropped = nil, true
}

// withStore runs f while nothing else uses the store, if there is one. One that was dropped is
// opened again: its files may hold anything.
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

// sleep waits, unless ctx ends.
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
