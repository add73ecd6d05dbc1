package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// flips is how many places of a database file TestFlippedBits changes; 0 is every place.
var flips = flag.Int("flips", 400, "how many bytes of a database TestFlippedBits changes, evenly spread; 0 is every one")

// wantSound wants nothing to be found wrong with what a store holds.
func wantSound(t *testing.T, s *sqlite.Store, when string) {
	t.Helper()
	r, err := s.Verify(context.WithoutCancel(t.Context()), store.VerifyOptions{})
	if err != nil || r.Damaged() {
		t.Errorf("%s: %+v, %v", when, r.Findings, err)
	}
}

// TestFlippedBits changes one bit of a database file at a time, in all tables there are. Unless
// every row reads as before, the store does not open, or says that it is damaged.
func TestFlippedBits(t *testing.T) {
	f := fresh(t)
	furnish(t, f)
	want := rowsOf(t, f.path)
	wantSound(t, f.Store, "before")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	var places []int // that hold something
	for at, b := range whole {
		if b != 0 {
			places = append(places, at)
		}
	}
	step := 1
	if *flips > 0 {
		step = max(1, len(places) / *flips)
	}
	noticed, harmless := 0, 0
	path := filepath.Join(t.TempDir(), "x.db")
	for i := step / 2; i < len(places); i += step {
		at := places[i]
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		for _, suffix := range []string{"-wal", "-shm", "-state"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, rerr := tryRows(t, path)
		switch told := damageOf(t, path); {
		case told:
			noticed++
		case rerr == nil && slices.Equal(got, want):
			harmless++ // unused space, or what SQLite makes nothing of
		default:
			t.Errorf("byte %d of page %d: rows read otherwise (%v), and nobody was told", at%4096, at/4096+1, rerr)
		}
	}
	t.Logf("%d of %d noticed; %d change no row", noticed, noticed+harmless, harmless)
}

// damageOf reports whether a store says that its database is damaged.
func damageOf(t *testing.T, path string) bool {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		return true
	}
	defer s.Close()
	r, err := s.Verify(t.Context(), store.VerifyOptions{})
	if err != nil {
		t.Errorf("the check ends with an error: %v", err)
	}
	return r.Damaged()
}

// rowsOf returns every row of every table but the sums.
func rowsOf(t *testing.T, path string) []string {
	t.Helper()
	rows, err := tryRows(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func tryRows(t *testing.T, path string) (out []string, err error) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+escape(path)+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	tables, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'sums' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer tables.Close()
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := tables.Err(); err != nil {
		return nil, err
	}
	for _, name := range names {
		some, err := tableRows(t, db, name)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func tableRows(t *testing.T, db *sql.DB, name string) (out []string, err error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM "`+name+`"`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s %v %v", name, columns, row))
	}
	return out, rows.Err()
}

// furnish puts something into as many tables as this package can.
func furnish(t *testing.T, f *fixture) {
	t.Helper()
	for i := range 4 {
		f.doc(t, fmt.Sprint("d", i), strings.Repeat(fmt.Sprintf("# Part %d\n\nA text about harbours. ", i), 20), "root")
	}
	f.doc(t, "d0", "another version", "root")
	if _, _, err := f.long(t, t.Context(), "long", 7, 40); err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeleteDocument(t.Context(), f.ns, "d1"); err != nil {
		t.Fatal(err)
	}
	if e, err := f.EraseDocument(t.Context(), f.ns, "d2"); err != nil {
		t.Fatal(err)
	} else {
		f.scrub(t, e.Pending)
	}
	if err := f.SetSetting(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := f.AddAudit(t.Context(), []store.AuditEntry{{
		Operation: "put-document", Namespace: "default", Target: "d0",
		Status: 200,
	}}, 10); err != nil {
		t.Fatal(err)
	}
}

// TestSumsFollowEveryStatement lets writes fail in every way that keeps a part of their
// transaction: the sums still match the rows.
func TestSumsFollowEveryStatement(t *testing.T) {
	f := fresh(t)
	for _, c := range []struct {
		name       string
		statements []string
	}{
		{"a statement that fails and a write that goes on", []string{
			`INSERT INTO settings (key, value) VALUES ('x', '1')`,
			`INSERT INTO settings (key, value) VALUES ('y', '1'), ('z', '1'), ('x', '2')`,
		}},
		{"replaced", []string{`INSERT OR REPLACE INTO settings (key, value) VALUES ('x', '3'), ('w', '1')`}},
		{"a new key", []string{`UPDATE settings SET key = 'v' WHERE key = 'w'`}},
		{"all rows", []string{`DELETE FROM settings WHERE key <> 'database'`}},
		{"a number and its change", []string{`INSERT INTO items (id, namespace, kind, key, version, seq, hash, importance, bytes, recorded, superseded) VALUES (5000000000, 1, 9, 'k', 1, 1, x'', 1, 0, 0, 1)`, `UPDATE items SET importance = 0.25, id = 7, seq = 0 WHERE kind = 9`}},
		{"cascades", []string{`INSERT INTO texts (item, text) VALUES (7, x'6162')`, `DELETE FROM items WHERE id = 7`}},
		{"a text with a zero", []string{`INSERT INTO settings (key, value) VALUES ('zero', 'a' || char(0) || 'b')`}},
	} {
		if err := f.Execute(t.Context(), c.statements); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		wantSound(t, f.Store, c.name)
	}
	if err := f.ExecuteAndFail(t.Context(), `INSERT INTO settings (key, value) VALUES ('never', '1')`); err == nil {
		t.Error("it did not fail")
	}
	wantSound(t, f.Store, "a write that fails")
	f.tampered = true
	db, err := sql.Open("sqlite", "file:"+escape(f.path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE namespaces SET created = created + 1`); err != nil {
		t.Fatal(err)
	}
	if r, err := f.Verify(t.Context(), store.VerifyOptions{}); err != nil || !r.Damaged() ||
		!strings.Contains(r.Findings[0].Detail, "namespaces") {
		t.Errorf("a row that somebody else changed: %+v, %v", r, err)
	}
}

// TestDestroyedRoot overwrites the first page of a table while the store is closed, and
// while it is open.
func TestDestroyedRoot(t *testing.T) {
	for _, table := range []string{"items", "turns", "audit", "procedures", "items_current"} {
		f := fresh(t)
		furnish(t, f)
		root := count(t, f.path, `SELECT rootpage FROM sqlite_schema WHERE name = '`+table+`'`)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(f.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), int64(root-1)*4096); err != nil {
			t.Fatal(err)
		}
		file.Close()
		var told []*ragctx.RepairError
		s, err := sqlite.Open(t.Context(), f.path, sqlite.Options{Failed: func(e *ragctx.RepairError) { told = append(told, e) }})
		if err == nil {
			err = s.Ready(t.Context())
			r, verr := s.Verify(t.Context(), store.VerifyOptions{})
			if verr != nil || !r.Damaged() {
				t.Errorf("%s: the check finds %+v, %v", table, r, verr)
			}
			if len(told) != 1 || len(s.Failures()) != 1 {
				t.Errorf("%s: told %v, failures %v", table, told, s.Failures())
			}
			if err := s.Close(); err != nil {
				t.Log(err)
			}
		}
		if repair, ok := errors.AsType[*ragctx.RepairError](err); !ok || repair.Kind != ragctx.RepairDatabase {
			t.Errorf("%s: %v", table, err)
		}
	}
}
