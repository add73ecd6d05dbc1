package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// partBytes is the number of text bytes in a row. A longer text continues in text_parts.
const partBytes = 256 << 10

// insertPart writes the part of an item's text that begins at a byte.
func insertPart(ctx context.Context, tx *Tx, item int64, start int, part string) error {
	if start == 0 {
		_, err := tx.ExecContext(ctx, `INSERT INTO texts (item, text) VALUES (?, ?)`, item, []byte(part))
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO text_parts (item, start, text) VALUES (?, ?, ?)`, item, start, []byte(part))
	return err
}

// readText returns the bytes start to end of an item's text, fewer at its end. An item without a
// text is [sql.ErrNoRows].
func readText(ctx context.Context, tx *Tx, item int64, start, end int) (string, error) {
	var text string
	var first int
	err := tx.QueryRowContext(ctx, `SELECT t.item, substr(t.text, ?, ?), length(t.text)
		FROM items i JOIN texts t ON t.item = coalesce(i.text_of, i.id) WHERE i.id = ?`,
		start+1, max(0, end-start), item).Scan(&item, &text, &first)
	if err != nil || end <= first {
		return text, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT start, text FROM text_parts WHERE item = ? AND start < ?
		AND start >= (SELECT coalesce(max(start), 0) FROM text_parts WHERE item = ? AND start <= ?) ORDER BY start`,
		item, end, item, start)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(text)
	err = Scan(rows, func() error {
		var at int
		var part []byte
		if err := rows.Scan(&at, &part); err != nil {
			return err
		}
		if want := start + b.Len(); at > want {
			return &gapError{want, at}
		}
		from := min(len(part), max(0, start-at))
		b.Write(part[from:max(from, min(len(part), end-at))])
		return nil
	})
	return b.String(), err
}

// gapError reports a missing part of a text.
type gapError struct{ from, to int }

// Error implements error.
func (e *gapError) Error() string {
	return fmt.Sprintf("bytes %d to %d of the text are missing", e.from, e.to)
}
