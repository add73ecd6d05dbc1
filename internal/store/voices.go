package store

import (
	"context"
	"database/sql"

	"github.com/ragctx/ragctx/index"
)

// say stores the speaker of the chunk just inserted.
func say(ctx context.Context, tx *sql.Tx, unit sql.Result, v index.Voice) error {
	if v == (index.Voice{}) {
		return nil
	}
	id, err := unit.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO voices (unit, role, name, timed) VALUES (?, ?, ?, ?)`,
		id, string(v.Role), v.Name, v.Timed)
	return err
}

// voiceColumns and joinVoices read the speakers of chunks u; see [voice].
const (
	voiceColumns = `coalesce(w.role, ''), coalesce(w.name, ''), coalesce(w.timed, 0)`
	joinVoices   = ` LEFT JOIN voices w ON w.unit = u.id`
)

// voice returns the scan destinations of the columns.
func voice(v *index.Voice) []any { return []any{(*string)(&v.Role), &v.Name, &v.Timed} }
