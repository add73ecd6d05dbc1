package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// cursor says where the next page of an answer begins: after so many results, or bytes
// of a text. It belongs to one question.
type cursor struct {
	After   int    `json:"a"`
	Version int    `json:"v,omitempty"` // of the document that is being read
	Of      string `json:"q"`           // what the pages are of
}

// paged is the argument that continues an answer.
type paged struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page; other arguments unchanged"`
}

const maxCursor = 256

func (p properties) cursor() { p.text("cursor", maxCursor, false) }

// of names a question: the tool, the scope and what is asked.
func of(parts ...any) string {
	b, _ := json.Marshal(parts) // texts and numbers: cannot fail
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // texts and numbers: cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// page reads a cursor of a question; "" is the beginning. No place is beyond most.
func page(text, of string, most int) (cursor, error) {
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

// next returns the cursor of the page after n more results, or "" if there is none.
func (c cursor) next(n int, more bool) string {
	if !more {
		return ""
	}
	c.After += n
	return c.String()
}
