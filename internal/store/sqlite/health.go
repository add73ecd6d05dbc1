package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// Messages to callers about lasting failures.
const (
	stoppedProblem = "this server cannot write any more: the disk failed to keep a write; check the disk, then restart the server; " +
		"reads continue"
	damagedProblem = "the database file is damaged; 'ragctx doctor' shows where; " +
		"stop the server and restore a snapshot (ragctx restore FILE --force)"
	movedProblem = "the database file was removed or replaced while the server has it open: new writes are lost when the server ends; " +
		"take a snapshot (ragctx snapshot FILE), stop the server, and restore it"
)

// health records failures that last until the store is reopened.
type health struct {
	failed func(*ragctx.RepairError)

	mu        sync.Mutex
	stopped   *ragctx.RepairError // writing has stopped
	damaged   *ragctx.RepairError
	checkedAt time.Time // when the root pages were checked
}

// detectDamage records damage reported by an error of SQLite.
func (h *health) detectDamage(err error) {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || e.Code()&0xff != sqlite3.SQLITE_CORRUPT && e.Code()&0xff != sqlite3.SQLITE_NOTADB {
		return
	}
	h.set(&h.damaged, &ragctx.RepairError{Kind: ragctx.RepairDatabase, Problem: damagedProblem, Cause: err})
}

func (h *health) stop(err *ragctx.RepairError) { h.set(&h.stopped, err) }

// set records a failure and reports the first of its kind.
func (h *health) set(at **ragctx.RepairError, err *ragctx.RepairError) {
	h.mu.Lock()
	first := *at == nil
	if first {
		*at = err
	}
	h.mu.Unlock()
	if first && h.failed != nil {
		h.failed(err)
	}
}

// Failures implements [store.Health].
func (s *Store) Failures() (out []*ragctx.RepairError) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	for _, f := range []*ragctx.RepairError{s.health.stopped, s.health.damaged} {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// checkInterval is the interval at which [Store.Ready] checks the root pages.
const checkInterval = 5 * time.Second

// checkPlace detects that the database file was removed or replaced. SQLite continues with its open
// file, which is lost when the process ends.
func (s *Store) checkPlace() error {
	open, err := s.log.file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(s.path)
	if err == nil && os.SameFile(open, named) {
		return nil
	}
	if err == nil {
		err = errors.New("another file has its name")
	}
	repair := &ragctx.RepairError{Kind: ragctx.RepairDatabase, Problem: movedProblem, Cause: err}
	s.health.set(&s.health.damaged, repair)
	return repair
}

// Ready implements [store.Health].
func (s *Store) Ready(ctx context.Context) error {
	if f := s.Failures(); len(f) > 0 {
		return f[0]
	}
	s.health.mu.Lock()
	due := time.Since(s.health.checkedAt) >= checkInterval
	s.health.mu.Unlock()
	if due {
		if err := s.checkPlace(); err != nil {
			return err
		}
		if err := s.checkRoots(ctx); err != nil {
			return err
		}
		s.health.mu.Lock()
		s.health.checkedAt = time.Now()
		s.health.mu.Unlock()
	}
	_, err := s.ListNamespaces(ctx, store.NamespaceFilter{Limit: 1})
	return err
}

// badRoots selects tables and indexes whose first page is invalid: its first byte is the page type.
const badRoots = `SELECT s.type || ' ' || s.name FROM sqlite_schema s, sqlite_dbpage p
	WHERE s.rootpage > 0 AND p.pgno = s.rootpage
		AND hex(substr(p.data, 1 + 100 * (s.rootpage = 1), 1)) NOT IN ('02', '05', '0A', '0D') ORDER BY 1`

// checkRoots checks the first page of every table and index. A destroyed root page makes the table
// unreadable, unnoticed until the first read.
func (s *Store) checkRoots(ctx context.Context) error {
	return s.View(ctx, func(tx *sqlstore.Tx) error {
		bad, err := sqlstore.Column[string](ctx, tx, badRoots)
		if err != nil {
			return err
		}
		if len(bad) > 0 {
			err := &ragctx.RepairError{
				Kind: ragctx.RepairDatabase, Problem: damagedProblem,
				Cause: fmt.Errorf("the first page is destroyed of %s", strings.Join(bad, ", ")),
			}
			s.health.set(&s.health.damaged, err)
			return err
		}
		return nil
	})
}
