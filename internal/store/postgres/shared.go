package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// channel is where each write is announced to the other processes.
const channel = "ragctx_writes"

// Leads implements [store.Shared].
func (s *Store) Leads() bool { return s.owner.leads() }

func (o *ownership) leads() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.epoch != 0 && o.other == nil
}

// Alone implements [store.Shared].
func (s *Store) Alone() bool {
	o := s.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conn != nil && o.other == nil && within(o.held, time.Now(), ownerLease)
}

// within reports whether less than a duration has passed since a time, by the monotonic clock and by the other one: only
// the latter goes on while a machine is suspended.
func within(since, now time.Time, d time.Duration) bool {
	passed := now.Round(0).Sub(since.Round(0))
	return now.Sub(since) < d && passed >= 0 && passed < d
}

// Lead implements [store.Shared].
func (s *Store) Lead(ctx context.Context) (bool, error) {
	if !s.Leads() {
		if got, err := s.owner.lead(ctx); err != nil {
			return false, err
		} else if !got {
			return false, s.owner.endHung(ctx)
		}
	}
	if !s.leading {
		if err := s.Store.Lead(ctx); err != nil {
			return false, err
		}
		s.leading = true
	}
	return true, nil
}

// Watch implements [store.Shared].
func (s *Store) Watch(ctx context.Context, changed func(ns int64)) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(err)
	}
	defer c.Close()
	return wrap(c.Raw(func(raw any) error {
		at, err := pgxConn(raw)
		if err != nil {
			return err
		}
		if _, err := at.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		defer at.Close(context.WithoutCancel(ctx)) // the pool drops it
		changed(sqlstore.AllNamespaces)
		for {
			n, err := await(ctx, at, ownerTimeout)
			if err != nil {
				return err
			}
			if n == nil {
				continue
			}
			ns, err := strconv.ParseInt(n.Payload, 10, 64)
			if err != nil {
				ns = sqlstore.AllNamespaces // of another version
			}
			if ns != sqlstore.NoNamespaces {
				changed(ns)
			}
		}
	}))
}

// await waits for a notification for a while. Without one it checks the connection and returns nil.
func await(ctx context.Context, at *pgx.Conn, while time.Duration) (*pgconn.Notification, error) {
	short, end := context.WithTimeout(ctx, while)
	defer end()
	n, err := at.WaitForNotification(short)
	if short.Err() == nil || ctx.Err() != nil {
		return n, err
	}
	check, end := context.WithTimeout(ctx, ownerTimeout)
	defer end()
	return nil, at.Ping(check)
}

// pgxConn returns the connection of the driver behind one of database/sql.
func pgxConn(raw any) (*pgx.Conn, error) {
	outer, _ := raw.(conn)
	at, ok := outer.innerConn.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("a connection of the driver is a %T", raw)
	}
	return at.Conn(), nil
}

// Announce implements [store.Shared]. An address of all interfaces becomes the one that the database sees.
func (s *Store) Announce(ctx context.Context, l store.Leader) error {
	u, err := url.Parse(l.URL)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		host := "127.0.0.1"
		var seen sql.NullString // NULL through a socket of this machine
		if err := s.db.QueryRowContext(ctx, `SELECT host(inet_client_addr())`).Scan(&seen); err != nil {
			return wrap(err)
		}
		if seen.Valid {
			host = seen.String
		}
		u.Host = net.JoinHostPort(host, u.Port())
	}
	l.URL = u.String()
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `UPDATE ragctx_owner SET leader = ? WHERE epoch = ?`, string(b), s.owner.number())
	return wrap(err)
}

func (o *ownership) number() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.epoch
}

// Leader implements [store.Shared].
func (s *Store) Leader(ctx context.Context) (l store.Leader, err error) {
	var text sql.NullString
	if err := s.db.QueryRowContext(ctx, `SELECT max(leader) FROM ragctx_owner`).Scan(&text); err != nil || !text.Valid {
		return l, wrap(err)
	}
	return l, json.Unmarshal([]byte(text.String), &l)
}
