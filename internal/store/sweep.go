package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// sweeper removes hidden items that nobody stages: what a failed or interrupted
// write left, and what was erased. It works in slices, so that turns do not wait.
type sweeper struct {
	store *Store
	// open are erasures that are noted and not hidden: of an earlier process, and
	// those that failed.
	mu   sync.Mutex
	open map[int64]scope
	due  chan struct{}
	// settled is closed when the first round is over.
	settled chan struct{}
	life    context.Context //nolint:containedctx // ends with the goroutine
	end     context.CancelFunc
	wg      sync.WaitGroup
}

// startSweeper also looks for what an earlier process left.
func startSweeper(s *Store, open map[int64]scope) *sweeper {
	w := &sweeper{store: s, open: open, due: make(chan struct{}, 1), settled: make(chan struct{})}
	w.life, w.end = context.WithCancel(context.Background())
	w.wg.Go(w.loop)
	return w
}

func (w *sweeper) wake() {
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// A round takes little longer for much, and rests for sweepRest after it: every document
// that is put in place of another leaves something. What fails is tried again after
// sweepFirst, then ever later up to sweepMost.
const (
	sweepRest  = time.Second
	sweepFirst = 500 * time.Millisecond
	sweepMost  = time.Minute
)

func (w *sweeper) loop() {
	first := sync.OnceFunc(func() { close(w.settled) })
	again := time.NewTimer(0)
	defer again.Stop()
	for failed := 0; ; {
		select {
		case <-w.life.Done():
			return
		case <-w.due:
		case <-again.C:
		}
		again.Stop()
		if err := w.work(); err == nil {
			failed = 0
		} else {
			again.Reset(min(sweepFirst<<min(failed, 10), sweepMost))
			failed++
		}
		first()
		select {
		case <-w.life.Done():
			return
		case <-time.After(sweepRest):
		}
	}
}

func (w *sweeper) work() error {
	for id, sc := range w.unhidden() {
		if err := w.store.hide(w.life, sc, &Erased{Pending: id, again: true}); err != nil {
			return err
		}
		w.mu.Lock()
		delete(w.open, id)
		w.mu.Unlock()
	}
	if err := w.store.sweep(w.life); err != nil {
		return err
	}
	n, err := w.store.orphaned(w.life)
	if err != nil || n < orphansKept {
		return err
	}
	return w.store.dropOrphans(w.life)
}

// resume takes over an erasure that failed after it was noted.
func (w *sweeper) resume(id int64, sc scope) {
	w.mu.Lock()
	w.open[id] = sc
	w.mu.Unlock()
	w.wake()
}

// unhidden returns the open erasures.
func (w *sweeper) unhidden() map[int64]scope {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.open)
}

// Settle waits until what an earlier process left hidden, or began to erase, is
// dealt with once.
func (s *Store) Settle(ctx context.Context) error {
	select {
	case <-s.sweeper.settled:
		return nil
	case <-s.sweeper.life.Done():
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *sweeper) close() {
	w.end()
	w.wg.Wait()
}

// sweep removes what is hidden and not being staged.
func (s *Store) sweep(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	if err := s.sweepSessions(ctx); err != nil {
		return fmt.Errorf("remove sessions: %w", err)
	}
	ids, err := s.hidden(ctx)
	if err != nil {
		return err
	}
	for len(ids) > 0 {
		err := s.slice(ctx, frees, nowhere, func(ctx context.Context, tx *sql.Tx, enough func(int) bool) (err error) {
			ids, err = dissolveAll(ctx, tx, ids, enough)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove what is hidden: %w", err)
		}
		if len(ids) == 0 { // the last that needed a stub may have gone
			if ids, err = s.hidden(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// dissolveAll deletes hidden items until it is enough, and returns those that are left:
// most are small, and a commit for each would have everyone wait for the disk.
func dissolveAll(ctx context.Context, tx *sql.Tx, ids []int64, enough func(int) bool) (left []int64, err error) {
	for done := sliceUnits; len(ids) > 0; done += sliceUnits {
		more, err := dissolve(ctx, tx, ids[0], enough)
		if err != nil || more {
			return ids, err
		}
		if ids = ids[1:]; enough(done) {
			break
		}
	}
	return ids, nil
}

// hidden returns the hidden items that nobody stages.
func (s *Store) hidden(ctx context.Context) (ids []int64, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		ids, err = column[int64](ctx, tx, `SELECT i.id FROM items i WHERE i.seq = 0 AND NOT (`+isStub+`)`)
		ids = slices.DeleteFunc(ids, s.staging.has)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for what is hidden: %w", err)
	}
	return ids, nil
}

// dissolve deletes parts of a hidden item until it is enough, and reports
// whether there are more. The row goes last; it stays as a stub as long as others
// share its text.
func dissolve(ctx context.Context, tx *sql.Tx, id int64, enough func(int) bool) (more bool, err error) {
	// It may have been published since it was looked for.
	var hidden bool
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE id = ? AND seq = 0)`, id).Scan(&hidden)
	if err != nil || !hidden {
		return false, err
	}
	lent, err := lends(ctx, tx, id)
	if err != nil {
		return true, err
	}
	tables := []string{`DELETE FROM units WHERE id IN (SELECT id FROM units WHERE item = ? LIMIT ?)`}
	if !lent {
		tables = append(tables, `DELETE FROM text_parts WHERE rowid IN (SELECT rowid FROM text_parts WHERE item = ? LIMIT ? / 8)`)
	}
	for done := 0; ; {
		n := 0
		if _, err := tx.ExecContext(ctx, `INSERT INTO orphans (hash)
			SELECT hash FROM units WHERE id IN (SELECT id FROM units WHERE item = ? LIMIT ?) ON CONFLICT DO NOTHING`, id, sliceUnits); err != nil {
			return true, err
		}
		for _, q := range tables {
			res, err := tx.ExecContext(ctx, q, id, sliceUnits)
			if err != nil {
				return true, err
			}
			k, err := res.RowsAffected()
			if err != nil {
				return true, err
			}
			n += int(k)
		}
		if n == 0 {
			break
		}
		if done += sliceUnits; enough(done) {
			return true, nil
		}
	}
	if lent {
		_, err = tx.ExecContext(ctx, blank+` WHERE id = ? AND seq = 0`, id)
	} else {
		_, err = tx.ExecContext(ctx, `DELETE FROM items WHERE id = ? AND seq = 0`, id) // its text goes with it
	}
	return false, err
}

// orphansKept is how many vectors of removed units may stay until an erasure comes: to
// find out which of them other units have costs a look at all units, and most writes
// that leave some leave a few.
const orphansKept = 1000

// orphaned counts the vectors that dropOrphans has to look for.
func (s *Store) orphaned(ctx context.Context) (n int, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error { return tx.QueryRowContext(ctx, `SELECT count(*) FROM orphans`).Scan(&n) })
	return n, err
}

// dropOrphans deletes the vectors of removed units, but for those that other
// units have as well.
func (s *Store) dropOrphans(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	for {
		o := orphans{used: make(map[VectorKey]bool)}
		err := s.view(ctx, func(tx *sql.Tx) error { return o.load(ctx, tx) })
		if err != nil || len(o.keys) == 0 {
			return err
		}
		for o.looked < o.newest && err == nil { // a few at a time: a long read would keep the log from starting over
			err = s.view(ctx, func(tx *sql.Tx) error { return o.lookOn(ctx, tx) })
		}
		for len(o.keys) > 0 && err == nil {
			err = s.slice(ctx, frees, nowhere, o.drop)
		}
		if err != nil {
			return fmt.Errorf("drop vectors of what was removed: %w", err)
		}
	}
}

// orphanLook is how many units are looked at in one read, some milliseconds.
const orphanLook = 5000

// orphans are keys of removed units.
type orphans struct {
	keys           []VectorKey
	used           map[VectorKey]bool // those that other units have
	looked, newest int64              // the unit up to which was looked, and the newest one to begin with
}

func (o *orphans) load(ctx context.Context, tx *sql.Tx) error {
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM units`).Scan(&o.newest); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT hash FROM orphans LIMIT 100000`)
	if err != nil {
		return err
	}
	return scan(rows, func() error {
		k, err := scanVectorKey(rows)
		o.keys = append(o.keys, k)
		return err
	})
}

func scanVectorKey(rows *sql.Rows) (k VectorKey, err error) {
	var b sql.RawBytes
	err = rows.Scan(&b)
	copy(k[:], b)
	return k, err
}

// lookOn looks at the next units, and never beyond the newest: those that come later get
// the ids behind it.
func (o *orphans) lookOn(ctx context.Context, tx *sql.Tx) error {
	var until int64
	err := tx.QueryRowContext(ctx, `SELECT coalesce((SELECT id FROM units WHERE id > ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ?), ?)`,
		o.looked, o.newest, orphanLook-1, o.newest).Scan(&until)
	if err != nil {
		return err
	}
	return o.look(ctx, tx, until)
}

// look notes which keys the units up to one have.
func (o *orphans) look(ctx context.Context, tx *sql.Tx, until int64) error {
	rows, err := tx.QueryContext(ctx, `SELECT hash FROM units WHERE id > ? AND id <= ? AND hash IN (SELECT hash FROM orphans)`, o.looked, until)
	if err != nil {
		return err
	}
	o.looked = until
	return scan(rows, func() error {
		k, err := scanVectorKey(rows)
		o.used[k] = true
		return err
	})
}

// drop deletes vectors until it is enough. It looks at the units that have come
// in the meantime first.
func (o *orphans) drop(ctx context.Context, tx *sql.Tx, enough func(int) bool) error {
	var newest int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM units`).Scan(&newest); err != nil {
		return err
	}
	if err := o.look(ctx, tx, max(o.looked, newest)); err != nil {
		return err
	}
	for n := 1; len(o.keys) > 0; n++ {
		k := o.keys[0]
		if !o.used[k] {
			if _, err := tx.ExecContext(ctx, `DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders) AND hash = ?`, k[:]); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM orphans WHERE hash = ?`, k[:]); err != nil {
			return err
		}
		if o.keys = o.keys[1:]; enough(n) {
			return nil
		}
	}
	return nil
}
