package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// A document is written in slices, so that a long one does not delay turns: its row, text and
// chunks are staged, hidden, and the last slice publishes it. A short document is a single slice.
// It becomes visible completely or not at all: the garbage collector removes the remains of a failure or a
// crash.
//
// A slice is as long as time allows but at least sliceChunks chunks, so that a document completes
// under any number of turns.
const sliceChunks = 16

// staging holds the documents being staged, which must not be collected. An id may belong to another
// document after the transaction that assigned it was rolled back.
type staging struct {
	mu  sync.Mutex
	ids map[int64]*staged
}

func (s *staging) add(d *staged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[int64]*staged)
	}
	s.ids[d.id] = d
}

func (s *staging) remove(d *staged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[d.id] == d {
		delete(s.ids, d.id)
	}
}

func (s *staging) has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id] != nil
}

// staged is a document being written.
type staged struct {
	record

	when   []store.Condition
	id     int64         // of its row; 0 until the row exists
	text   string        // still to be written
	chunks []store.Chunk // still to be written
	ready  int           // number of units with vectors
	done   int           // amount written, counted as in slices

	pruned bool // publishing it hid an old version
}

// step writes as much of a document as time allows and publishes it at the end. It reports whether
// more remains.
func (s *Store) step(ctx context.Context, tx *Tx, d *staged, p *store.Put, enough func(int) bool) (more bool, err error) {
	if d.id == 0 {
		if *p, _, err = s.decide(ctx, tx, d.record, d.when); err != nil || p.Status == store.Unchanged {
			return false, err
		}
		if err := s.begin(ctx, tx, d); err != nil {
			return false, err
		}
	}
	for ; len(d.text) > 0; d.done += sliceChunks {
		if d.done > 0 && enough(d.done) {
			return true, nil
		}
		if err := d.writePart(ctx, tx); err != nil {
			return false, err
		}
	}
	for len(d.chunks) > 0 {
		c := d.content
		c.Chunks = d.chunks[:d.ready]
		n, err := insertSomeChunks(ctx, tx, d.id, c, enough)
		if err != nil {
			return false, err
		}
		if d.content.Embed != nil {
			for i := range d.chunks[:n] {
				d.chunks[i].Vector, d.chunks[i].NextVector = nil, nil // all vectors take far more memory than the text
			}
		}
		d.chunks, d.ready = d.chunks[n:], d.ready-n
		if len(d.chunks) > 0 {
			return true, nil
		}
	}
	var old *current
	if *p, old, err = s.decide(ctx, tx, d.record, d.when); err != nil || p.Status == store.Unchanged {
		return false, err
	}
	w, err := s.publish(ctx, tx, d.record, d.id, old)
	p.Version, p.Revision, p.Seq, d.pruned = w.version, w.revision(), w.seq, w.pruned
	return false, err
}

// embedChunks is the number of a document's chunks that are embedded at a time.
const embedChunks = 2048

// embed provides the vectors of the next chunks.
func (d *staged) embed(ctx context.Context) error {
	if d.ready > 0 || len(d.chunks) == 0 {
		return nil
	}
	n := len(d.chunks)
	if d.content.Embed != nil {
		n = min(n, embedChunks)
		if err := d.content.Embed(ctx, d.chunks[:n]); err != nil {
			return err
		}
	}
	d.ready = n
	return nil
}

// begin writes the row of a document and, unless it shares another row's text, the first part of
// its text.
func (s *Store) begin(ctx context.Context, tx *Tx, d *staged) error {
	version, err := hiddenVersion(ctx, tx, d.namespace, d.kind, d.key)
	if err != nil {
		return err
	}
	if d.textOf, err = sharedText(ctx, tx, d.record); err != nil {
		return err
	}
	if d.id, err = insertRow(ctx, tx, d.record, version, 0, 0); err != nil {
		return err
	}
	s.staging.add(d)
	if d.textOf != 0 {
		return nil
	}
	d.text = d.content.Text
	return d.writePart(ctx, tx)
}

// writePart writes the next part of the text.
func (d *staged) writePart(ctx context.Context, tx *Tx) error {
	n := min(len(d.text), partBytes)
	err := insertPart(ctx, tx, d.id, len(d.content.Text)-len(d.text), d.text[:n])
	d.text = d.text[n:]
	return err
}

// hiddenVersion returns an unused version number for a hidden row of the item.
func hiddenVersion(ctx context.Context, tx *Tx, ns int64, k store.Kind, key string) (v int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(min(version), 0) FROM items
		WHERE namespace = ? AND kind = ? AND key = ?`, ns, k, key).Scan(&v)
	return min(0, v) - 1, err
}

// Slice runs fn, which does a part of a long write and stops when enough, given the number of
// chunks done, returns true. Mark is 0 or Frees; ns is the namespace whose answers change.
func (s *Store) Slice(
	ctx context.Context, mark Priority, ns int64, fn func(ctx context.Context, tx *Tx, enough func(n int) bool) error,
) error {
	return s.write.doIn(ctx, ns, Low|mark, func(ctx context.Context, tx *Tx) error {
		until := time.Now().Add(MaxBatch)
		return fn(ctx, tx, func(n int) bool {
			return n%sliceChunks == 0 && (s.db.Urgent() || time.Now().After(until))
		})
	})
}

// publish makes a staged item the current version in place of old, if any.
func (s *Store) publish(ctx context.Context, tx *Tx, r record, id int64, old *current) (written, error) {
	return s.replaceVersion(ctx, tx, r, old, func(version int, now int64) (uint64, error) {
		seq, err := s.appendChange(ctx, tx, r.namespace, r.kind, id, opPut)
		if err != nil {
			return 0, err
		}
		res, err := tx.ExecContext(ctx, `UPDATE items SET version = ?, seq = ?, recorded = ?, superseded = NULL WHERE id = ?`,
			version, seq, now, id)
		if err != nil {
			return 0, err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return 0, errors.Join(err, fmt.Errorf("staged item %d is gone", id))
		}
		return seq, nil
	})
}

// unstage leaves an unpublished staged item to the garbage collector.
func (s *Store) unstage(d *staged, published bool) {
	if d.id == 0 {
		return
	}
	if s.staging.remove(d); !published {
		s.gc.wake()
	}
}
