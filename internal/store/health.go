package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx"
)

// What callers are told of the failures that last.
const (
	stoppedProblem = "this server cannot write any more: the disk failed to keep a write; check the disk, then restart the server; " +
		"questions are answered meanwhile"
	damagedProblem = "the database file is damaged; 'ragctx doctor' says where; stop the server and restore a snapshot (ragctx restore FILE --force)"
	movedProblem   = "the database file was removed or replaced while the server has it open: what is written goes when the server ends; " +
		"take a snapshot (ragctx snapshot FILE), stop the server, and restore it"
)

// health remembers failures that last until the store is opened again.
type health struct {
	failed func(*ragctx.RepairError)

	mu      sync.Mutex
	stopped *ragctx.RepairError // nothing more is written
	damaged *ragctx.RepairError
	looked  time.Time // at the roots of the tables
}

// notice looks for damage in an error of SQLite.
func (h *health) notice(err error) {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || e.Code()&0xff != sqlite3.SQLITE_CORRUPT && e.Code()&0xff != sqlite3.SQLITE_NOTADB {
		return
	}
	h.set(&h.damaged, &ragctx.RepairError{Kind: ragctx.RepairDatabase, Problem: damagedProblem, Cause: err})
}

func (h *health) stop(err *ragctx.RepairError) { h.set(&h.stopped, err) }

// set notes a failure, and tells of the first of its kind.
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

// Failures returns what keeps the store from working until somebody does something about
// it: that it cannot write any more, or that its database is damaged.
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

// lookEvery is how often [Store.Ready] looks at the roots of all tables.
const lookEvery = 5 * time.Second

// checkPlace notices that the database file was removed, or another one put in its place:
// SQLite goes on with the one that it has open, which goes with the process.
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

// Ready fails while the store cannot answer or cannot write.
func (s *Store) Ready(ctx context.Context) error {
	if f := s.Failures(); len(f) > 0 {
		return f[0]
	}
	s.health.mu.Lock()
	due := time.Since(s.health.looked) >= lookEvery
	s.health.mu.Unlock()
	if due {
		if err := s.checkPlace(); err != nil {
			return err
		}
		if err := s.checkRoots(ctx); err != nil {
			return err
		}
		s.health.mu.Lock()
		s.health.looked = time.Now()
		s.health.mu.Unlock()
	}
	_, err := s.Namespaces(ctx)
	return err
}

// badRoots names tables and indexes whose first page cannot be one: its first byte says of
// what kind it is.
const badRoots = `SELECT s.type || ' ' || s.name FROM sqlite_schema s, sqlite_dbpage p
	WHERE s.rootpage > 0 AND p.pgno = s.rootpage AND hex(substr(p.data, 1 + 100 * (s.rootpage = 1), 1)) NOT IN ('02', '05', '0A', '0D') ORDER BY 1`

// checkRoots looks at the first page of every table and index: one that is destroyed makes
// all of it unreadable, and is not noticed until somebody asks for it.
func (s *Store) checkRoots(ctx context.Context) error {
	return s.view(ctx, func(tx *sql.Tx) error {
		bad, err := column[string](ctx, tx, badRoots)
		if err != nil {
			return err
		}
		if len(bad) > 0 {
			err := &ragctx.RepairError{
				Kind: ragctx.RepairDatabase, Problem: damagedProblem, Cause: fmt.Errorf("the first page is destroyed of %s", strings.Join(bad, ", ")),
			}
			s.health.set(&s.health.damaged, err)
			return err
		}
		return nil
	})
}
