package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/stage"
)

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type   string `json:"type" doc:"urn:ragctx:error: and the code" example:"urn:ragctx:error:invalid"`
	Title  string `json:"title" doc:"meaning of the status" example:"Unprocessable Entity"`
	Status int    `json:"status" doc:"HTTP status" example:"422"`
	Detail string `json:"detail" doc:"description for people" example:"the request has an invalid value: body.limit is 0; use 1 to 1000"`
	// Code is the stable kind of error for programs.
	Code      string  `json:"code" example:"invalid"`
	RequestID string  `json:"request_id" doc:"id of the request in the server's log"`
	Errors    []Fault `json:"errors" nullable:"false" doc:"errors of single fields"`

	retryAfter int    // seconds until a retry may succeed; 0 is unknown
	cause      error  // the engine's error, visible only to callers in this process
	mediaType  string // of another API; "" is problemType
}

// Fault is the error of one field of a request.
type Fault struct {
	Location string `json:"location" example:"body.max_tokens"`
	Message  string `json:"message" doc:"the mistake, the limit and the remedy" example:"is 0; use 1 to 10000000"`
}

// Codes of HTTP errors without a counterpart in the engine.
const (
	codeMethod    = "method_not_allowed"
	codeMediaType = "unsupported_media_type"
)

// newProblem returns a problem. The detail also has a single fault, because many clients show the detail alone.
func newProblem(status int, code, detail string, faults ...Fault) *Problem {
	title := http.StatusText(status)
	if title == "" {
		title = "Client Closed Request" // 499 has no registered text
	}
	if faults == nil {
		faults = []Fault{}
	}
	if len(faults) == 1 {
		detail += ": " + faults[0].Location + " " + faults[0].Message
	}
	return &Problem{
		Type: "urn:ragctx:error:" + code, Title: title, Status: status, Detail: detail, Code: code, Errors: faults,
	}
}

// invalid returns the problem of a request with invalid values.
func invalid(faults ...Fault) *Problem {
	detail := "the request has an invalid value"
	if len(faults) > 1 {
		detail = "the request has invalid values"
	}
	code, status := ragctx.CodeOf(ragctx.ErrInvalid)
	return newProblem(status, string(code), detail, faults...)
}

// Error implements error.
func (p *Problem) Error() string {
	if len(p.Errors) == 1 && strings.HasSuffix(p.Detail, p.Errors[0].Message) {
		return p.Detail // same as the detail
	}
	var b strings.Builder
	b.WriteString(p.Detail)
	for i, f := range p.Errors {
		b.WriteString([...]string{": ", "; "}[min(i, 1)])
		b.WriteString(f.Location + " " + f.Message)
	}
	return b.String()
}

// Unwrap returns the sentinel error of the code, or nil.
func (p *Problem) Unwrap() error {
	for _, err := range [...]error{
		ragctx.ErrInvalid, ragctx.ErrNotFound, ragctx.ErrConflict, ragctx.ErrPrecondition, ragctx.ErrTooLarge,
		ragctx.ErrDenied,
		ragctx.ErrUnauthenticated, ragctx.ErrQuota, ragctx.ErrLimited,
		ragctx.ErrUnavailable, ragctx.ErrNoSpace, ragctx.ErrProvider, ragctx.ErrStage, context.DeadlineExceeded,
		context.Canceled,
	} {
		if code, _ := ragctx.CodeOf(err); string(code) == p.Code {
			return err
		}
	}
	if p.Code == codeMethod || p.Code == codeMediaType {
		return ragctx.ErrInvalid
	}
	return nil
}

// GetStatus implements [huma.StatusError].
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements [huma.ContentTypeFilter].
func (p *Problem) ContentType(string) string { return cmp.Or(p.mediaType, problemType) }

const problemType = "application/problem+json"

// problemOf translates an error of the engine. The answer contains only what helps the caller; the
// log has the rest.
func (s *Server) problemOf(ctx context.Context, op *huma.Operation, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if ctx.Err() != nil {
		err = ctx.Err() // the caller has disconnected, which explains any error
	}
	code, status := ragctx.CodeOf(err)
	if status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "request failed", "request_id", requestID(ctx), "code", string(code), "error", err)
	}
	p := newProblem(status, string(code), detailOf(status, err))
	p.cause = err
	if foreign(op.Path, p) != nil {
		p.mediaType = jsonType
	}
	if status >= http.StatusInternalServerError && !errors.Is(err, ragctx.ErrNoSpace) && isWrite(op) {
		p.Detail += unknownOutcome
	}
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		p.Detail = f.Error()
		p.Errors = []Fault{{Location: s.locate(op, f.Field), Message: f.Problem}}
	}
	return p
}

// unknownOutcome is added if a change failed while writing to disk, because it may exist after a
// restart.
const unknownOutcome = "; it is unknown whether the change was made: repeat it with the same Idempotency-Key, " +
	"and it is made at most once"

// detailOf returns the part of an error text that is meant for callers.
func detailOf(status int, err error) string {
	switch {
	case status == http.StatusServiceUnavailable:
		if repair, ok := errors.AsType[*ragctx.RepairError](err); ok {
			return repair.Problem
		}
		return "the server cannot answer now; try again later"
	case status == http.StatusInsufficientStorage:
		return "the server's disk is full; free some space, or delete with erase=true, and try again"
	case errors.Is(err, ragctx.ErrStage):
		if stage, ok := errors.AsType[*stage.ClosedError](err); ok {
			return stage.Error()
		}
		return "a required stage failed; the server's log says why"
	case status == http.StatusBadGateway:
		return "a required context provider failed; the server's log says why"
	case status >= http.StatusInternalServerError:
		return "internal error; the server's log has it under this request id"
	default:
		return err.Error()
	}
}

// locate returns the location in a request of a field of the engine.
func (s *Server) locate(op *huma.Operation, field string) string {
	if field == "body" {
		return field
	}
	if field == "session_id" && strings.HasPrefix(op.Path, sessionsRoot) {
		if op.Path == sessionsRoot {
			return "body.id"
		}
		return "path.id"
	}
	if op.RequestBody != nil && op.RequestBody.Content[jsonType] != nil {
		body := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
		root, _, _ := strings.Cut(field, ".")
		root, _, _ = strings.Cut(root, "[")
		if body.Properties[root] != nil {
			return "body." + field
		}
	}
	for _, p := range op.Parameters {
		if p.Name == field {
			return p.In + "." + field
		}
	}
	return "body." + field
}

// transform converts huma's errors into problems, and adds the request id to every problem.
func (s *Server) transform(ctx huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*Problem)
	if e, theirs := v.(*huma.ErrorModel); theirs {
		p, ok = s.problemOfHuma(ctx, e), true
	}
	if !ok {
		return v, nil
	}
	p.RequestID = requestID(ctx.Context())
	keepCause(ctx.Context(), p)
	if body := foreign(ctx.Operation().Path, p); body != nil {
		ctx.SetHeader(echo.HeaderContentType, jsonType)
		return body, nil
	}
	return p, nil
}

// problemOfHuma translates an error that huma found after our own checks.
func (s *Server) problemOfHuma(ctx huma.Context, e *huma.ErrorModel) *Problem {
	if e.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx.Context(), "request failed", "request_id", requestID(ctx.Context()), "error", e.Detail,
			"errors", e.Errors)
		return newProblem(e.Status, "internal", detailOf(e.Status, e))
	}
	p := newProblem(e.Status, "invalid", e.Detail)
	for _, d := range e.Errors {
		p.Errors = append(p.Errors, Fault{Location: d.Location, Message: d.Message})
	}
	return p
}

// handleError answers echo's errors: unknown routes and methods, and failures before routing.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	ctx := c.Request().Context()
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		p = s.problemOfEcho(c, err)
	}
	p.RequestID = requestID(ctx)
	keepCause(ctx, p)
	maps.Copy(c.Response().Header(), p.GetHeaders())
	mediaType, body := problemType, any(p)
	if other := foreign(c.Request().URL.Path, p); other != nil {
		mediaType, body = jsonType, other
	}
	c.Response().Header().Set(echo.HeaderContentType, mediaType)
	if err := c.JSON(p.Status, body); err != nil {
		s.log.DebugContext(ctx, "write answer", "request_id", p.RequestID, "error", err)
	}
}

func (s *Server) problemOfEcho(c echo.Context, err error) *Problem {
	he, ok := errors.AsType[*echo.HTTPError](err)
	switch {
	case ok && he.Code == http.StatusNotFound && unservedFeature(c.Request().URL.Path) != "":
		return newProblem(he.Code, "not_found", unservedFeature(c.Request().URL.Path)+" are not served; see docs/compatibility.md")
	case ok && he.Code == http.StatusNotFound:
		return newProblem(he.Code, "not_found", "there is no such route; see /openapi.json")
	case ok && he.Code == http.StatusMethodNotAllowed:
		return newProblem(he.Code, codeMethod, "this route does not support the method; use one of "+
			c.Response().Header().Get(echo.HeaderAllow))
	}
	return s.problemOf(c.Request().Context(), &huma.Operation{}, err)
}
