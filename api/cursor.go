package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// documentCursor is the position after a document id.
type documentCursor struct {
	After string `json:"after"`
}

// memoryCursor is a [store.MemoryCursor]. The score is compared for equality; JSON preserves the
// float64.
type memoryCursor struct {
	Now   time.Time `json:"now"`
	Score float64   `json:"score"`
	ID    string    `json:"id"`
}

// quarantineCursor is the position after a row.
type quarantineCursor struct {
	Row int64 `json:"row"`
}

// duplicateCursor is the position after a group: the largest groups come first, equal ones by their
// first ids.
type duplicateCursor struct {
	Size  int    `json:"size"`
	First string `json:"first"`
}

// precedes reports whether a group comes after the cursor.
func (c duplicateCursor) precedes(d docs.Duplicates) bool {
	return cmp.Or(cmp.Compare(c.Size, len(d.IDs)), cmp.Compare(len(d.IDs[0]), len(c.First)),
		strings.Compare(d.IDs[0], c.First)) > 0
}

// tagCursor is the position after a tag.
type tagCursor struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// Page are the parameters of a list with pages. It is exported because huma ignores unexported
// embedded types.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the previous page"`

	list string // identity of the list
}

// Resolve implements [huma.Resolver]; it finds out which list is asked for.
func (p *Page) Resolve(ctx huma.Context) []error {
	r := humaecho.Unwrap(ctx).Request()
	sent, _, _ := strings.Cut(r.RequestURI, "?")
	p.list = listIdentity(sent, r.URL.Query())
	return nil
}

// listIdentity identifies a list by its path and the parameters that select and order its elements.
// The leaf of a session's messages is not among them, because a cursor there names a message.
func listIdentity(path string, q url.Values) string {
	selecting := make(url.Values)
	for name, values := range q {
		for _, v := range slices.Sorted(slices.Values(values)) {
			if v != "" && !(name == "namespace" && v == ragctx.DefaultNamespace) {
				selecting.Add(name, v)
			}
		}
	}
	for _, name := range []string{"limit", "cursor", "leaf"} {
		selecting.Del(name)
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, path+"?"+selecting.Encode()) // cannot fail
	return strconv.FormatUint(h.Sum64(), 36)
}

// cursorText is the content of a cursor. Cursors are opaque to callers, and their encoding may change in
// any release.
type cursorText[T any] struct {
	List string `json:"list"`
	At   T      `json:"at"`
}

// encodeCursor returns the cursor of a position in a list.
func encodeCursor[T any](list string, at T) string {
	b, _ := json.Marshal(cursorText[T]{list, at}) // strings and numbers: cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor reads a cursor of a list; "" is the zero value.
func decodeCursor[T any](cursor, list string) (at T, err error) {
	if cursor == "" {
		return at, nil
	}
	c, err := parseCursor[T](cursor)
	if err == nil && c.List != list {
		err = ragctx.Invalid("cursor", "belongs to another list, order or filter; repeat the parameters of the first page, "+
			"or leave the cursor out")
	}
	return c.At, err
}

func parseCursor[T any](cursor string) (c cursorText[T], err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	if err != nil {
		return cursorText[T]{}, ragctx.Invalid("cursor", "is not a cursor of this list; send next_cursor unchanged, "+
			"or leave the cursor out")
	}
	return c, nil
}

// positionIn returns the position that the cursor of an answer names; "" is the zero value.
func positionIn[T any](cursor string) (at T, err error) {
	if cursor == "" {
		return at, nil
	}
	c, err := parseCursor[T](cursor)
	return c.At, err
}

// pageOf cuts elements, of which one more than a page was requested, to the page, and returns the cursor
// of the next page. It is "" on the last one.
func pageOf[T, C any](p Page, found []T, position func(T) C) (page []T, next string) {
	if len(found) <= p.Limit {
		return found, ""
	}
	return found[:p.Limit], encodeCursor(p.list, position(found[p.Limit-1]))
}

// setPage adds the parameters of a page to those of a list: limit, and the cursor of a position.
// Zero values are left out.
func setPage[T comparable](q url.Values, path string, limit int, at T) {
	var start T
	if at != start {
		q.Set("cursor", encodeCursor(listIdentity(path, q), at))
	}
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
}
