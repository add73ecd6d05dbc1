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
	held  time.Time // when the server had the lock for sure
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

// An owner that has not checked its lock for ownerLease no longer relies on it. One that has not done so for hungAfter hangs: another
// process ends its connection, and the server ends its transactions.
const (
	ownerLease = 8 * time.Second
	hungAfter  = 15 * time.Second
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
	began := time.Now()
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
	o.conn, o.held, o.epoch = c, began, epoch
	return nil
}

// endHung ends the connection with the lock if its process has not checked it for [hungAfter]. It does nothing to a process that
// connects as another role.
func (o *ownership) endHung(ctx context.Context) error {
	_, err := o.store.db.ExecContext(ctx, `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()
			AND CAST(l.classid AS BIGINT) = ? AND CAST(l.objid AS BIGINT) = ? AND l.objsubid = 1
			AND a.state <> 'active' AND a.state_change < clock_timestamp() - CAST(? AS BIGINT) * interval '1 second'`,
		int64(ownerKey>>32), int64(ownerKey&(1<<32-1)), int64(hungAfter.Seconds()))
	return wrap(err)
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
			if o.hold(ctx, c); ctx.Err() != nil {
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
func (o *ownership) hold(ctx context.Context, c *sql.Conn) {
	_ = c.Raw(func(raw any) error { // that it is lost is all that counts
		at, err := pgxConn(raw)
		for err == nil {
			began := time.Now()
			if _, err = await(ctx, at, ownerInterval); err == nil {
				o.mu.Lock()
				o.held = began
				o.mu.Unlock()
			}
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
	const columns = `SELECT one, CAST(pg_notify('` + channel + `', ?) AS TEXT), set_config('idle_in_transaction_session_timeout', ?, true)
		FROM ragctx_owner`
	query, args := columns+` WHERE epoch = ? FOR UPDATE`, []any{fmt.Sprint(ns), fmt.Sprint(hungAfter.Milliseconds()), epoch}
	if epoch == 0 {
		query, args = columns+` FOR UPDATE`, args[:2]
	}
	var one bool
	var sent, limit sql.NullString
	err := tx.QueryRowContext(ctx, query, args...).Scan(&one, &sent, &limit)
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
