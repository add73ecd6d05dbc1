package api

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxPlainError bounds what is kept of an error that comes as plain text.
const maxPlainError = 1 << 10

// plainErrors holds back errors that a handler writes as plain text, as [http.Error] does,
// so that they can be sent as problems. All else passes through.
type plainErrors struct {
	http.ResponseWriter

	status int // of an error that was held back; 0 is none
	text   strings.Builder
}

// Unwrap is for [http.ResponseController].
func (w *plainErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher].
func (w *plainErrors) Flush() {
	if w.status == 0 {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // where it cannot be, it need not be
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

// problem returns the error that was held back; nil is none.
func (w *plainErrors) problem() error {
	if w.status == 0 {
		return nil
	}
	w.Header().Del(echo.HeaderContentLength)
	detail := strings.ToValidUTF8(strings.TrimSpace(w.text.String()), "")
	return newProblem(w.status, codeOfStatus(w.status), cmp.Or(detail, http.StatusText(w.status)))
}

// codeOfStatus returns the code that problems of a status have.
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
