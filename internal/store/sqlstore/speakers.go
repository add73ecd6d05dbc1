package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/index"
)

// insertSpeaker stores the speaker of the chunk just inserted.
func insertSpeaker(ctx context.Context, tx *Tx, id int64, v index.Speaker) error {
	if v == (index.Speaker{}) {
		return nil
	}
	timed := 0
	if v.Timed {
		timed = 1
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO voices (unit, role, name, timed) VALUES (?, ?, ?, ?)`,
		id, string(v.Role), v.Name, timed)
	return err
}

// speakerColumns and joinSpeakers read the speakers of chunks u; see [scanSpeaker].
const (
	speakerColumns = `coalesce(w.role, ''), coalesce(w.name, ''), coalesce(w.timed, 0)`
	joinSpeakers   = ` LEFT JOIN voices w ON w.unit = u.id`
)

// scanSpeaker returns the scan destinations of the columns.
func scanSpeaker(v *index.Speaker) []any { return []any{(*string)(&v.Role), &v.Name, &v.Timed} }
