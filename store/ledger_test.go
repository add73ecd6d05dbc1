package store_test

import (
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/ledger"
	"github.com/ragctx/ragctx/ledger/ledgertest"
	"github.com/ragctx/ragctx/store"
)

// durableLog is a ledger with its store.
type durableLog struct {
	*store.Ledger

	store *store.Store
}

func (l durableLog) Close() error {
	_ = l.Ledger.Close()
	return l.store.Close()
}

func openLedger(t testing.TB, dir string, o ledger.Options) ledgertest.Log {
	s, err := store.Open(t.Context(), filepath.Join(dir, store.DatabaseName), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return durableLog{s.Ledger(o), s}
}

func TestLedger(t *testing.T) {
	ledgertest.Test(t, openLedger, ledgertest.Options{})
}
