package imports

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	_ "modernc.org/sqlite" // the driver

	"github.com/ragctx/ragctx"
)

// openSQLite opens a database of another program for reading.
func openSQLite(file string) (*sql.DB, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(abs); err != nil {
		return nil, err
	}
	const readOnly = "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)"
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: readOnly}
	return sql.Open("sqlite", u.String())
}

// chromaRows lists the metadata of all records, those of a record together. A text is the value of the key
// chroma:document.
const chromaRows = `SELECT c.name, d.name, e.embedding_id, m.key, m.string_value, m.int_value, m.float_value, m.bool_value
	FROM embeddings e
	JOIN segments s ON s.id = e.segment_id AND s.scope = 'METADATA'
	JOIN collections c ON c.id = s.collection
	JOIN databases d ON d.id = c.database_id
	LEFT JOIN embedding_metadata m ON m.id = e.id
	ORDER BY d.name, c.name, e.id, m.key`

// chroma reads the database of a persistent client of Chroma.
func chroma(ctx context.Context, source string, emit func(Item) error) error {
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		source = filepath.Join(source, "chroma.sqlite3")
	}
	db, err := openSQLite(source)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, chromaRows)
	if err != nil {
		return fmt.Errorf("%s is no database of a persistent client of Chroma 0.4 or newer: %w", source, err)
	}
	defer rows.Close()
	var last, document string
	payload := map[string]any{}
	flush := func() error {
		if last == "" {
			return nil
		}
		d := record("chroma/"+last, document, payload)
		payload, document = map[string]any{}, ""
		if d == nil {
			return emit(Item{Name: last, LeftOut: "records without a text"})
		}
		return emit(Item{Name: last, Document: d})
	}
	for rows.Next() {
		var collection, database, id string
		var key, text sql.NullString
		var number sql.NullInt64
		var float sql.NullFloat64
		var truth sql.NullBool
		if err := rows.Scan(&collection, &database, &id, &key, &text, &number, &float, &truth); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		name := collection + "/" + id
		if database != "default_database" {
			name = database + "/" + name
		}
		if name != last {
			if err := flush(); err != nil {
				return err
			}
			last = name
		}
		switch {
		case len(text.String) > maxText || !utf8.ValidString(text.String) || strings.ContainsRune(text.String, 0):
			bad := ragctx.Invalid(ragctx.Clip(key.String), "is no text of at most %d MiB of UTF-8", maxText>>20)
			if err := emit(Item{Name: name, Err: bad}); err != nil {
				return err
			}
		case text.Valid && key.String == "chroma:document":
			document = text.String
		case text.Valid:
			payload[key.String] = text.String
		case number.Valid:
			payload[key.String] = number.Int64
		case float.Valid && (math.IsInf(float.Float64, 0) || math.IsNaN(float.Float64)):
			if err := emit(Item{Name: name, Err: ragctx.Invalid(ragctx.Clip(key.String), "is no finite number")}); err != nil {
				return err
			}
		case float.Valid:
			payload[key.String] = float.Float64
		case truth.Valid:
			payload[key.String] = truth.Bool
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return flush()
}
