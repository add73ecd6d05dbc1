package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// documentCursor is the position after a document id.
type documentCursor struct {
	After string `json:"after"`
}

// memoryCursor is a [store.MemoryCursor] with the order of its list. The score is compared for
// equality; JSON preserves the float64.
type memoryCursor struct {
	Now   time.Time   `json:"now"`
	Score float64     `json:"score"`
	ID    string      `json:"id"`
	Order store.Order `json:"order,omitempty"`
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

// Cursors are opaque to callers, and their encoding may change in any release.
func encodeCursor(c any) string {
	b, _ := json.Marshal(c) // strings and numbers: cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor reads a cursor; "" is the zero value.
func decodeCursor[T any](s string) (T, error) {
	var c T
	if s == "" {
		return c, nil
	}
	bad := ragctx.Invalid("cursor", "is not a cursor of this list; send next_cursor as it was given")
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return c, bad
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, bad
	}
	return c, nil
}
