package sqlite_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite newest.sql")

// TestNewest checks that a new database equals one that all schema files made in their order: the schema, its
// version and every row. It makes newest.sql from the second one.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	stepped := filepath.Join(dir, "stepped")
	if err := sqlite.MigrateInSteps(t.Context(), stepped); err != nil {
		t.Fatal(err)
	}
	want := script(t, stepped)
	if *update {
		if err := os.WriteFile("newest.sql", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Skip("newest.sql is written; the next run compares")
	}
	text, err := os.ReadFile("newest.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Fatalf("newest.sql is not the schema; run go test ./internal/store/sqlite -run TestNewest -update:\n%s", diff)
	}
	fresh := filepath.Join(dir, "fresh")
	if err := sqlite.Build(t.Context(), fresh, func(*sql.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything(t, stepped), everything(t, fresh)); diff != "" {
		t.Errorf("a new database is not one that was migrated:\n%s", diff)
	}
	if a, b := databaseID(t, stepped), databaseID(t, fresh); len(a) != 32 || len(b) != 32 || a == b {
		t.Errorf("the ids of two databases are %q and %q", a, b)
	}
}

// script returns the statements that create the database of a file.
func script(t *testing.T, path string) string {
	var b strings.Builder
	b.WriteString("-- What the files of schema make, one after the other. It is written by\n" +
		"-- go test ./internal/store/sqlite -run TestNewest -update\n\n")
	const query = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`
	for _, row := range read(t, path, query) {
		b.WriteString(row[0] + ";\n")
	}
	b.WriteString("\n")
	for _, table := range tables(t, path) {
		if table == "sums" { // computed after the script
			continue
		}
		for _, row := range rows(t, path, table) {
			value := strings.Join(row, ", ")
			if table == "settings" && row[0] == "'database'" {
				value = "'database', lower(hex(randomblob(16)))"
			}
			fmt.Fprintf(&b, "INSERT INTO %s VALUES (%s);\n", table, value)
		}
	}
	fmt.Fprintf(&b, "PRAGMA user_version = %s;\n", read(t, path, `PRAGMA user_version`)[0][0])
	return b.String()
}

// everything returns everything that a database holds, without its id.
func everything(t *testing.T, path string) map[string][][]string {
	all := map[string][][]string{
		"version": read(t, path, `PRAGMA user_version`),
		"schema":  read(t, path, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid`),
		// The name of a setting and its checksum also tell that its row is there.
		"settings": read(t, path, `SELECT key, iif(key = 'database', '', value) FROM settings`),
		"sums":     read(t, path, `SELECT tab, bucket, iif(tab = 'settings', '', sum) FROM sums`),
	}
	for _, table := range append(tables(t, path), "sqlite_sequence") {
		if all[table] == nil {
			all[table] = rows(t, path, table)
		}
	}
	return all
}

func databaseID(t *testing.T, path string) string {
	return read(t, path, `SELECT value FROM settings WHERE key = 'database'`)[0][0]
}

func tables(t *testing.T, path string) []string {
	const query = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`
	var names []string
	for _, row := range read(t, path, query) {
		names = append(names, row[0])
	}
	return names
}

// rows returns the rows of a table as literals of SQL.
func rows(t *testing.T, path, table string) [][]string {
	var columns []string
	for _, c := range read(t, path, `SELECT name FROM pragma_table_info('`+table+`')`) {
		columns = append(columns, `quote("`+c[0]+`")`)
	}
	return read(t, path, "SELECT "+strings.Join(columns, ", ")+" FROM "+table)
}

func read(t *testing.T, path, query string) [][]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+escape(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for found.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
