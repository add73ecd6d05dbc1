// Package passage turns the hits of an index into the items that a model reads.
//
// A hit is a unit of a few hundred characters: small enough to be found. What a
// reader needs is a passage: units that touch are joined, and each item knows
// shorter and wider forms of itself, so that whoever fits it into a budget can
// step it down or let it grow. Every hit is checked against the store before it
// is shown; an index may be behind, the store is not.
package passage

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Item is one version of a document, or one memory, as the store has it.
type Item struct {
	index.Item

	Namespace string
	Type      ragctx.ContextType
	// Key is the document's external id or the memory's id; Version counts from 1.
	Key     string
	Version int
	Title   string
	// Abstract is the item's gist in about 100 tokens; empty for short items.
	Abstract string
	// Outline returns the sections by byte range, in document order; nil is none. It is a
	// function as most answers need no sections, and a long text has hundreds.
	Outline func() []Section
	// Values is the metadata with its JSON types; Parent.Metadata holds the same
	// as strings, for filters.
	Values map[string]any
	// Bytes is the length of the whole text.
	Bytes int
	// Importance (0 to 1) is a memory's weight; zero for documents.
	Importance float64
}

// Section is a part of a text under one heading.
type Section struct {
	Title string `json:"title"`
	Level int    `json:"level"`
	Start int    `json:"start"` // byte, heading included
	End   int    `json:"end"`
}

// outline returns the sections of an item.
func (it *Item) outline() []Section {
	if it.Outline == nil {
		return nil
	}
	return it.Outline()
}

// Unit is one stored chunk.
type Unit struct {
	ID, Item   uint64
	Ordinal    int
	Heading    []string
	Text       string
	Page       int // on which it begins, from 1; 0 in a text without pages
	Start, End chunk.Pos
}

// Source is where units and texts are read from.
type Source interface {
	// Units returns the units with the given ids that still exist, in any order,
	// and their items.
	Units(ctx context.Context, ids []uint64) ([]Unit, map[uint64]*Item, error)
	// Span returns the units of an item with ordinals from..to, in order.
	Span(ctx context.Context, item uint64, from, to int) ([]Unit, error)
	// Text returns bytes start..end of an item's text.
	Text(ctx context.Context, item uint64, start, end int) (string, error)
}

// Sizes of the forms of an item, in characters.
const (
	SentenceChars = 160
	AbstractChars = 500
	OverviewChars = 2000
)

// Gap stands between passages of one text that do not touch.
const Gap = "\n[…]\n"

// visible repeats, on the store's own data, the checks that the index made.
func visible(it *Item, r *Request) bool {
	q := &r.Search
	at := q.Now
	if !q.AsOf.IsZero() {
		at = q.AsOf
		if it.Recorded.After(at) || !it.Superseded.IsZero() && !it.Superseded.After(at) {
			return false
		}
	} else if !it.Superseded.IsZero() && it.Ended <= r.State {
		return false
	}
	if !it.Expires.IsZero() && !at.Before(it.Expires) {
		return false
	}
	s := q.Scope
	return it.Namespace == r.Query.Namespace &&
		(it.User == "" || s.AnyUser || it.User == s.User) &&
		(s.Agent == "" || it.Agent == s.Agent) &&
		(s.Session == "" || it.Session == s.Session)
}
