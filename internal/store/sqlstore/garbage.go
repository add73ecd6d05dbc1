package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// garbageCollector removes hidden items that are not being staged: remains of failed or interrupted writes,
// and erased items. It works in slices so that turns do not wait.
type garbageCollector struct {
	store *Store
	// open are recorded erasures that are not hidden yet: of an earlier process, and failed ones.
	mu   sync.Mutex
	open map[int64]erasureScope
	due  chan struct{}
	// firstRound is closed after the first round.
	firstRound chan struct{}
	life       context.Context //nolint:containedctx // ends with the goroutine
	end        context.CancelFunc
	wg         sync.WaitGroup
}

func newGarbageCollector(s *Store) *garbageCollector {
	w := &garbageCollector{store: s, open: make(map[int64]erasureScope), due: make(chan struct{}, 1), firstRound: make(chan struct{})}
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

// start starts the garbage collector, whose first round handles the remains of earlier processes.
func (w *garbageCollector) start(open map[int64]erasureScope) {
	w.mu.Lock()
	maps.Copy(w.open, open)
	w.mu.Unlock()
	w.wg.Go(w.loop)
}

func (w *garbageCollector) wake() {
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// A round takes little longer for many items. The garbage collector rests for gcPause after it: every
// replaced document leaves something. After a failure it retries after gcRetryMin, with exponential
// backoff up to gcRetryMax.
const (
	gcPause    = time.Second
	gcRetryMin = 500 * time.Millisecond
	gcRetryMax = time.Minute
)

func (w *garbageCollector) loop() {
	first := sync.OnceFunc(func() { close(w.firstRound) })
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
		if err := w.collect(); err == nil {
			failed = 0
		} else {
			again.Reset(min(gcRetryMin<<min(failed, 10), gcRetryMax))
			failed++
		}
		first()
		select {
		case <-w.life.Done():
			return
		case <-time.After(gcPause):
		}
	}
}

func (w *garbageCollector) collect() error {
	for id, sc := range w.unhidden() {
		if err := w.store.hide(w.life, sc, &erasing{Erased: store.Erased{Pending: id}, resumed: true}); err != nil {
			return err
		}
		w.mu.Lock()
		delete(w.open, id)
		w.mu.Unlock()
	}
	if err := w.store.collectGarbage(w.life); err != nil {
		return err
	}
	n, err := w.store.orphaned(w.life)
	if err != nil || n < maxOrphans {
		return err
	}
	return w.store.dropOrphans(w.life)
}

// resume takes over an erasure that failed after it was recorded.
func (w *garbageCollector) resume(id int64, sc erasureScope) {
	w.mu.Lock()
	w.open[id] = sc
	w.mu.Unlock()
	w.wake()
}

// unhidden returns the open erasures.
func (w *garbageCollector) unhidden() map[int64]erasureScope {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.open)
}

// AwaitCollection implements [store.SecureErasures].
func (s *Store) AwaitCollection(ctx context.Context) error {
	select {
	case <-s.gc.firstRound:
		return nil
	case <-s.gc.life.Done():
		return fmt.Errorf("store: %w", ragctx.ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *garbageCollector) close() {
	w.end()
	w.wg.Wait()
}

// collectGarbage removes the hidden items that are not being staged.
func (s *Store) collectGarbage(ctx context.Context) error {
	s.gcMu.Lock()
	defer s.gcMu.Unlock()
	if err := s.collectSessions(ctx); err != nil {
		return fmt.Errorf("remove sessions: %w", err)
	}
	ids, err := s.hidden(ctx)
	if err != nil {
		return err
	}
	for len(ids) > 0 {
		err := s.Slice(ctx, Frees, NoNamespaces, func(ctx context.Context, tx *Tx, enough func(int) bool) (err error) {
			ids, err = deleteAllHidden(ctx, tx, ids, enough)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove hidden items: %w", err)
		}
		if len(ids) == 0 { // stubs may have become unused
			if ids, err = s.hidden(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteAllHidden deletes hidden items until enough, and returns the rest: most are small, and one
// commit each would make all writers wait for the disk.
func deleteAllHidden(ctx context.Context, tx *Tx, ids []int64, enough func(int) bool) (left []int64, err error) {
	for done := sliceChunks; len(ids) > 0; done += sliceChunks {
		more, err := deleteHidden(ctx, tx, ids[0], enough)
		if err != nil || more {
			return ids, err
		}
		if ids = ids[1:]; enough(done) {
			break
		}
	}
	return ids, nil
}

// hidden returns the hidden items that are not being staged.
func (s *Store) hidden(ctx context.Context) (ids []int64, err error) {
	err = s.view(ctx, func(tx *Tx) (err error) {
		ids, err = Column[int64](ctx, tx, `SELECT i.id FROM items i WHERE i.seq = 0 AND NOT (`+isStub+`)`)
		ids = slices.DeleteFunc(ids, s.staging.has)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find hidden items: %w", err)
	}
	return ids, nil
}

// deleteHidden deletes parts of a hidden item until enough, and reports whether more remain. Its row
// goes last; it stays as a stub while other rows share its text.
func deleteHidden(ctx context.Context, tx *Tx, id int64, enough func(int) bool) (more bool, err error) {
	// It may have been published since the search.
	var hidden bool
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE id = ? AND seq = 0)`, id).Scan(&hidden)
	if err != nil || !hidden {
		return false, err
	}
	lent, err := sharesText(ctx, tx, id)
	if err != nil {
		return true, err
	}
	tables := []string{`DELETE FROM units WHERE id IN (SELECT id FROM units WHERE item = ? LIMIT ?)`}
	if !lent {
		tables = append(tables, `DELETE FROM text_parts
			WHERE (item, start) IN (SELECT item, start FROM text_parts WHERE item = ? LIMIT ? / 8)`)
	}
	for done := 0; ; {
		n := 0
		if _, err := tx.ExecContext(ctx, `INSERT INTO orphans (hash)
			SELECT hash FROM units u WHERE id IN (SELECT id FROM units WHERE item = ? LIMIT ?)
			AND EXISTS (SELECT 1 FROM vectors WHERE embedder IN (SELECT id FROM embedders) AND hash = u.hash)
			ON CONFLICT DO NOTHING`, id, sliceChunks); err != nil {
			return true, err
		}
		for _, q := range tables {
			res, err := tx.ExecContext(ctx, q, id, sliceChunks)
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
		if done += sliceChunks; enough(done) {
			return true, nil
		}
	}
	if lent {
		_, err = tx.ExecContext(ctx, makeStub+` WHERE id = ? AND seq = 0`, []byte{}, id)
	} else {
		_, err = tx.ExecContext(ctx, `DELETE FROM items WHERE id = ? AND seq = 0`, id) // deletes its text as well
	}
	return false, err
}

// maxOrphans limits the vectors of removed chunks that may stay until the next erasure: finding
// the ones still in use reads all chunks, and most writes leave few.
const maxOrphans = 1000

// orphaned returns the number of keys that dropOrphans must check.
func (s *Store) orphaned(ctx context.Context) (n int, err error) {
	err = s.view(ctx, func(tx *Tx) error { return tx.QueryRowContext(ctx, `SELECT count(*) FROM orphans`).Scan(&n) })
	return n, err
}

// dropOrphans deletes the vectors of removed chunks, except those that other chunks use.
func (s *Store) dropOrphans(ctx context.Context) error {
	s.gcMu.Lock()
	defer s.gcMu.Unlock()
	for {
		o := orphans{used: make(map[store.VectorKey]bool)}
		err := s.view(ctx, func(tx *Tx) error { return o.load(ctx, tx) })
		if err != nil || len(o.keys) == 0 {
			return err
		}
		for o.checked < o.newest && err == nil { // in short reads, since a long one would keep the log from restarting
			err = s.view(ctx, func(tx *Tx) error { return o.checkNext(ctx, tx) })
		}
		for len(o.keys) > 0 && err == nil {
			err = s.Slice(ctx, Frees, NoNamespaces, o.drop)
		}
		if err != nil {
			return fmt.Errorf("delete unused vectors: %w", err)
		}
	}
}

// orphanPage is the number of chunks checked in one read, some milliseconds.
const orphanPage = 5000

// orphans are vector keys of removed chunks.
type orphans struct {
	keys            []store.VectorKey
	used            map[store.VectorKey]bool // keys that other chunks use
	checked, newest int64                    // last chunk checked, and newest chunk at the start
}

func (o *orphans) load(ctx context.Context, tx *Tx) error {
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM units`).Scan(&o.newest); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT hash FROM orphans LIMIT 100000`)
	if err != nil {
		return err
	}
	return Scan(rows, func() error {
		k, err := scanVectorKey(rows)
		o.keys = append(o.keys, k)
		return err
	})
}

func scanVectorKey(rows *sql.Rows) (k store.VectorKey, err error) {
	var b sql.RawBytes
	err = rows.Scan(&b)
	copy(k[:], b)
	return k, err
}

// checkNext checks the next chunks up to newest; later chunks get higher ids.
func (o *orphans) checkNext(ctx context.Context, tx *Tx) error {
	var until int64
	err := tx.QueryRowContext(ctx, `SELECT coalesce((SELECT id FROM units WHERE id > ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ?), ?)`,
		o.checked, o.newest, orphanPage-1, o.newest).Scan(&until)
	if err != nil {
		return err
	}
	return o.check(ctx, tx, until)
}

// check marks the keys used by the chunks up to one as used.
func (o *orphans) check(ctx context.Context, tx *Tx, until int64) error {
	rows, err := tx.QueryContext(ctx, `SELECT hash FROM units WHERE id > ? AND id <= ? AND hash IN (SELECT hash FROM orphans)`,
		o.checked, until)
	if err != nil {
		return err
	}
	o.checked = until
	return Scan(rows, func() error {
		k, err := scanVectorKey(rows)
		o.used[k] = true
		return err
	})
}

// drop deletes vectors until enough. It first checks the chunks inserted since the search.
func (o *orphans) drop(ctx context.Context, tx *Tx, enough func(int) bool) error {
	var newest int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM units`).Scan(&newest); err != nil {
		return err
	}
	if err := o.check(ctx, tx, max(o.checked, newest)); err != nil {
		return err
	}
	for n := 1; len(o.keys) > 0; n++ {
		k := o.keys[0]
		if !o.used[k] {
			if _, err := tx.ExecContext(ctx, `DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders)
				AND hash = ?`, k[:]); err != nil {
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
