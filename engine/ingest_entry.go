package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/providers/docs"
)

// piece is one result of reading an entry. Exactly one of doc, skip and gone is set.
type piece struct {
	doc  *docs.Document
	stat string // file state to record with doc; "" is none
	skip *docs.Skip
	gone *knownDocument // a document that the entry no longer has
}

// pieces reads an entry. own are the known documents of the entry. An error is the last value.
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

// ask queries the state of an entry that only its server knows. It reports whether the entry is
// unchanged since own was read.
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

// entryReading is the state of reading one entry. Its methods return false once the reading has
// ended.
type entryReading struct {
	entry  Entry
	yield  func(piece, error) bool
	held   *docs.Document // the latest document, held until it is known whether it is the last
	n      int            // number of yielded documents
	seen   map[string]bool
	failed []string // ids of inner files that could not be read
	whole  bool     // whether every inner file was met
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
	case skip.Gone: // its document is gone
	case skip.Inside == "":
		r.seen[r.entry.ID] = true // cacheAnswer its document
	default:
		r.failed = append(r.failed, r.entry.ID+"/"+skip.Inside)
	}
	r.faulty = true
	return r.yield(piece{skip: skip}, nil)
}

// release yields the held document, if any.
func (r *entryReading) release(last bool) bool {
	if r.held == nil {
		return true
	}
	d := r.held
	r.held = nil
	r.n++
	return r.yield(piece{doc: d, stat: stat(r.entry.State, r.n, last)}, nil)
}

// gone yields the documents that the entry no longer has. Inner files that could not be read or
// were excluded are not gone.
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
