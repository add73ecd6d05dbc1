package api

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// jsonFormat is huma's JSON format, except that an answer is encoded before its first byte is sent:
// an error leaves no half answer, and the length is known.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// maxPooledBuffer is the capacity up to which a buffer is used again.
const maxPooledBuffer = 1 << 20

var jsonBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// writeJSON writes v as JSON in one call, without escaping for HTML.
func writeJSON(w io.Writer, v any) error {
	b, _ := jsonBuffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Reset(); b.Cap() <= maxPooledBuffer {
			jsonBuffers.Put(b)
		}
	}()
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if r, ok := w.(*echo.Response); ok {
		if e, ok := r.Writer.(*encoder); ok {
			e.whole = true
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
