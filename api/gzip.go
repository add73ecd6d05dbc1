package api

import (
	"cmp"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"
)

const (
	// minCompressed is the smallest answer worth compressing: below it, one packet suffices in
	// any case.
	minCompressed = 1 << 10
	// maxBuffered is the size up to which an answer is buffered and sent with its length: in pieces,
	// an answer of 30 kB takes .05 ms longer.
	maxBuffered = 256 << 10
)

// encode compresses answers for callers that accept gzip, and sends others in one piece. Event
// streams, compressed answers, MCP and WebSockets pass unchanged. BREACH does not apply: keys are
// not cookies, so a foreign page cannot send requests with them.
func (s *Server) encode(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, resp := c.Request(), c.Response()
		if r.URL.Path == mcpPath || r.Method == http.MethodHead || r.Header.Get("Upgrade") != "" {
			return next(c)
		}
		resp.Header().Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
		w := &encoder{ResponseWriter: resp.Writer, compress: wantsGzip(r.Header.Values(echo.HeaderAcceptEncoding))}
		resp.Writer = w
		defer func() { resp.Writer = w.ResponseWriter }() // also after a panic of next: then the answer is cut
		err := next(c)
		if err == nil {
			return w.finish()
		}
		if w.status != 0 {
			s.log.WarnContext(r.Context(), "an answer was cut", "error", err)
			panic(http.ErrAbortHandler) // the caller must notice
		}
		return err
	}
}

// wantsGzip reports whether header lines prefer gzip to identity, or accept both equally (RFC 9110,
// 12.5.3).
func wantsGzip(lines []string) bool {
	weights := make(map[string]float64)
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(strings.ToLower(one), ";")
			weights[strings.TrimPrefix(strings.TrimSpace(name), "x-")] = weightOf(params)
		}
	}
	q, named := weights["gzip"]
	if !named {
		q = weights["*"]
	}
	return q > 0 && q >= weights["identity"]
}

// weightOf parses the weight among the parameters of a coding; an invalid weight is 0.
func weightOf(params string) float64 {
	for one := range strings.SplitSeq(params, ";") {
		if v, is := strings.CutPrefix(strings.TrimSpace(one), "q="); is {
			q, err := strconv.ParseFloat(v, 64)
			if err != nil || q > 1 {
				return 0
			}
			return q
		}
	}
	return 1
}

// compressible reports whether a media type is a text sent as a whole.
func compressible(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media == eventsType {
		return false
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media,
		"+json") || media == "application/json" || media == linesType
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

// encoder buffers an answer until its encoding is decided: at [minCompressed] compressible bytes,
// [maxBuffered] others, the first flush, or the end.
type encoder struct {
	http.ResponseWriter

	compress bool // the answer may be compressed
	whole    bool // the next write is the whole answer

	status  int
	held    []byte // bytes before the decision
	decided bool
	gzip    *gzip.Writer // nil for an uncompressed answer
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (w *encoder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. It delays the header until the decision.
func (w *encoder) WriteHeader(status int) {
	if status < http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = cmp.Or(w.status, status)
}

// Write implements [http.ResponseWriter].
func (w *encoder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.decided {
		return w.pass(p)
	}
	enough := maxBuffered
	switch {
	case w.compress:
		enough = minCompressed
	case w.whole && len(w.held) == 0:
		return w.passWhole(p)
	}
	if w.held = append(w.held, p...); len(w.held) < enough {
		return len(p), nil
	}
	return len(p), w.decide(w.compress)
}

// passWhole sends an answer unchanged.
func (w *encoder) passWhole(p []byte) (int, error) {
	w.Header().Set(echo.HeaderContentLength, strconv.Itoa(len(p)))
	if err := w.decide(false); err != nil {
		return 0, err
	}
	return w.pass(p)
}

func (w *encoder) pass(p []byte) (int, error) {
	if w.gzip != nil {
		return w.gzip.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// decide sends the header and the buffered bytes.
func (w *encoder) decide(worth bool) error {
	w.decided = true
	h := w.Header()
	if tag := h.Get(tagHeader); w.compress && strings.HasPrefix(tag, `"`) {
		h.Set(tagHeader, "W/"+tag) // a strong tag identifies exact bytes; a 304 repeats the tag of the full answer
	}
	if worth && w.status != http.StatusPartialContent && h.Get(echo.HeaderContentEncoding) == "" &&
		compressible(h.Get(echo.HeaderContentType)) {
		h.Set(echo.HeaderContentEncoding, "gzip")
		h.Del(echo.HeaderContentLength)
		w.gzip, _ = gzipWriters.Get().(*gzip.Writer)
		w.gzip.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.status)
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.pass(w.held)
	w.held = nil
	return err
}

// FlushError sends the buffered bytes, for [http.ResponseController].
func (w *encoder) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.decided {
		if err := w.decide(w.compress); err != nil {
			return err
		}
	}
	if w.gzip != nil {
		if err := w.gzip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// finish ends a complete answer.
func (w *encoder) finish() error {
	if w.status == 0 {
		return nil
	}
	var err error
	if !w.decided {
		if h := w.Header(); len(w.held) > 0 && h.Get(echo.HeaderContentLength) == "" {
			h.Set(echo.HeaderContentLength, strconv.Itoa(len(w.held)))
		}
		err = w.decide(false)
	}
	if w.gzip != nil {
		err = w.gzip.Close()
		gzipWriters.Put(w.gzip)
	}
	return err
}
