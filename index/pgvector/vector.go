package pgvector

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector"
)

const (
	// efSearch is the number of candidates that a search of the graph keeps.
	efSearch = "200"
	// scanUpTo is the number of vectors up to which a search compares all of a collection, which is exact.
	scanUpTo = 5_000
	// maxNear is the number of vectors that a search with a filter examines at most.
	maxNear = 20_000
)

// vectorIndex is an [index.VectorIndex] in a table. The graph of the table answers searches of large collections.
type vectorIndex struct {
	part

	dim      int
	scanUpTo int64
}

var _ index.VectorIndex = (*vectorIndex)(nil)

// Apply implements [index.VectorIndex].
func (x *vectorIndex) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
	if x.closed.Load() {
		return index.ErrClosed
	}
	kept, gone, err := vector.Units(upserts, deletes, x.dim)
	if err != nil {
		return err
	}
	for _, u := range kept {
		gone = append(gone, u.ID)
	}
	return x.apply(ctx, seq, gone, counts{chunks: int64(len(kept))}, func(b *pgx.Batch) {
		for some := range slices.Chunk(kept, writeBatch) {
			keys, vectors := make([]int64, len(some)), make([]string, len(some))
			for i, u := range some {
				keys[i], vectors[i] = key(u.ID), written(u.Vector)
			}
			b.Queue("INSERT INTO "+quoted(x.table)+
				" SELECT $1, u.chunk, u.vector::vector FROM unnest($2::bigint[], $3::text[]) u(chunk, vector)", x.id, keys, vectors)
		}
	})
}

// written returns a vector as the server reads it.
func written(v []float32) string {
	out := make([]byte, 0, 12*len(v))
	sign := byte('[')
	for _, c := range v {
		out = strconv.AppendFloat(append(out, sign), float64(c), 'g', -1, 32)
		sign = ','
	}
	return string(append(out, ']'))
}

// Search implements [index.VectorIndex].
func (x *vectorIndex) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if x.closed.Load() {
		return nil, index.ErrClosed
	}
	v, err := vector.Unit(q.Vector, x.dim)
	if err != nil || v == nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	state := x.check(ctx)
	if state != nil && !errors.Is(state, index.ErrBehind) {
		return nil, state
	}
	if x.chunks.Load() == 0 {
		return nil, state
	}
	if len(q.Only) > maxOnly {
		q.Only = nil // Accept suffices
	}
	best, err := index.BestAccepted(q.K, maxNear, q.Accept, q.Only != nil, func(n int) (hits []index.Scored, all bool, err error) {
		scan := q.Exact || q.Only != nil || x.chunks.Load() <= x.scanUpTo
		hits, err = x.near(ctx, v, q.Only, n, scan)
		if err == nil && len(hits) < n && !scan { // the graph has given up
			hits, err = x.near(ctx, v, nil, n, true)
		}
		return hits, len(hits) < n, err
	})
	return best, cmp.Or(err, state)
}

// near returns the n nearest chunks, and compares all vectors if scan is set.
func (x *vectorIndex) near(ctx context.Context, v []float32, only index.Only, n int, scan bool) (hits []index.Scored, err error) {
	text := "SELECT chunk, vector <=> $2::vector FROM " + quoted(x.table) + " WHERE collection = $1"
	args := []any{x.id, written(v), n}
	if only != nil {
		text += " AND chunk = ANY($4)"
		args = append(args, keysOf(only))
	}
	if scan {
		text += " ORDER BY (vector <=> $2::vector) + 0, chunk" // no order that the graph has
	} else {
		text += " ORDER BY vector <=> $2::vector"
	}
	err = x.do(ctx, searchTime, func(ctx context.Context) error {
		rows, _ := x.pool.Query(ctx, text+" LIMIT $3", args...)
		hits, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (index.Scored, error) {
			var k int64
			var distance float64
			err := row.Scan(&k, &distance)
			return index.Scored{ID: chunkOf(k), Score: max(-1, min(1, 1-distance))}, err
		})
		return err
	})
	return hits, err
}

// Similarity implements [index.VectorIndex]. It asks the server.
func (x *vectorIndex) Similarity(v []float32) func(id uint64) (float64, bool) {
	return index.SimilarityBySearch(x.Search, v)
}

// MaxOnly returns the number of chunks that a search of a few may name.
func (x *vectorIndex) MaxOnly() int { return maxOnly }
