package postgres_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/postgres"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
	"github.com/ragctx/ragctx/internal/store/storetest"
)

// cutOff ends all connections of a database.
func cutOff(t *testing.T, url string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a write succeeds, or with fails until it fails for good.
func eventually(t *testing.T, s *postgres.Store, fails bool) {
	t.Helper()
	var err error
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		err = s.SetSetting(t.Context(), "a", "b")
		if _, lost := errors.AsType[*ragctx.RepairError](err); err == nil && !fails || lost && fails {
			return
		}
	}
	t.Fatalf("writes end with %v", err)
}

// TestOneOwner opens a database twice, and cuts the connections of its owner.
func TestOneOwner(t *testing.T) {
	server := pgtest.Start(t, false)
	url := server.Database(t, "owned")
	first, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := postgres.Open(t.Context(), url, postgres.Options{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a second owner: %v", err)
	}
	cutOff(t, url)
	eventually(t, first, false) // connects again

	cutOff(t, url)
	second, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Skip(err) // the first was faster
	}
	defer second.Close()
	eventually(t, first, true)
	if f := first.Failures(); len(f) != 1 || first.Ready(t.Context()) == nil {
		t.Errorf("the first owner reports %v", f)
	}
	eventually(t, second, false)
}

// TestKilledMigration opens a database while the server still runs the migration for a killed process.
func TestKilledMigration(t *testing.T) {
	url := pgtest.Start(t, false).Database(t, "killed")
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	functions, err := os.ReadFile("schema/0001_functions.sql")
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := c.PgConn().Exec(t.Context(), "BEGIN; SELECT pg_advisory_xact_lock(x'7261676374780002'::bigint)").ReadAll()
		close(began)
		_, rest := c.PgConn().Exec(t.Context(), `CREATE TABLE ragctx_schema (version BIGINT PRIMARY KEY, applied TIMESTAMPTZ NOT NULL);`+
			string(functions)+`INSERT INTO ragctx_schema (version, applied) VALUES (1, now()); SELECT pg_sleep(1); COMMIT`).ReadAll()
		done <- errors.Join(err, rest)
	}()
	<-began
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SetSetting(t.Context(), "a", "b"), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestHungOwner has a process hang that owns a database, in a write. Another one that follows takes over.
func TestHungOwner(t *testing.T) {
	url := pgtest.Start(t, false).Database(t, "hung")
	tokenOf(t, url)
	hung, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close(context.Background())
	if _, err := hung.Exec(t.Context(), `SELECT pg_advisory_lock(x'7261676374780001'::bigint)`); err != nil {
		t.Fatal(err)
	}
	follower, err := postgres.Open(t.Context(), url, postgres.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	began := time.Now()
	for leads := false; !leads; time.Sleep(500 * time.Millisecond) {
		took := time.Since(began)
		if leads, err = follower.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
		if leads && took < 10*time.Second || took > 30*time.Second {
			t.Fatalf("takes over: %v, after %v", leads, took)
		}
	}
	err = follower.Write(t.Context(), sqlstore.Write{Namespace: sqlstore.NoNamespaces}, func(ctx context.Context, tx *sqlstore.Tx) error {
		time.Sleep(20 * time.Second)
		_, err := tx.ExecContext(ctx, `SELECT 1`)
		return err
	})
	if !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("a write that hangs for 20 s: %v", err)
	}
	eventually(t, follower, false)
}

// TestNoPasswordInErrors looks for the password of a URL in errors.
func TestNoPasswordInErrors(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hush@127.0.0.1:1/x", "postgres://u:hush@127.0.0.1:bad/x", "postgres://u:hush@[::1/x", "postgres://u:hush@h/x?sslmode=no",
	} {
		if _, err := postgres.Open(t.Context(), url, postgres.Options{}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestSnapshotsMove restores a snapshot of a file into a server, and one of the server into a file.
func TestSnapshotsMove(t *testing.T) {
	server := pgtest.Start(t, false)
	dir := t.TempDir()
	file, err := sqlite.Open(t.Context(), filepath.Join(dir, "a.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ns := namespace(t, file, "default")
	p := storetest.Prepare(t, "first", "Some words about lions.")
	if _, err := file.PutDocument(t.Context(), ns, p, "", store.Content{Text: p.Text}); err != nil {
		t.Fatal(err)
	}
	p.ExternalID = "doc" // shares the text of the first, whose row has empty columns after its erasure
	put, err := file.PutDocument(t.Context(), ns, p, "", store.Content{Text: p.Text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.EraseDocument(t.Context(), ns, "first"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	file, err = sqlite.Open(t.Context(), filepath.Join(dir, "a.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.AwaitCollection(t.Context()); err != nil { // until then the row is as it was
		t.Fatal(err)
	}
	gone := namespace(t, file, "gone")
	if _, err := file.EraseNamespace(t.Context(), "gone", func(note func() error) error { return note() }); err != nil {
		t.Fatal(err)
	}

	snapshot := filepath.Join(dir, "1")
	if _, err := store.SaveSnapshot(t.Context(), file, snapshot, store.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	o := store.RestoreOptions{Store: server.Database(t, "moved")}
	if _, err := postgres.Restore(t.Context(), snapshot, dir, o); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Restore(t.Context(), snapshot, dir, o); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("restored over contents: %v", err)
	}
	old := tokenOf(t, o.Store)
	o.Force = true
	if _, err := postgres.Restore(t.Context(), snapshot, dir, o); err != nil {
		t.Error(err)
	}
	s, err := postgres.Open(t.Context(), o.Store, postgres.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.KnowsToken(old) {
		t.Error("an index that follows the contents before the restore is trusted")
	}
	wantMoved(t, s, put, gone)
	if _, err := s.PutDocument(t.Context(), namespace(t, s, "default"), storetest.Prepare(t, "new", "x"), "", store.Content{Text: "x"}); err != nil {
		t.Error(err)
	}

	snapshot = filepath.Join(dir, "2")
	if _, err := store.SaveSnapshot(t.Context(), s, snapshot, store.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	back := t.TempDir()
	if _, err := sqlite.Restore(t.Context(), snapshot, back, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), filepath.Join(back, store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wantMoved(t, again, put, gone)
	if r, err := again.Verify(t.Context(), store.VerifyOptions{}); err != nil || r.Damaged() {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}

// tokenOf writes to a database and returns the token of that opening.
func tokenOf(t *testing.T, url string) string {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := storetest.Prepare(t, "token", "x")
	if _, err := s.PutDocument(t.Context(), namespace(t, s, "default"), p, "", store.Content{Text: p.Text}); err != nil {
		t.Fatal(err)
	}
	return s.Token()
}

func namespace(t *testing.T, s store.Store, name string) int64 {
	t.Helper()
	ns, err := s.Namespace(t.Context(), name, true)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// wantMoved requires the document, its count, and that the erased namespace takes no writes.
func wantMoved(t *testing.T, s store.Store, put store.Put, gone int64) {
	t.Helper()
	ns := namespace(t, s, "default")
	d, text, err := s.Document(t.Context(), ns, "doc", 0)
	if err != nil || text != "Some words about lions." || d.Version != put.Version {
		t.Errorf("%+v, %q, %v", d, text, err)
	}
	if n, err := s.DescribeNamespace(t.Context(), "default"); err != nil || n.Documents < 1 {
		t.Errorf("%+v, %v", n, err)
	}
	if newest, err := s.NewestChange(t.Context()); err != nil || newest < put.Seq {
		t.Errorf("the newest change is %d, %v; want at least %d", newest, err, put.Seq)
	}
	_, err = s.PutDocument(t.Context(), gone, storetest.Prepare(t, "x", "y"), "", store.Content{Text: "y"})
	if !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a write of an erased namespace: %v", err)
	}
}
