package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A document is written in slices, so that a long one does not hold up turns: its
// row, text and units are staged, hidden from everyone, and the last slice
// publishes it. A short one is a single slice. All of it is there or nothing:
// what a failure or a crash leaves hidden is swept.
//
// A slice is as long as there is time for, but holds at least sliceUnits, so that
// a document comes to its end beside any number of turns.
const sliceUnits = 16

// staging knows what is being staged, so that it is not swept. An id may be that
// of another document once the transaction that gave it was rolled back.
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

// staged is a document on its way into the database.
type staged struct {
	record

	when  []Condition
	id    int64  // of its row, 0 before there is one
	text  string // what is still to be written
	units []Unit // likewise
	ready int    // how many of units have their vectors
	done  int    // counts what was written, as slices do

	pruned bool // its publication hid an old version
}

// step writes as much of a document as there is time for, and publishes it if
// that is all. It reports whether there is more to do.
func (s *Store) step(ctx context.Context, tx *sql.Tx, d *staged, p *Put, enough func(int) bool) (more bool, err error) {
	if d.id == 0 {
		if *p, _, err = s.judge(ctx, tx, d.record, d.when); err != nil || p.Status == Unchanged {
			return false, err
		}
		if err := s.begin(ctx, tx, d); err != nil {
			return false, err
		}
	}
	for ; len(d.text) > 0; d.done += sliceUnits {
		if d.done > 0 && enough(d.done) {
			return true, nil
		}
		if err := d.part(ctx, tx); err != nil {
			return false, err
		}
	}
	for len(d.units) > 0 {
		c := d.content
		c.Units = d.units[:d.ready]
		n, err := insertSome(ctx, tx, d.id, c, enough)
		if err != nil {
			return false, err
		}
		if d.content.Embed != nil {
			for i := range d.units[:n] {
				d.units[i].Vector, d.units[i].Ahead = nil, nil // all of them take far more than the text
			}
		}
		d.units, d.ready = d.units[n:], d.ready-n
		if len(d.units) > 0 {
			return true, nil
		}
	}
	var old *current
	if *p, old, err = s.judge(ctx, tx, d.record, d.when); err != nil || p.Status == Unchanged {
		return false, err
	}
	w, err := s.publish(ctx, tx, d.record, d.id, old)
	p.Version, p.Revision, p.Seq, d.pruned = w.version, w.revision(), w.seq, w.pruned
	return false, err
}

// embedUnits is how many units of a document get their vectors at a time.
const embedUnits = 2048

// embed sees to it that the next units have their vectors.
func (d *staged) embed(ctx context.Context) error {
	if d.ready > 0 || len(d.units) == 0 {
		return nil
	}
	n := len(d.units)
	if d.content.Embed != nil {
		n = min(n, embedUnits)
		if err := d.content.Embed(ctx, d.units[:n]); err != nil {
			return err
		}
	}
	d.ready = n
	return nil
}

// begin writes the row of a document and the first part of its text, unless it
// shares that of another.
func (s *Store) begin(ctx context.Context, tx *sql.Tx, d *staged) error {
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
	return d.part(ctx, tx)
}

// part writes the next part of the text.
func (d *staged) part(ctx context.Context, tx *sql.Tx) error {
	n := min(len(d.text), partBytes)
	err := insertPart(ctx, tx, d.id, len(d.content.Text)-len(d.text), d.text[:n])
	d.text = d.text[n:]
	return err
}

// hiddenVersion returns a version that no row of the item has.
func hiddenVersion(ctx context.Context, tx *sql.Tx, ns int64, k Kind, key string) (v int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT min(0, coalesce(min(version), 0)) - 1 FROM items
		WHERE namespace = ? AND kind = ? AND key = ?`, ns, k, key).Scan(&v)
	return v, err
}

// slice runs fn, which does a part of a long write and ends it once enough,
// given how many units it has done, says so. mark is 0 or frees, ns where it makes a difference.
func (s *Store) slice(ctx context.Context, mark Priority, ns int64, fn func(ctx context.Context, tx *sql.Tx, enough func(n int) bool) error) error {
	return s.write.doIn(ctx, ns, Low|mark, func(ctx context.Context, tx *sql.Tx) error {
		until := time.Now().Add(maxBatch)
		return fn(ctx, tx, func(n int) bool {
			return n%sliceUnits == 0 && (s.write.urgent() || time.Now().After(until))
		})
	})
}

// publish makes a staged item the current version, in place of old if there is one.
func (s *Store) publish(ctx context.Context, tx *sql.Tx, r record, id int64, old *current) (written, error) {
	return s.succeed(ctx, tx, r, old, func(version int, now int64) (uint64, error) {
		seq, err := s.change(ctx, tx, r.namespace, r.kind, id, opPut)
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

// unstage leaves a staged item that was not published to the sweeper.
func (s *Store) unstage(d *staged, published bool) {
	if d.id == 0 {
		return
	}
	if s.staging.remove(d); !published {
		s.sweeper.wake()
	}
}
