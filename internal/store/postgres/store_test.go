package postgres_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/postgres"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
	"github.com/ragctx/ragctx/internal/store/storetest"
)

// databaseOf returns the name of the database for a directory of the suite.
func databaseOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "t" + hex.EncodeToString(sum[:8])
}

// TestStore runs the conformance suite.
func TestStore(t *testing.T) {
	server := pgtest.Start(t, false)
	storetest.Test(t, func(t testing.TB, dir string, o storetest.Options) store.Store {
		s, err := postgres.Open(t.Context(), server.Database(t, databaseOf(dir)), postgres.Options{Now: o.Now, KeepVersions: o.KeepVersions})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
