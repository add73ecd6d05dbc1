package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// ttl is a duration in seconds or as a text such as "36h" or "30d"; [memory.ParseTTL] validates it.
type ttl string

// Schema implements [huma.SchemaProvider].
func (ttl) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeNumber, Description: "seconds"},
		{Type: huma.TypeString, Description: "duration", Examples: []any{"36h", "30d"}},
	}}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *ttl) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	if string(b) != "null" {
		*t = ttl(b)
	}
	return nil
}

// apply sets the expiry of a memory, counted from now.
func (t ttl) apply(m *ragctx.Memory, now time.Time) error {
	if t == "" {
		return nil
	}
	if !m.Expires.IsZero() {
		return ragctx.Invalid("ttl", "contradicts expires; send one of them")
	}
	d, err := memory.ParseTTL(string(t))
	m.Expires = now.Add(d)
	return err
}
