package api

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxPlainError limits the text of a plain error.
const maxPlainError = 1 << 10

// plainErrors holds back plain-text errors of a handler, as [http.Error] writes them, so that they
// can be sent as problems. Everything else passes through.
type plainErrors struct {
	http.ResponseWriter

	status int // status of a held error; 0 is none
	text   strings.Builder
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (w *plainErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher].
func (w *plainErrors) Flush() {
	if w.status == 0 {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // without support there is nothing to flush
	}
}

// WriteHeader implements [http.ResponseWriter].
func (w *plainErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get(echo.HeaderContentType), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *plainErrors) Write(b []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(b)
	}
	w.text.Write(b[:min(len(b), maxPlainError-min(w.text.Len(), maxPlainError))])
	return len(b), nil
}

// problem returns the held error, or nil.
func (w *plainErrors) problem() error {
	if w.status == 0 {
		return nil
	}
	w.Header().Del(echo.HeaderContentLength)
	detail := strings.ToValidUTF8(strings.TrimSpace(w.text.String()), "")
	return newProblem(w.status, codeOfStatus(w.status), cmp.Or(detail, http.StatusText(w.status)))
}

// codeOfStatus returns the problem code of a status.
func codeOfStatus(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthenticated"
	case http.StatusForbidden:
		return "denied"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusMethodNotAllowed:
		return codeMethod
	case http.StatusConflict:
		return "conflict"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnsupportedMediaType:
		return codeMediaType
	}
	if status >= http.StatusInternalServerError {
		return "internal"
	}
	return "invalid"
}
