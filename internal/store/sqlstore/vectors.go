package sqlstore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
)

// Embedder implements [store.Embedders].
func (s *Store) Embedder(ctx context.Context, identity embed.Identity) (int64, error) {
	b, err := json.Marshal(identity)
	if err != nil {
		return 0, fmt.Errorf("embedder identity: %w", err)
	}
	var id int64
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM embedders WHERE identity = ?`, string(b)).Scan(&id)
	})
	if err == nil {
		return id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("find embedder: %w", err)
	}
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO embedders (identity) VALUES (?)
			ON CONFLICT (identity) DO UPDATE SET identity = excluded.identity RETURNING id`, string(b)).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("register embedder: %w", err)
	}
	return id, nil
}

// Vectors implements [store.Vectors].
func (s *Store) Vectors(ctx context.Context, embedder int64, keys []store.VectorKey) (map[store.VectorKey][]float32, error) {
	found := make(map[store.VectorKey][]float32)
	if len(keys) == 0 {
		return found, nil
	}
	err := s.view(ctx, func(tx *Tx) error {
		for some := range slices.Chunk(keys, vectorsPerQuery) {
			query, args := vectorsQuery(embedder, some)
			rows, err := tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // Scan closes it
			if err != nil {
				return err
			}
			err = Scan(rows, func() error {
				var hash, vector sql.RawBytes
				err := rows.Scan(&hash, &vector)
				var k store.VectorKey
				copy(k[:], hash)
				found[k] = unpackVector(vector)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	return found, nil
}

// vectorsPerQuery limits the keys of one statement.
const vectorsPerQuery = 1000

func vectorsQuery(embedder int64, keys []store.VectorKey) (string, []any) {
	args := make([]any, 1, 1+len(keys))
	args[0] = embedder
	for i := range keys {
		args = append(args, keys[i][:])
	}
	return `SELECT hash, vector FROM vectors WHERE embedder = ? AND hash IN (?` + strings.Repeat(", ?", len(keys)-1) + `)`, args
}

func packVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpackVector(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// AnyEmbedder implements [store.Embedders].
func (s *Store) AnyEmbedder(ctx context.Context) (int64, error) {
	var id int64
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM embedders e
			WHERE EXISTS (SELECT 1 FROM vectors WHERE embedder = e.id) ORDER BY id LIMIT 1`).Scan(&id)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("find embedders: %w", err)
	}
	return id, nil
}
