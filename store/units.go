package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/passage"
)

var _ passage.Source = (*Store)(nil)

const unitColumns = `u.id, u.item, u.ordinal, u.heading, u.text, u.page,
	u.start_byte, u.start_line, u.start_rune, u.end_byte, u.end_line, u.end_rune`

// loadUnits returns the units u that a FROM clause, and what follows it, selects.
func loadUnits(ctx context.Context, tx *sql.Tx, from string, args ...any) ([]passage.Unit, error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+unitColumns+` FROM `+from, args...) //nolint:gosec,sqlclosecheck // from is a constant of this package; scan closes the rows
	if err != nil {
		return nil, err
	}
	var units []passage.Unit
	err = scan(rows, func() error {
		var u unitRow
		err := rows.Scan(u.columns()...)
		units = append(units, u.unit())
		return err
	})
	return units, err
}

// unitRow is a row of unitColumns.
type unitRow struct {
	passage.Unit

	heading string
}

// columns returns where the columns go.
func (u *unitRow) columns() []any {
	return []any{
		&u.ID, &u.Item, &u.Ordinal, &u.heading, &u.Text, &u.Page,
		&u.Start.Byte, &u.Start.Line, &u.Start.Rune, &u.End.Byte, &u.End.Line, &u.End.Rune,
	}
}

func (u *unitRow) unit() passage.Unit {
	u.Heading = decode[[]string](u.heading)
	return u.Unit
}

// unitsAtOnce is how many units are read with one statement, of which SQLite takes 32,766
// arguments.
const unitsAtOnce = 1 << 14

// Units implements [passage.Source]. It is one statement, which needs no transaction, for
// any list that a question has.
func (s *Store) Units(ctx context.Context, ids []uint64) ([]passage.Unit, map[uint64]*passage.Item, error) {
	var units []passage.Unit
	items := make(map[uint64]*passage.Item)
	for some := range slices.Chunk(ids, unitsAtOnce) {
		in, args := list(some)
		query := `SELECT ` + unitColumns + `, ` + itemColumns + `
			FROM units u CROSS JOIN items i ON i.id = u.item CROSS JOIN namespaces n ON n.id = i.namespace
			WHERE u.id IN (` + in + `)`
		rows, err := s.read.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // scan closes it
		if err == nil {
			err = scan(rows, func() error {
				var u unitRow
				var it itemRow
				err := rows.Scan(append(u.columns(), it.columns()...)...)
				units = append(units, u.unit())
				if items[u.Item] == nil {
					items[u.Item] = it.item()
				}
				return err
			})
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read units: %w", wrap(err))
		}
	}
	return units, items, nil
}

const itemColumns = `i.id, n.name, i.kind, i.key, i.version, i.title, i.source, i.user, i.agent, i.session, i.importance,
	i.tags, i.metadata, i.abstract, i.outline, i.bytes, i.occurred, i.recorded, i.superseded, coalesce(i.ended, 0), i.expires`

func loadItems(ctx context.Context, tx *sql.Tx, ids []uint64) (map[uint64]*passage.Item, error) {
	items := make(map[uint64]*passage.Item, len(ids))
	if len(ids) == 0 {
		return items, nil
	}
	in, args := list(ids)
	rows, err := tx.QueryContext(ctx, `SELECT `+itemColumns+` FROM items i JOIN namespaces n ON n.id = i.namespace
		WHERE i.id IN (`+in+`)`, args...)
	if err != nil {
		return nil, err
	}
	return items, scan(rows, func() error {
		it, err := scanItem(rows)
		items[it.ID] = it
		return err
	})
}

func scanItem(rows *sql.Rows) (*passage.Item, error) {
	var it itemRow
	err := rows.Scan(it.columns()...)
	return it.item(), err
}

// itemRow is a row of itemColumns.
type itemRow struct {
	passage.Item

	kind                                    Kind
	tags, meta, outline                     string
	occurred, recorded, superseded, expires sql.NullInt64
}

// columns returns where the columns go.
func (it *itemRow) columns() []any {
	return []any{
		&it.ID, &it.Namespace, &it.kind, &it.Key, &it.Version, &it.Title, &it.Source, &it.User, &it.Agent, &it.Session,
		&it.Importance, &it.tags, &it.meta, &it.Abstract, &it.outline, &it.Bytes, &it.occurred, &it.recorded, &it.superseded, &it.Ended, &it.expires,
	}
}

func (it *itemRow) item() *passage.Item {
	item := it.Item // the row is not kept
	item.Type = ragctx.TypeResource
	if it.kind == Memories {
		item.Type = ragctx.TypeMemory
	}
	item.Values = decodeValues(it.meta)
	item.Parent = index.Parent{
		ID: it.ID, Ended: it.Ended, User: it.User, Agent: it.Agent, Session: it.Session, Source: it.Source,
		Tags: decode[[]string](it.tags), Metadata: Strings(item.Values),
		Occurred: moment(it.occurred), Recorded: moment(it.recorded), Superseded: moment(it.superseded), Expires: moment(it.expires),
	}
	outline := it.outline
	item.Outline = sync.OnceValue(func() []passage.Section { return decode[[]passage.Section](outline) })
	return &item
}

// Span implements [passage.Source].
func (s *Store) Span(ctx context.Context, item uint64, from, to int) ([]passage.Unit, error) {
	var units []passage.Unit
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		units, err = loadUnits(ctx, tx, `units u WHERE u.item = ? AND u.ordinal BETWEEN ? AND ? ORDER BY u.ordinal`, item, from, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read units: %w", err)
	}
	return units, nil
}

// Text implements [passage.Source].
func (s *Store) Text(ctx context.Context, item uint64, start, end int) (string, error) {
	var text string
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		text, err = readText(ctx, tx, int64(item), start, end) //nolint:gosec // row ids fit
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("text: %w", ragctx.ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	return text, nil
}

// Items returns the items that exist among those with the given ids.
func (s *Store) Items(ctx context.Context, ids []uint64) (items map[uint64]*passage.Item, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		items, err = loadItems(ctx, tx, ids)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	return items, nil
}

// Texts returns the texts of items by item, of longer ones their beginnings.
func (s *Store) Texts(ctx context.Context, items []uint64) (map[uint64]string, error) {
	texts := make(map[uint64]string, len(items))
	if len(items) == 0 {
		return texts, nil
	}
	err := s.view(ctx, func(tx *sql.Tx) error {
		in, args := list(items)
		query := `SELECT i.id, t.text FROM items i JOIN texts t ON t.item = coalesce(i.text_of, i.id) WHERE i.id IN (` + in + `)`
		rows, err := tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // scan closes it
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var id uint64
			var text []byte
			err := rows.Scan(&id, &text)
			texts[id] = string(text)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	return texts, nil
}
