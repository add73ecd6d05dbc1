package postgres

import (
	"database/sql/driver"
	"slices"
	"testing"
)

func TestTranslate(t *testing.T) {
	for query, want := range map[string]string{
		`SELECT user FROM items i WHERE i.user = ? AND key = 'user?'`:              `SELECT "user" FROM items i WHERE i."user" = $1 AND key = 'user?'`,
		`UPDATE untold SET only = ?2 WHERE turn = ?1 OR only = ?2`:                 `UPDATE untold SET "only" = $1 WHERE turn = $2 OR "only" = $3`,
		`SELECT a FROM t INDEXED BY t_a CROSS JOIN u ON u.a = t.a WHERE users = 1`: `SELECT a FROM t JOIN u ON u.a = t.a WHERE users = 1`,
		`SELECT value FROM json_each(?) LIMIT ?`:                                   `SELECT value FROM ragctx_each($1) LIMIT $2`,
		`SELECT "from", 'it''s' FROM c WHERE n = ?`:                                `SELECT "from", 'it''s' FROM c WHERE n = $1`,
	} {
		if got := translate(query).text; got != want {
			t.Errorf("%s\n\tis %s\n\twant %s", query, got, want)
		}
	}
}

// TestArguments numbers parameters as SQLite does: one without a number follows the highest before it.
func TestArguments(t *testing.T) {
	s := translate(`SELECT ?2, ?, ?1, ?`)
	if !slices.Equal(s.args, []int{1, 2, 0, 3}) {
		t.Fatal(s.args)
	}
	args := []driver.NamedValue{{Value: "a"}, {Value: "b"}, {Value: "c"}, {Value: "d"}}
	var got []any
	for i, a := range s.arrange(args) {
		if a.Ordinal != i+1 {
			t.Errorf("argument %d has number %d", i+1, a.Ordinal)
		}
		got = append(got, a.Value)
	}
	if !slices.Equal(got, []any{"b", "c", "a", "d"}) {
		t.Error(got)
	}
}
