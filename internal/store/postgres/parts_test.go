package postgres_test

import (
	"testing"

	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/ledger/ledgertest"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/postgres"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/sessiontest"
)

func open(t testing.TB, server *pgtest.Server, dir string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), server.Database(t, databaseOf(dir)), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// durableLog is a ledger with its store.
type durableLog struct {
	store.Ledger

	store *postgres.Store
}

func (l durableLog) Close() error {
	_ = l.Ledger.Close()
	return l.store.Close()
}

func TestLedger(t *testing.T) {
	server := pgtest.Start(t, false)
	ledgertest.Test(t, func(t testing.TB, dir string, o ledger.Options) ledgertest.Log {
		s := open(t, server, dir)
		return durableLog{s.Ledger(o), s}
	}, ledgertest.Options{Checks: 5})
}

// durableSessions are sessions with their store.
type durableSessions struct {
	store.Sessions

	store *postgres.Store
}

func (s durableSessions) Close() error { return s.store.Close() }

func TestSessions(t *testing.T) {
	server := pgtest.Start(t, false)
	sessiontest.Test(t, func(t testing.TB, dir string, o session.Options) sessiontest.Storage {
		s := open(t, server, dir)
		return durableSessions{s.Sessions(o), s}
	}, sessiontest.Options{})
}
