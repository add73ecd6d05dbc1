package api

import (
	"encoding/json"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
)

// jsonFormat is huma's JSON format with a faster writer. It writes answers in one call and encodes
// large ones without reflection, which took a quarter of the HTTP overhead. A test keeps the output
// identical to encoding/json.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// maxKeptBuffer is the size up to which a buffer is reused.
const maxKeptBuffer = 1 << 20

var jsonBuffers = sync.Pool{New: func() any { return new(jsonBuffer) }}

// jsonBuffer holds an answer in JSON.
type jsonBuffer struct{ b []byte }

// Write implements [io.Writer].
func (j *jsonBuffer) Write(p []byte) (int, error) {
	j.b = append(j.b, p...)
	return len(p), nil
}

// writeJSON writes an answer with one call.
func writeJSON(w io.Writer, v any) error {
	j, _ := jsonBuffers.Get().(*jsonBuffer)
	defer func() {
		if j.b = j.b[:0]; cap(j.b) <= maxKeptBuffer {
			jsonBuffers.Put(j)
		}
	}()
	if err := j.encode(v); err != nil {
		return err
	}
	if r, ok := w.(*echo.Response); ok {
		if e, ok := r.Writer.(*encoder); ok {
			e.whole = true
		}
	}
	_, err := w.Write(j.b)
	return err
}

func (j *jsonBuffer) encode(v any) (err error) {
	switch v := v.(type) {
	case resolve.Answer:
		err = j.answer(&v)
	case engine.SearchResult:
		err = j.searchResult(&v)
	default:
		return j.other(v)
	}
	j.b = append(j.b, '\n')
	return err
}

// other encodes a value with encoding/json, which appends a line feed.
func (j *jsonBuffer) other(v any) error {
	enc := json.NewEncoder(j)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// object writes an object field by field. After an error its methods do nothing.
type object struct {
	*jsonBuffer

	some bool
	err  error
}

func (j *jsonBuffer) object(fields func(o *object)) error {
	o := object{jsonBuffer: j}
	j.b = append(j.b, '{')
	fields(&o)
	j.b = append(j.b, '}')
	return o.err
}

// key writes a field name, which must not need escaping.
func (o *object) key(name string) {
	if o.some {
		o.b = append(o.b, ',')
	}
	o.some = true
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) text(name, v string) {
	o.key(name)
	o.b = appendText(o.b, v)
}

// textIf writes a text unless it is empty.
func (o *object) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

func (o *object) number(name string, v int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(v), 10)
}

func (o *object) fraction(name string, v float64) {
	o.key(name)
	o.note(o.appendFraction(v))
}

func (o *object) truth(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// rest writes a rarely used field with encoding/json.
func (o *object) rest(name string, v any) {
	o.key(name)
	o.note(o.value(v))
}

// restIf writes a list unless it is empty.
func restIf[T any](o *object, name string, list []T) {
	if len(list) > 0 {
		o.rest(name, list)
	}
}

func (o *object) note(err error) {
	if o.err == nil {
		o.err = err
	}
}

// each writes a list; a nil list becomes null.
func each[T any](o *object, name string, list []T, one func(*T) error) {
	o.key(name)
	if list == nil {
		o.b = append(o.b, "null"...)
		return
	}
	o.b = append(o.b, '[')
	for i := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.note(one(&list[i]))
	}
	o.b = append(o.b, ']')
}

func (j *jsonBuffer) string(s *string) error {
	j.b = appendText(j.b, *s)
	return nil
}

func (j *jsonBuffer) answer(a *resolve.Answer) error {
	return j.object(func(o *object) {
		each(o, "items", a.Items, j.item)
		o.text("xml", a.XML)
		o.textIf("text", a.Text)
		restIf(o, "blocks", a.Blocks)
		o.textIf("instruction", a.Instruction)
		o.number("total_tokens", a.TotalTokens)
		o.text("tokenizer", a.Tokenizer)
		o.text("format", a.Format)
		o.truth("truncated", a.Truncated)
		each(o, "providers", a.Providers, j.report)
		each(o, "dropped", a.Dropped, j.dropped)
		each(o, "shortened", a.Shortened, j.shortened)
		each(o, "degraded", a.Degraded, j.string)
		o.textIf("note", a.Note)
		restIf(o, "unquoted", a.Unquoted)
		restIf(o, "corrections", a.Corrections)
	})
}

func (j *jsonBuffer) searchResult(r *engine.SearchResult) error {
	return j.object(func(o *object) {
		each(o, "items", r.Items, j.item)
		each(o, "degraded", r.Degraded, j.string)
		restIf(o, "unquoted", r.Unquoted)
		restIf(o, "corrections", r.Corrections)
		if len(r.Times) > 0 {
			o.rest("times", r.Times)
		}
	})
}

func (j *jsonBuffer) item(it *ragctx.ContextItem) error {
	return j.object(func(o *object) {
		o.text("id", it.ID)
		o.text("context_type", string(it.Type))
		o.text("content", it.Content)
		o.number("token_count", it.TokenCount)
		o.fraction("relevance", it.Relevance)
		o.textIf("source", it.Source)
		if len(it.Metadata) > 0 {
			o.key("metadata")
			o.note(o.metadata(it.Metadata))
		}
		o.textIf("provider", it.Provider)
		o.textIf("depth", string(it.Depth))
		if !it.Occurred.IsZero() {
			o.rest("occurred", it.Occurred)
		}
		o.textIf("since", it.Since)
		if len(it.Signals) > 0 {
			o.rest("signals", it.Signals)
		}
		if it.Highlights != nil {
			o.rest("highlights", it.Highlights)
		}
		if it.Importance != 0 {
			o.fraction("importance", it.Importance)
		}
	})
}

// metadata writes an object with arbitrary keys, in their order.
func (j *jsonBuffer) metadata(m map[string]any) error {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		between := byte(',')
		if i == 0 {
			between = '{'
		}
		j.b = append(appendText(append(j.b, between), key), ':')
		if err := j.value(m[key]); err != nil {
			return err
		}
	}
	j.b = append(j.b, '}')
	return nil
}

func (j *jsonBuffer) value(v any) error {
	switch v := v.(type) {
	case string:
		j.b = appendText(j.b, v)
	case int:
		j.b = strconv.AppendInt(j.b, int64(v), 10)
	case float64:
		return j.appendFraction(v)
	case bool:
		j.b = strconv.AppendBool(j.b, v)
	default:
		err := j.other(v)
		j.b = j.b[:max(0, len(j.b)-1)]
		return err
	}
	return nil
}

func (j *jsonBuffer) report(r *resolve.ProviderReport) error {
	return j.object(func(o *object) {
		o.text("name", r.Name)
		o.number("items_returned", r.Returned)
		o.number("items_used", r.Used)
		o.number("tokens", r.Tokens)
		o.fraction("took_ms", r.TookMS)
		if r.Truncated {
			o.truth("truncated", true)
		}
		o.textIf("error", r.Error)
		restIf(o, "degraded", r.Degraded)
		o.textIf("note", r.Note)
		if r.Time != nil {
			o.rest("time", r.Time)
		}
	})
}

func (j *jsonBuffer) dropped(d *resolve.Dropped) error {
	return j.object(func(o *object) {
		o.text("id", d.ID)
		o.text("provider", d.Provider)
		o.text("reason", string(d.Reason))
		o.number("tokens", d.Tokens)
	})
}

func (j *jsonBuffer) shortened(s *resolve.Shortened) error {
	return j.object(func(o *object) {
		o.text("id", s.ID)
		o.text("provider", s.Provider)
		o.text("reason", string(s.Reason))
		o.text("depth", string(s.Depth))
		if s.Cut {
			o.truth("cut", true)
		}
		o.number("tokens_saved", s.Tokens)
	})
}

// appendFraction writes the usual numbers of answers like encoding/json, and leaves others to it.
func (j *jsonBuffer) appendFraction(v float64) error {
	if size := math.Abs(v); v != 0 && !(1e-6 <= size && size < 1e21) {
		err := j.other(v)
		j.b = j.b[:max(0, len(j.b)-1)]
		return err
	}
	j.b = strconv.AppendFloat(j.b, v, 'f', -1, 64)
	return nil
}

// unescaped returns the length of a prefix of ASCII bytes that need no escape. It checks eight
// bytes at a time and may stop early in the last eight.
func unescaped(s string) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(s)-n >= 8; n += 8 {
		e := s[n : n+8]
		x := uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 | uint64(e[4])<<32 | uint64(e[5])<<40 | uint64(e[6])<<48 | uint64(e[7])<<56
		quote, slash := x^('"'*ones), x^('\\'*ones)
		if other := x | (x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash; other&tops != 0 {
			return n + bits.TrailingZeros64(other&tops)/8
		}
	}
	return n
}

const hexDigits = "0123456789abcdef"

// appendText writes a text like encoding/json without HTML escaping.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		if i += unescaped(s[i:]); i == len(s) {
			break
		}
		escape, size := escapeOf(s[i:])
		if escape != "" {
			b = append(append(b, s[done:i]...), escape...)
			done = i + size
		}
		i += size
	}
	return append(append(b, s[done:]...), '"')
}

// escapeOf returns the escape of a text's first character, or "" if it needs none, and the
// character's size in bytes.
func escapeOf(s string) (escape string, size int) {
	if s[0] < utf8.RuneSelf {
		return asciiEscape(s[0]), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`, 1
	case r == '\u2028':
		return `\u2028`, size
	case r == '\u2029':
		return `\u2029`, size
	}
	return "", size
}

func asciiEscape(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if c >= ' ' {
		return ""
	}
	return `\u00` + string([]byte{hexDigits[c>>4], hexDigits[c&15]})
}
