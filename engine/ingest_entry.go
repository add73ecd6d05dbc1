package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// entryPart is one result of reading an entry. Exactly one of doc, skip and gone is set.
type entryPart struct {
	doc  *ragctx.Document
	stat string // file state to record with doc; "" is none
	skip *docs.Skip
	gone *existingDocument // a document that the entry no longer has
}

// readEntry reads an entry. own are the known documents of the entry. An error is the last value.
func readEntry(ctx context.Context, e Entry, own existingDocuments) iter.Seq2[entryPart, error] {
	return func(yield func(entryPart, error) bool) {
		r := entryReading{entry: e, yield: yield, seen: make(map[string]bool), complete: true}
		for d, err := range e.Read(ctx) {
			if !r.next(d, err) {
				return
			}
		}
		if r.yieldHeld(!r.faulty) {
			r.gone(own)
		}
	}
}

// ask queries the state of an entry that only its server knows. It reports whether the entry is
// unchanged since own was read.
func (e *Entry) ask(ctx context.Context, own existingDocuments, reread bool) (same bool, err error) {
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
	entry    Entry
	yield    func(entryPart, error) bool
	held     *ragctx.Document // the latest document, held until it is known whether it is the last
	n        int              // number of yielded documents
	seen     map[string]bool
	failed   []string // ids of inner files that could not be read
	complete bool     // whether every inner file was met
	faulty   bool
}

func (r *entryReading) next(d ragctx.Document, err error) bool {
	skip, skipped := errors.AsType[*docs.Skip](err)
	switch {
	case !skipped && err != nil:
		r.yield(entryPart{}, err)
		return false
	case !skipped && r.seen[d.ExternalID]:
		inside := strings.TrimPrefix(d.ExternalID, r.entry.ID)
		skip = &docs.Skip{
			Path: r.entry.Path + inside, Reason: "is in the file more than once",
			Inside: strings.TrimPrefix(inside, "/"),
		}
	case !skipped:
		if !r.yieldHeld(false) {
			return false
		}
		r.seen[d.ExternalID] = true
		r.held = &d
		return true
	case skip.Unread:
		r.complete = false
	case skip.Gone: // its document is gone
	case skip.Inside == "":
		r.seen[r.entry.ID] = true // keep its document
	default:
		r.failed = append(r.failed, r.entry.ID+"/"+skip.Inside)
	}
	r.faulty = true
	return r.yield(entryPart{skip: skip}, nil)
}

// yieldHeld yields the held document, if any.
func (r *entryReading) yieldHeld(last bool) bool {
	if r.held == nil {
		return true
	}
	d := r.held
	r.held = nil
	r.n++
	return r.yield(entryPart{doc: d, stat: documentState(r.entry.State, r.n, last)}, nil)
}

// gone yields the documents that the entry no longer has. Inner files that could not be read or
// were excluded are not gone.
func (r *entryReading) gone(own existingDocuments) {
	if !r.complete {
		return
	}
	for _, d := range own {
		inside := strings.TrimPrefix(strings.TrimPrefix(d.id, r.entry.ID), "/")
		failed := slices.ContainsFunc(r.failed,
			func(id string) bool { return d.id == id || strings.HasPrefix(d.id, id+"/") })
		if r.seen[d.id] || failed || r.entry.Takes != nil && !r.entry.Takes(inside) {
			continue
		}
		if !r.yield(entryPart{gone: &d}, nil) {
			return
		}
	}
}
