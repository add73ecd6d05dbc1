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
	// leastCompressed is how many bytes an answer has at least to be worth compressing:
	// below, it is one packet in any case.
	leastCompressed = 1 << 10
	// mostHeld is how many bytes of an answer are held to be sent as a whole, with its
	// length: in pieces, an answer of 30 kB takes .05 ms longer.
	mostHeld = 256 << 10
)

// encode sends answers in gzip to callers who ask for that, and others as a whole. Streams of
// events stay as they are, and so do answers that are compressed already, or that MCP or a
// WebSocket give. What a page could learn from the length of an answer (BREACH) it cannot
// ask for: keys are no cookies, which a browser would send by itself.
func (s *Server) encode(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, resp := c.Request(), c.Response()
		if r.URL.Path == mcpPath || r.Method == http.MethodHead || r.Header.Get("Upgrade") != "" {
			return next(c)
		}
		resp.Header().Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
		w := &encoder{ResponseWriter: resp.Writer, compress: wantsGzip(r.Header.Values(echo.HeaderAcceptEncoding))}
		resp.Writer = w
		defer func() { resp.Writer = w.ResponseWriter }() // also when next panics: then the answer is cut
		err := next(c)
		if err == nil {
			return w.finish()
		}
		if w.status != 0 {
			s.log.WarnContext(r.Context(), "an answer was cut", "error", err)
			panic(http.ErrAbortHandler) // the caller must see it
		}
		return err
	}
}

// wantsGzip reports whether header lines ask for gzip (RFC 9110, 12.5.3) at least as
// much as for an answer as it is.
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

// weightOf reads the weight among the parameters of a coding; one that makes no sense
// is 0, which asks for nothing.
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

// compressible reports whether answers of a type are texts that are sent as a whole.
func compressible(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media == eventsType {
		return false
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || media == "application/json" || media == linesType
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

// encoder holds an answer back until it is decided how it is sent: when it has
// [leastCompressed] bytes that can be compressed, or [mostHeld] that cannot, with the
// first flush, or with its end.
type encoder struct {
	http.ResponseWriter

	compress bool // if that is worth while
	whole    bool // what is written next is all of the answer

	status  int
	held    []byte // what comes before it is decided
	decided bool
	gzip    *gzip.Writer // nil if the answer stays as it is
}

// Unwrap returns the writer underneath, for [http.ResponseController].
func (w *encoder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. The header is sent once it is decided
// how.
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
	enough := mostHeld
	switch {
	case w.compress:
		enough = leastCompressed
	case w.whole && len(w.held) == 0:
		return w.passWhole(p)
	}
	if w.held = append(w.held, p...); len(w.held) < enough {
		return len(p), nil
	}
	return len(p), w.decide(w.compress)
}

// passWhole sends an answer as it is.
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

// decide sends the header, and what was held.
func (w *encoder) decide(worth bool) error {
	w.decided = true
	h := w.Header()
	if tag := h.Get(tagHeader); w.compress && strings.HasPrefix(tag, `"`) {
		h.Set(tagHeader, "W/"+tag) // a strong one is of the very bytes; a 304 has that of the answer that it stands for
	}
	if worth && w.status != http.StatusPartialContent && h.Get(echo.HeaderContentEncoding) == "" && compressible(h.Get(echo.HeaderContentType)) {
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

// FlushError sends what there is, for [http.ResponseController].
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

// finish ends an answer that was given in full.
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
