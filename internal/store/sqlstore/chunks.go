package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

const chunkColumns = `u.id, u.item, u.ordinal, u.heading, u.text, u.page,
	u.start_byte, u.start_line, u.start_rune, u.end_byte, u.end_line, u.end_rune`

// loadChunks returns the chunks u selected by a FROM clause and its conditions.
func loadChunks(ctx context.Context, tx *Tx, from string, args ...any) ([]passage.Chunk, error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+chunkColumns+` FROM `+from, args...) //nolint:gosec // from is a constant of this package
	if err != nil {
		return nil, err
	}
	var chunks []passage.Chunk
	var last string // heading; the chunks of a section follow each other
	var headings []string
	err = Scan(rows, func() error {
		var u passage.Chunk
		var heading string
		err := rows.Scan(&u.ID, &u.Item, &u.Ordinal, &heading, &u.Text, &u.Page,
			&u.Start.Byte, &u.Start.Line, &u.Start.Rune, &u.End.Byte, &u.End.Line, &u.End.Rune)
		if heading != last {
			last, headings = heading, decode[[]string](heading)
		}
		u.Heading = headings
		chunks = append(chunks, u)
		return err
	})
	return chunks, err
}

// chunksPerQuery limits the chunks or items read with one statement; SQLite allows 32,766 arguments.
const chunksPerQuery = 1 << 14

// Chunks implements [passage.Source]. Items are read separately: the data of an item may be as long
// as its text, and many chunks share an item.
func (s *Store) Chunks(ctx context.Context, ids []uint64) (chunks []passage.Chunk, items map[uint64]*passage.Item, err error) {
	if len(ids) == 0 {
		return nil, make(map[uint64]*passage.Item), nil
	}
	err = s.view(ctx, func(tx *Tx) error {
		var of []uint64
		for some := range slices.Chunk(ids, chunksPerQuery) {
			in, args := placeholders(some)
			found, err := loadChunks(ctx, tx, `units u WHERE u.id IN (`+in+`)`, args...)
			if err != nil {
				return err
			}
			for _, u := range found {
				of = append(of, u.Item)
			}
			chunks = append(chunks, found...)
		}
		slices.Sort(of)
		items, err = loadItems(ctx, tx, slices.Compact(of))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, items, nil
}

const itemColumns = `i.id, n.name, i.kind, i.key, i.version, i.title, i.source, i.user, i.agent, i.session, i.importance,
	i.tags, i.metadata, i.abstract, i.outline, i.bytes, i.occurred, i.recorded, i.superseded, coalesce(i.ended, 0), i.expires`

func loadItems(ctx context.Context, tx *Tx, ids []uint64) (map[uint64]*passage.Item, error) {
	items := make(map[uint64]*passage.Item, len(ids))
	for some := range slices.Chunk(ids, chunksPerQuery) {
		in, args := placeholders(some)
		rows, err := tx.QueryContext(ctx, `SELECT `+itemColumns+` FROM items i JOIN namespaces n ON n.id = i.namespace
			WHERE i.id IN (`+in+`)`, args...)
		if err != nil {
			return nil, err
		}
		err = Scan(rows, func() error {
			it, err := scanItem(rows)
			items[it.ID] = it
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

func scanItem(rows *sql.Rows) (*passage.Item, error) {
	var it passage.Item
	var kind store.Kind
	var tags, meta, outline string
	var occurred, recorded, superseded, expires sql.NullInt64
	err := rows.Scan(&it.ID, &it.Namespace, &kind, &it.Key, &it.Version, &it.Title, &it.Source, &it.User, &it.Agent, &it.Session,
		&it.Importance, &tags, &meta, &it.Abstract, &outline, &it.Bytes, &occurred, &recorded, &superseded, &it.Ended, &expires)
	it.Type = ragctx.TypeResource
	if kind == store.KindMemories {
		it.Type = ragctx.TypeMemory
	}
	it.Values = decodeValues(meta)
	it.Item = index.Item{
		ID: it.ID, Ended: it.Ended, User: it.User, Agent: it.Agent, Session: it.Session, Source: it.Source,
		Tags: decode[[]string](tags), Metadata: store.Strings(it.Values),
		Occurred: moment(occurred), Recorded: moment(recorded), Superseded: moment(superseded), Expires: moment(expires),
	}
	it.Outline = sync.OnceValue(func() []passage.Section { return decode[[]passage.Section](outline) })
	return &it, err
}

// Span implements [passage.Source].
func (s *Store) Span(ctx context.Context, item uint64, from, to int) ([]passage.Chunk, error) {
	var chunks []passage.Chunk
	err := s.view(ctx, func(tx *Tx) (err error) {
		chunks, err = loadChunks(ctx, tx, `units u WHERE u.item = ? AND u.ordinal BETWEEN ? AND ? ORDER BY u.ordinal`, item, from, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}

// Text implements [passage.Source].
func (s *Store) Text(ctx context.Context, item uint64, start, end int) (string, error) {
	var text string
	err := s.view(ctx, func(tx *Tx) (err error) {
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

// Items implements [passage.Source].
func (s *Store) Items(ctx context.Context, ids []uint64) (items map[uint64]*passage.Item, err error) {
	err = s.view(ctx, func(tx *Tx) (err error) {
		items, err = loadItems(ctx, tx, ids)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	return items, nil
}

// Texts implements [passage.Source].
func (s *Store) Texts(ctx context.Context, items []uint64) (map[uint64]string, error) {
	texts := make(map[uint64]string, len(items))
	if len(items) == 0 {
		return texts, nil
	}
	err := s.view(ctx, func(tx *Tx) error {
		in, args := placeholders(items)
		query := `SELECT i.id, t.text FROM items i JOIN texts t ON t.item = coalesce(i.text_of, i.id) WHERE i.id IN (` + in + `)`
		rows, err := tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // Scan closes it
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
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
