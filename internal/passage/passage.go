// Package passage turns the hits of an index into the items that a model reads.
//
// A hit is a chunk of a few hundred characters: small enough to be found. A reader needs a passage:
// adjacent chunks are joined, and each item offers shorter and wider forms, so that fitting it into
// a budget can shorten or extend it. Every hit is checked against the store before it is shown,
// because an index may lag behind the store.
package passage

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// Item is one version of a document, or one memory, from the store.
type Item struct {
	index.Item

	Namespace string
	Type      ragctx.ContextType
	// Key is the document's external id or the memory's id; Version counts from 1.
	Key     string
	Version int
	Title   string
	// Abstract is the summary of the item in about 100 tokens; empty for short items.
	Abstract string
	// Outline returns the sections by byte range, in document order; it may be nil. It is a
	// function because most answers need no sections, and a long text has hundreds.
	Outline func() []Section
	// Values is the metadata with its JSON types. The embedded item's metadata holds the same as
	// strings, for filters.
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
	Start int    `json:"start"` // byte offset, heading included
	End   int    `json:"end"`
}

// outline returns the sections of an item.
func (it *Item) outline() []Section {
	if it.Outline == nil {
		return nil
	}
	return it.Outline()
}

// Chunk is one stored chunk.
type Chunk struct {
	ID, Item   uint64
	Ordinal    int
	Heading    []string
	Text       string
	Page       int // first page, from 1; 0 in a text without pages
	Start, End chunk.Pos
}

// Source reads chunks and texts.
type Source interface {
	// Chunks returns the chunks with the given ids that still exist, in any order, and their items.
	Chunks(ctx context.Context, ids []uint64) ([]Chunk, map[uint64]*Item, error)
	// Span returns the chunks of an item with ordinals from..to, in order.
	Span(ctx context.Context, item uint64, from, to int) ([]Chunk, error)
	// Text returns bytes start..end of an item's text.
	Text(ctx context.Context, item uint64, start, end int) (string, error)
	// Items returns the items that still exist, by id.
	Items(ctx context.Context, ids []uint64) (map[uint64]*Item, error)
	// Texts returns the texts of items by id. Long texts are truncated.
	Texts(ctx context.Context, items []uint64) (map[uint64]string, error)
}

// Sizes of the forms of an item, in characters.
const (
	SentenceChars = 160
	AbstractChars = 500
	OverviewChars = 2000
)

// Gap separates passages of one text that are not adjacent.
const Gap = "\n[…]\n"

// visible repeats the checks of the index on the store's data.
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
