package api

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
)

// resolve follows references and selects the alternative of a schema for a value of this kind.
func (c *checker) resolve(s *huma.Schema, kind string) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = c.schemas.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return nil
	}
	for _, alternative := range s.OneOf {
		if alternative.Type == kind {
			return alternative
		}
	}
	return s
}

// typed checks the kind of a value. It returns s if s describes such values, and nil if every value
// is allowed or the kind is wrong.
func (c *checker) typed(s *huma.Schema, kind string) *huma.Schema {
	switch {
	case s == nil, s.Type == "" && len(s.OneOf) == 0:
		return nil
	case s.Type == kind, s.Type == huma.TypeInteger && kind == huma.TypeNumber:
		return s
	case kind == "null" && (s.Nullable || c.optional):
		return nil
	}
	c.fault("is %s; send %s", article(kind), expected(s))
	return nil
}

func expected(s *huma.Schema) string {
	var kinds []string
	for _, alternative := range s.OneOf {
		kinds = append(kinds, article(alternative.Type))
	}
	if len(kinds) == 0 {
		kinds = []string{article(s.Type)}
	}
	return strings.Join(kinds, " or ")
}

// article returns a kind of value with its article.
func article(kind string) string {
	switch kind {
	case huma.TypeInteger:
		return "a whole number"
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeArray, huma.TypeObject:
		return "an " + kind
	case "null":
		return kind
	default:
		return "a " + kind
	}
}

// property returns the schema of a field of s.
func (c *checker) property(s *huma.Schema, key string) *huma.Schema {
	c.optional = false
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[key]; ok {
		c.optional = !slices.Contains(s.Required, key)
		return p
	}
	if rest, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return rest
	}
	if allowed, ok := s.AdditionalProperties.(bool); ok && !allowed {
		c.fault("is not a field here%s", suggest(key, slices.Sorted(maps.Keys(s.Properties))))
	}
	return nil
}

// suggest returns the end of an error message: the name that was probably meant, or all names.
func suggest(key string, names []string) string {
	for _, name := range names {
		if strings.EqualFold(strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(key, "_", "")) {
			return "; did you mean " + name + "?"
		}
	}
	for _, name := range synonyms[key] {
		if slices.Contains(names, name) {
			return "; use " + name
		}
	}
	for _, name := range names {
		if distance(name, key) <= 2 {
			return "; did you mean " + name + "?"
		}
	}
	if len(names) == 0 {
		return "; there are none"
	}
	return "; there are " + strings.Join(names, ", ")
}

// distance returns the number of bytes to insert, delete or replace between two names. Names of
// very different lengths are far.
func distance(a, b string) int {
	if len(b) > 2*len(a) {
		return len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func (c *checker) checkRequired(s *huma.Schema, seen map[string]bool) {
	end := len(c.path)
	for _, name := range s.Required {
		if !seen[name] {
			c.path = append(append(c.path[:end], '.'), name...)
			c.fault("is missing; it is required")
		}
	}
	c.path = c.path[:end]
}

// checkString checks a string against its schema. raw is the text between its quotes.
func (c *checker) checkString(s *huma.Schema, raw []byte) {
	if s = c.typed(s, huma.TypeString); s == nil {
		return
	}
	if s.MaxLength == nil && s.MinLength == nil && s.Enum == nil && s.Format == "" && s.ContentEncoding == "" {
		return // avoids copying long texts
	}
	c.checkText(s, decodeString(raw))
}

func (c *checker) checkText(s *huma.Schema, text string) {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		c.fault("is %d characters long; send at least %d", n, *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		c.fault("is %d characters long; the limit is %d", n, *s.MaxLength)
	case s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return strings.EqualFold(fmt.Sprint(e), text) }):
		c.fault("is %q; use %s", ragctx.Clip(text), oneOf(s.Enum))
	case s.Format == "date-time":
		c.checkTime(text)
	case s.ContentEncoding == "base64":
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			c.fault("is not base64; encode the bytes with the standard alphabet and padding")
		}
	}
}

// checkTime rejects invalid times, and times outside of RFC 3339's years in UTC, which could not be
// encoded again.
func (c *checker) checkTime(text string) {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		c.fault("is %q; send a time as RFC 3339 has it, such as 2026-03-01T12:00:00Z", ragctx.Clip(text))
	} else if y := t.UTC().Year(); y < 1 || y > 9999 {
		c.fault("is %q; use the years 1 to 9999 in UTC", ragctx.Clip(text))
	}
}

func oneOf(values []any) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = fmt.Sprint(v)
	}
	return strings.Join(names, ", ")
}

// checkNumber checks a number against its schema.
func (c *checker) checkNumber(s *huma.Schema, text string) {
	f, err := strconv.ParseFloat(text, 64)
	s = c.typed(s, huma.TypeNumber)
	if s == nil {
		if err != nil {
			c.fault("is %s, which is beyond the range of a 64-bit float; send it as a string", ragctx.Clip(text))
		}
		return
	}
	if s.Type == huma.TypeInteger {
		if strings.ContainsAny(text, ".eE") {
			c.fault("is %s; send a whole number without fraction or exponent", ragctx.Clip(text))
			return
		}
		if _, overflow := strconv.ParseInt(text, 10, 64); overflow != nil {
			err = overflow
		}
	}
	low, high := math.Inf(-1), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	if err != nil || f < low || f > high {
		c.fault("is %s; %s", ragctx.Clip(text), span(low, high))
	}
}

func span(low, high float64) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return "it is beyond the range of a 64-bit number"
	case math.IsInf(high, 0):
		return "use " + number(low) + " or more"
	default:
		return "use " + number(max(low, -math.MaxFloat64)) + " to " + number(high)
	}
}
