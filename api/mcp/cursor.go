package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// cursor is the position of the next page: a number of results, or of bytes of a text. It belongs
// to one query.
type cursor struct {
	After   int    `json:"a"`
	Version int    `json:"v,omitempty"` // version of the document being read
	Of      string `json:"q"`           // hash of the query
}

// paged is the argument for the next page.
type paged struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the last page"`
}

const maxCursor = 256

func (p properties) cursor() { p.text("cursor", maxCursor, false) }

// queryHash returns the hash of a query: the tool, the scope and the arguments.
func queryHash(parts ...any) string {
	b, _ := json.Marshal(parts) // texts and numbers: cannot fail
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // texts and numbers: cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor parses the cursor of a query; "" is the beginning. It rejects positions beyond most.
func parseCursor(text, of string, most int) (cursor, error) {
	c := cursor{Of: of}
	if text == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		c = cursor{}
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.After < 0 || c.After > most || c.Version < 0 {
		return c, ragctx.Invalid("cursor", "is not a cursor of this tool; send next_cursor unchanged")
	}
	if c.Of != of {
		return c, ragctx.Invalid("cursor", "belongs to other arguments; repeat those, or leave it out")
	}
	return c, nil
}

// next returns the cursor after n more results, or "" at the end.
func (c cursor) next(n int, more bool) string {
	if !more {
		return ""
	}
	c.After += n
	return c.String()
}
