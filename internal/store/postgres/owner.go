package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// ownership is the right of this process to use the database. It is a lock of a connection, so the
// server takes it from a process that has died or cannot be reached. The epoch counts the owners.
type ownership struct {
	store  *Store
	failed func(*ragctx.RepairError)

	mu    sync.Mutex
	conn  *sql.Conn // nil while the lock is lost
	epoch int64
	other *ragctx.RepairError // another process has taken over

	end context.CancelFunc
	wg  sync.WaitGroup
}

// ownerKey is the number of the lock in a database.
const ownerKey = 0x7261676374780001

// How often the owner checks that it still has the lock, and how long a check may take.
const (
	ownerInterval = 2 * time.Second
	ownerTimeout  = 5 * time.Second
)

// patience is how long an opening waits for the lock of a process that is ending.
const patience = 5 * time.Second

// own takes the lock and keeps it until it is released. With follow it returns without the lock if another
// process has it.
func (s *Store) own(ctx context.Context, o Options) (*ownership, error) {
	own := &ownership{store: s, failed: o.Failed}
	for until := time.Now().Add(patience); ; {
		got, err := own.lead(ctx)
		if err != nil || got || o.Follow {
			return own, err
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("%w: another ragctx uses this database; stop it, or give this one a database of its own",
				ragctx.ErrConflict)
		}
		if err := httpclient.Sleep(ctx, ownerInterval/10); err != nil {
			return nil, err
		}
	}
}

// lead takes the lock for the first time, and from then on keeps it. It returns false if another process has it.
func (o *ownership) lead(ctx context.Context) (bool, error) {
	if err := o.take(ctx); errors.Is(err, errOwned) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	life, end := context.WithCancel(context.Background())
	o.mu.Lock()
	o.end = end
	o.mu.Unlock()
	o.wg.Go(func() { o.keep(life) })
	return true, nil
}

// errOwned says that another process has the lock.
var errOwned = fmt.Errorf("%w: another ragctx uses the database", ragctx.ErrConflict)

// take takes the lock and counts the owner.
func (o *ownership) take(ctx context.Context) error {
	c, err := o.store.db.Conn(ctx)
	if err != nil {
		return wrap(err)
	}
	epoch, err := o.claim(ctx, c)
	if err != nil {
		free, end := context.WithTimeout(context.WithoutCancel(ctx), ownerTimeout)
		defer end()
		_, unlock := c.ExecContext(free, `SELECT pg_advisory_unlock_all()`)
		return errors.Join(wrap(err), unlock, c.Close())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conn, o.epoch = c, epoch
	return nil
}

// claim takes the lock on a connection and returns the number of the new owner.
func (o *ownership) claim(ctx context.Context, c *sql.Conn) (epoch int64, err error) {
	var got bool
	if err := c.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(?)`, int64(ownerKey)).Scan(&got); err != nil {
		return 0, err
	}
	if got { // no other process creates the table at the same time
		for _, create := range []string{
			`CREATE TABLE IF NOT EXISTS ragctx_owner (one BOOLEAN PRIMARY KEY CHECK (one), epoch BIGINT NOT NULL)`,
			`ALTER TABLE ragctx_owner ADD COLUMN IF NOT EXISTS leader TEXT`,
		} {
			if _, err := c.ExecContext(ctx, create); err != nil {
				return 0, err
			}
		}
	}
	if o.epoch != 0 {
		if err := c.QueryRowContext(ctx, `SELECT coalesce(max(epoch), 0) FROM ragctx_owner`).Scan(&epoch); err != nil {
			return 0, err
		}
		if epoch != o.epoch {
			return 0, o.replaced(epoch)
		}
	}
	if !got {
		return 0, errOwned
	}
	// The address of an owner that takes its lock again stays.
	err = c.QueryRowContext(ctx, `INSERT INTO ragctx_owner (one, epoch) VALUES (true, 1) ON CONFLICT (one) DO UPDATE
		SET epoch = ragctx_owner.epoch + 1, leader = CASE WHEN ragctx_owner.epoch = ? THEN ragctx_owner.leader END
		RETURNING epoch`, o.epoch).Scan(&epoch)
	if err == nil && o.epoch != 0 && epoch != o.epoch+1 {
		err = o.replaced(epoch)
	}
	return epoch, err
}

// replaced returns the failure of a process after which another one has owned the database.
func (o *ownership) replaced(epoch int64) error {
	return &ragctx.RepairError{
		Kind:    ragctx.RepairWrites,
		Problem: "another ragctx has used the database since this one lost the connection; restart this one",
		Cause:   fmt.Errorf("owner %d, was %d", epoch, o.epoch),
	}
}

// keep notices the loss of the lock's connection, and takes the lock again.
func (o *ownership) keep(ctx context.Context) {
	for ctx.Err() == nil {
		o.mu.Lock()
		c, other := o.conn, o.other
		o.mu.Unlock()
		if other != nil {
			return
		}
		if c != nil {
			if hold(ctx, c); ctx.Err() != nil {
				return
			}
			o.mu.Lock()
			o.conn = nil
			o.mu.Unlock()
			_ = c.Close() // it is lost
		}
		if !o.retake(ctx) && httpclient.Sleep(ctx, ownerInterval/10) != nil {
			return
		}
	}
}

// hold waits until a connection is lost. The server's end of it shows at once.
func hold(ctx context.Context, c *sql.Conn) {
	_ = c.Raw(func(raw any) error { // that it is lost is all that counts
		at, err := pgxConn(raw)
		for err == nil {
			_, err = await(ctx, at, ownerInterval)
		}
		return err
	})
}

// retake takes the lock again, unless another process has owned the database since. It reports whether it did.
func (o *ownership) retake(ctx context.Context) bool {
	ctx, end := context.WithTimeout(ctx, ownerTimeout)
	defer end()
	err := o.take(ctx)
	if repair, ok := errors.AsType[*ragctx.RepairError](err); ok {
		o.mu.Lock()
		o.other = repair
		o.mu.Unlock()
		if o.failed != nil {
			o.failed(repair)
		}
	}
	return err == nil
}

// lock makes a write the only one in the database until its transaction ends, and notifies the other processes of
// its namespace. It fails if another process has become the owner. A new owner counts itself in the
// same row, so it waits for the writes of the one before.
func (o *ownership) lock(ctx context.Context, tx *sql.Tx, ns int64) error {
	o.mu.Lock()
	epoch := o.epoch
	o.mu.Unlock()
	const own = `SELECT one, CAST(pg_notify('` + channel + `', ?) AS TEXT) FROM ragctx_owner WHERE epoch = ? FOR UPDATE`
	const shared = `SELECT one, CAST(pg_notify('` + channel + `', ?) AS TEXT) FROM ragctx_owner FOR UPDATE`
	query, args := own, []any{fmt.Sprint(ns), epoch}
	if epoch == 0 {
		query, args = shared, args[:1]
	}
	var one bool
	var sent sql.NullString
	err := tx.QueryRowContext(ctx, query, args...).Scan(&one, &sent)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: the owner of the database has changed; try again", ragctx.ErrUnavailable)
	}
	return err
}

// failures returns the failure of a process that is no longer the owner.
func (o *ownership) failures() []*ragctx.RepairError {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.other == nil {
		return nil
	}
	return []*ragctx.RepairError{o.other}
}

// allow fails while the process is not the owner. Without ever having been it, a process may write what no
// answer depends on.
func (o *ownership) allow(ns int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.other != nil:
		return o.other
	case o.epoch == 0 && ns == sqlstore.NoNamespaces:
		return nil
	case o.epoch == 0:
		return fmt.Errorf("%w: another ragctx writes to the database, and this one only reads", ragctx.ErrUnavailable)
	case o.conn == nil:
		return fmt.Errorf("%w: the connection to the database was lost; try again", ragctx.ErrUnavailable)
	}
	return nil
}

// release gives the lock back.
func (o *ownership) release() error {
	if o == nil || o.end == nil { // it never had the lock
		return nil
	}
	o.end()
	o.wg.Wait()
	if o.conn == nil {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), ownerTimeout)
	defer end()
	_, _ = o.conn.ExecContext(ctx, `SELECT pg_advisory_unlock(?)`, int64(ownerKey)) // closing the pool frees it, too
	return o.conn.Close()
}
