package api

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

const jsonType = "application/json"

// admit passes a request to its handler if the caller has the role and the query string and body
// are valid. Bodies are checked here against the OpenAPI schema instead of by huma; see checker.
func (s *Server) admit(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	op := ctx.Operation()
	held := new(heldBody)
	var made change
	defer func() { s.noteChange(c, op, held.data, made) }()
	if role := roleOf(op.OperationID); role > access.None {
		if err := access.From(ctx.Context()).RequireRole(role); err != nil {
			s.handleError(s.problemOf(ctx.Context(), op, err), c)
			return
		}
	}
	if faults := append(checkPath(c.Param, op), checkQuery(c.QueryParams(), op)...); len(faults) > 0 {
		s.handleError(invalid(faults...), c)
		return
	}
	made.understood = true
	s.defaultNamespaceInQuery(c, op)
	ctx = huma.WithValue(huma.WithValue(ctx, operationKey, op), changeKey, &made)
	if op.RequestBody != nil {
		onlyForm := op.RequestBody.Content[formType] != nil && len(op.RequestBody.Content) == 1
		if op.RequestBody.Content[jsonType] == nil && !onlyForm {
			s.admitLines(ctx, op, next)
			return
		}
		memory := s.bodies.reserve(op.OperationID)
		defer memory.release()
		var p *Problem
		var body []byte
		if onlyForm || op.RequestBody.Content[anyFile] != nil && isFile(c.Request().Header) {
			body, p = s.readFile(c, op, memory)
		} else if body, p = s.readBody(c, op, memory); p == nil {
			if p = s.checkBody(body, op); p == nil {
				body, p = s.namespaceInBody(c, op, body)
			}
		}
		if p != nil {
			s.handleError(p, c)
			return
		}
		held.put(body)
		c.Request().Body = held
	}
	leave, err := s.compute(ctx.Context(), op)
	if err != nil {
		s.handleError(s.problemOf(ctx.Context(), op, err), c)
		return
	}
	defer leave()
	if passing, has := taggedFields[op.OperationID]; has {
		s.conditional(c, passing, func() { next(ctx) })
		return
	}
	err = s.once(c, op, held.data, func(seed string) { next(huma.WithValue(ctx, seedKey, seed)) })
	if err != nil {
		s.handleError(err, c)
	}
}

// heldBody is a validated body, readable by a handler.
type heldBody struct {
	bytes.Reader

	data []byte
}

// Close implements [io.Closer].
func (*heldBody) Close() error { return nil }

// put replaces the body.
func (b *heldBody) put(data []byte) {
	b.data = data
	b.Reset(data)
}

// take returns the body and gives up its ownership.
func (b *heldBody) take() []byte {
	data := b.data
	b.put(nil)
	return data
}

// admitLines passes a request to a handler that streams the body.
func (s *Server) admitLines(ctx huma.Context, op *huma.Operation, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	if op.OperationID != importSession || !hasKey(c.Request()) {
		next(ctx) // a bulk request handles its idempotency key itself
		return
	}
	err := s.importSessionOnce(c, op, func(seed string) { next(huma.WithValue(ctx, seedKey, seed)) })
	if err != nil {
		s.handleError(err, c)
	}
}

// readBody returns the JSON body of a request, if it has one.
func (s *Server) readBody(c echo.Context, op *huma.Operation, memory *reservation) ([]byte, *Problem) {
	r := c.Request()
	if p := checkContentType(r.Header); p != nil {
		return nil, p
	}
	return s.readAll(c, op, memory, s.opts.MaxBodyBytes, "split the text into several documents")
}

// readAll returns a body of at most limit bytes.
func (s *Server) readAll(c echo.Context, op *huma.Operation, memory *reservation, limit int64,
	remedy string,
) ([]byte, *Problem) {
	r := c.Request()
	if r.ContentLength > limit {
		return nil, tooLarge(c, limit, remedy)
	}
	// The writer under echo's closes the connection if the body is longer.
	body, err := readReserved(r.Context(), memory, http.MaxBytesReader(c.Response().Writer, r.Body, limit),
		r.ContentLength, limit)
	if p := s.unread(c, op, err, remedy); p != nil {
		return nil, p
	}
	return body, nil
}

// unread returns the problem of an unreadable body or of exhausted memory, or nil if err is nil.
func (s *Server) unread(c echo.Context, op *huma.Operation, err error, remedy string) *Problem {
	_, refused := errors.AsType[*Problem](err)
	_, refusedForGood := errors.AsType[*ragctx.FieldError](err)
	switch {
	case err == nil:
		return nil
	case refused || refusedForGood:
		return s.problemOf(c.Request().Context(), op, err)
	}
	return bodyProblem(c, err, remedy)
}

// bodyProblem translates the error that interrupted a body. remedy is the advice for a body that is
// too long.
func bodyProblem(c echo.Context, err error, remedy string) *Problem {
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(c, long.Limit, remedy)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return newProblem(http.StatusRequestTimeout, "timeout",
			"the body did not arrive in time; send it faster or in smaller parts")
	}
	code, _ := ragctx.CodeOf(ragctx.ErrInvalid)
	return newProblem(http.StatusBadRequest, string(code), "the body broke off",
		Fault{Location: "body", Message: "ends too early; nothing of it is stored, send it again"})
}

func tooLarge(c echo.Context, limit int64, remedy string) *Problem {
	c.Response().Header().Set("Connection", "close") // the rest is not read
	code, status := ragctx.CodeOf(ragctx.ErrTooLarge)
	return newProblem(status, string(code), "the body is too large",
		Fault{Location: "body", Message: fmt.Sprintf("is longer than the limit of %d bytes; %s", limit, remedy)})
}

func checkContentType(h http.Header) *Problem {
	value := h.Get(echo.HeaderContentType)
	if plain := len(h.Values(echo.HeaderContentType)) == 1 && h.Get(echo.HeaderContentEncoding) == ""; plain &&
		value == jsonType {
		return nil // the usual case
	}
	media, params, err := mime.ParseMediaType(value)
	charset, named := params["charset"]
	if err == nil && media == jsonType && (!named || strings.EqualFold(charset, "utf-8")) &&
		len(h.Values(echo.HeaderContentType)) == 1 && h.Get(echo.HeaderContentEncoding) == "" {
		h.Set(echo.HeaderContentType, jsonType) // the form that later readers expect
		return nil
	}
	f := Fault{Location: "header.Content-Type", Message: fmt.Sprintf("is %q; send application/json in UTF-8",
		ragctx.Clip(value))}
	if encoding := h.Get(echo.HeaderContentEncoding); encoding != "" {
		f = Fault{Location: "header.Content-Encoding", Message: fmt.Sprintf("is %q; send the body uncompressed",
			ragctx.Clip(encoding))}
	}
	return newProblem(http.StatusUnsupportedMediaType, codeMediaType, "the body has an unsupported content type", f)
}

func badBody(f Fault) *Problem {
	code, _ := ragctx.CodeOf(ragctx.ErrInvalid)
	return newProblem(http.StatusBadRequest, string(code), "the body is not valid JSON", f)
}

// checkBody checks a body against the schema that op documents.
func (s *Server) checkBody(body []byte, op *huma.Operation) *Problem {
	schema := op.RequestBody.Content[jsonType].Schema
	faults, err := checkJSON(body, schema, s.api.OpenAPI().Components.Schemas)
	if err != nil {
		return badBody(err.Fault)
	}
	if len(faults) > 0 {
		return invalid(faults...)
	}
	return nil
}
