package pgvector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// writeBatch is the number of rows that are written in one statement.
const writeBatch = 200

// part is the index of a collection's words, or of its vectors in one embedding space. It has the common methods of both.
type part struct {
	*Opener

	of                   index.Collection
	space, table, format string
	origin               func() string
	id                   int32 // of the row in collections

	closed atomic.Bool
	chunks atomic.Int64 // when they were counted last

	awaited atomic.Uint64 // the newest change that another process writes; 0 is none

	mu    sync.Mutex // guards saved
	saved uint64
}

// key is the number of a chunk in a table: numbers with a sign then have the order of ids.
func key(chunk uint64) int64 { return int64(chunk ^ 1<<63) } //nolint:gosec // all bits are used

// number is the number of a change in a table.
func number(seq uint64) int64 { return int64(seq) } //nolint:gosec // a database has fewer

func chunkOf(key int64) uint64 { return uint64(key) ^ 1<<63 } //nolint:gosec // all bits are used

func keysOf(chunks []uint64) []int64 {
	keys := make([]int64, len(chunks))
	for i, c := range chunks {
		keys[i] = key(c)
	}
	return keys
}

// ofCollection selects the row of an index.
const ofCollection = "namespace = $1 AND kind = $2 AND space = $3"

// load makes the tables, and reads the state of the index. It returns false for one of another store or format.
func (x *part) load(ctx context.Context, knows func(origin string) bool, making string) (ours bool, err error) {
	var format, origin string
	var seq, chunks int64
	err = x.do(ctx, writeTime, func(ctx context.Context) error {
		if err := x.ensure(ctx, x.table, making); err != nil {
			return err
		}
		err := x.pool.QueryRow(ctx, "SELECT id, format, origin, seq, chunks FROM collections WHERE "+ofCollection, x.of.Namespace,
			x.of.Kind, x.space).Scan(&x.id, &format, &origin, &seq, &chunks)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || x.id == 0 || format != x.format || knows != nil && !knows(origin) {
		return false, err
	}
	x.saved = uint64(seq) //nolint:gosec // as written
	x.chunks.Store(chunks)
	return true, nil
}

// open opens the index. One of another store or format is deleted.
func (x *part) open(ctx context.Context, knows func(origin string) bool, making string) error {
	if x.origin == nil {
		x.origin = func() string { return "" }
	}
	ours, err := x.load(ctx, knows, making)
	if err != nil || ours {
		return err
	}
	if x.follows() {
		return fmt.Errorf("%w: pgvector: the process that writes has not filled %s yet", ragctx.ErrUnavailable, x.table)
	}
	return x.change(ctx, dropTime, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
			if err := remove(ctx, tx, []string{x.table}, ofCollection, x.of.Namespace, x.of.Kind, x.space); err != nil {
				return err
			}
			return tx.QueryRow(ctx,
				"INSERT INTO collections (namespace, kind, space, format, origin) VALUES ($1, $2, $3, $4, $5) RETURNING id",
				x.of.Namespace, x.of.Kind, x.space, x.format, x.origin()).Scan(&x.id)
		})
	})
}

// errTaken reports that the index is not as this process has left it. It is opened again then.
var errTaken = fmt.Errorf("%w: pgvector: another process has written to the index, or the server has lost changes", ragctx.ErrUnavailable)

// counts are the numbers of a collection.
type counts struct{ chunks, items, length int64 }

// apply deletes the rows of chunks and writes new ones, in one transaction. insert queues the statements that write; added is what they
// add to the numbers of the collection. While another process writes, it only notes the change. The cursor is always written, because
// the others wait for it.
func (x *part) apply(ctx context.Context, seq uint64, gone []uint64, added counts, insert func(*pgx.Batch)) error {
	if x.closed.Load() {
		return index.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.follows():
		x.awaited.Store(max(x.awaited.Load(), seq))
		return nil
	case x.awaited.Load() > 0:
		return errTaken
	case len(gone) == 0 && seq <= x.saved:
		return nil
	}
	return x.write(ctx, max(x.saved, seq), gone, added, insert)
}

// changing deletes rows, and changes the row of the collection unless another process has changed it.
const changing = `WITH gone AS (DELETE FROM %s WHERE collection = $1 AND chunk = ANY($2) RETURNING %s)
UPDATE collections SET seq = $3, origin = $4, chunks = chunks + $6 - (SELECT count(*) FROM gone),
  items = items + $7 - (SELECT count(*) FROM gone WHERE place = 0), length = length + $8 - (SELECT coalesce(sum(length), 0) FROM gone)
WHERE id = $1 AND seq = $5 RETURNING chunks`

// write writes changes together with the cursor. The caller holds mu.
func (x *part) write(ctx context.Context, seq uint64, gone []uint64, added counts, insert func(*pgx.Batch)) error {
	returned := "place, length"
	if x.space != "" {
		returned = "1 AS place, 0 AS length"
	}
	var chunks int64
	err := x.change(ctx, writeTime+time.Duration(len(gone))*rowTime, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, fmt.Sprintf(changing, quoted(x.table), returned), x.id, keysOf(gone), number(seq), x.origin(),
				number(x.saved), added.chunks, added.items, added.length).Scan(&chunks)
			if errors.Is(err, pgx.ErrNoRows) {
				return errTaken
			}
			if err != nil || insert == nil {
				return err
			}
			var b pgx.Batch
			insert(&b)
			return tx.SendBatch(ctx, &b).Close()
		})
	})
	if err == nil {
		x.saved = seq
		x.chunks.Store(chunks)
	}
	return err
}

// Cursor implements [index.KeywordIndex].
func (x *part) Cursor() uint64 {
	if x.closed.Load() {
		return 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.saved
}

// Flush implements [index.KeywordIndex]. Everything is saved.
func (x *part) Flush(ctx context.Context) error { return x.apply(ctx, 0, nil, counts{}, nil) }

// Compact implements [index.KeywordIndex]. It vacuums the table.
func (x *part) Compact(ctx context.Context) error {
	if err := x.Flush(ctx); err != nil || x.follows() {
		return err
	}
	return x.vacuum(ctx, x.table)
}

// Close implements [index.KeywordIndex].
func (x *part) Close() error {
	if x.closed.Swap(true) {
		return index.ErrClosed
	}
	return nil
}

// Stats implements [index.KeywordIndex]. While the server is away, the last number of chunks counts.
func (x *part) Stats() index.PartStats {
	if x.closed.Load() {
		return index.PartStats{}
	}
	_ = x.check(context.Background())
	return index.PartStats{Chunks: int(x.chunks.Load()), Kind: "pgvector"}
}

// check counts the chunks. It fails if another process has made the index anew or has stopped to write to it. It returns
// [index.ErrBehind] if the index lacks changes that another process writes.
func (x *part) check(ctx context.Context) error {
	awaited := x.awaited.Load()
	if awaited > 0 && !x.follows() {
		return errTaken
	}
	var seq, chunks int64
	err := x.do(ctx, searchTime, func(ctx context.Context) error {
		err := x.pool.QueryRow(ctx, "SELECT seq, chunks FROM collections WHERE id = $1", x.id).Scan(&seq, &chunks)
		if errors.Is(err, pgx.ErrNoRows) {
			return errTaken
		}
		return err
	})
	if err != nil {
		return err
	}
	x.chunks.Store(chunks)
	if seq < number(awaited) {
		return index.ErrBehind
	}
	return nil
}
