package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/providers/docs"
)

// piece is one thing that comes of reading an entry. Exactly one of doc, skip and
// gone is set.
type piece struct {
	doc  *docs.Document
	stat string // to be noted of doc; "" is nothing
	skip *docs.Skip
	gone *knownDocument // that the entry does not have any more
}

// pieces reads an entry. own is what is known of its documents. Any error is the
// last that is yielded.
func pieces(ctx context.Context, e Entry, own known) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		r := entryReading{entry: e, yield: yield, seen: make(map[string]bool), whole: true}
		for d, err := range e.Read(ctx) {
			if !r.next(d, err) {
				return
			}
		}
		if r.release(!r.faulty) {
			r.gone(own)
		}
	}
}

// ask finds out the state of an entry that has to be asked for. It reports whether
// the entry is still as it was when own came from it.
func (e *Entry) ask(ctx context.Context, own known, reread bool) (same bool, err error) {
	if e.Ask == nil {
		return false, nil
	}
	last := own.state()
	if reread {
		last = ""
	}
	e.State, err = e.Ask(ctx, last)
	return err == nil && last != "" && e.State == last, err
}

// entryReading is the reading of one entry. Its methods report false when it is over.
type entryReading struct {
	entry  Entry
	yield  func(piece, error) bool
	held   *docs.Document // the last one, until it is known whether it is
	n      int            // documents that were yielded
	seen   map[string]bool
	failed []string // ids of what could not be read inside
	whole  bool     // everything inside was met
	faulty bool
}

func (r *entryReading) next(d docs.Document, err error) bool {
	skip, skipped := errors.AsType[*docs.Skip](err)
	switch {
	case !skipped && err != nil:
		r.yield(piece{}, err)
		return false
	case !skipped && r.seen[d.ExternalID]:
		inside := strings.TrimPrefix(d.ExternalID, r.entry.ID)
		skip = &docs.Skip{Path: r.entry.Path + inside, Reason: "is in the file more than once", Inside: strings.TrimPrefix(inside, "/")}
	case !skipped:
		if !r.release(false) {
			return false
		}
		r.seen[d.ExternalID] = true
		r.held = &d
		return true
	case skip.Unread:
		r.whole = false
	case skip.Gone: // the document that it had is no more
	case skip.Inside == "":
		r.seen[r.entry.ID] = true // keeps the document it had
	default:
		r.failed = append(r.failed, r.entry.ID+"/"+skip.Inside)
	}
	r.faulty = true
	return r.yield(piece{skip: skip}, nil)
}

// release yields the document that is held, if any.
func (r *entryReading) release(last bool) bool {
	if r.held == nil {
		return true
	}
	d := r.held
	r.held = nil
	r.n++
	return r.yield(piece{doc: d, stat: stat(r.entry.State, r.n, last)}, nil)
}

// gone yields the documents that the entry had and has no more. What could not be
// read this time, or was left out, is not gone.
func (r *entryReading) gone(own known) {
	if !r.whole {
		return
	}
	for _, d := range own {
		inside := strings.TrimPrefix(strings.TrimPrefix(d.id, r.entry.ID), "/")
		failed := slices.ContainsFunc(r.failed, func(id string) bool { return d.id == id || strings.HasPrefix(d.id, id+"/") })
		if r.seen[d.id] || failed || r.entry.Takes != nil && !r.entry.Takes(inside) {
			continue
		}
		if !r.yield(piece{gone: &d}, nil) {
			return
		}
	}
}
