package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

const auditPath = "/v1/audit"

// auditPage is a page of the audit log.
type auditPage struct {
	Entries    []store.AuditEntry `json:"entries" nullable:"false" doc:"newest first"`
	NextCursor string             `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type auditInput struct {
	Namespace string `query:"namespace" maxLength:"512" doc:"only entries of this namespace"`
	Key       string `query:"key_id" maxLength:"64" doc:"only requests made with this API key"`
	Page
}

type auditOutput struct{ Body auditPage }

type auditCursor struct {
	Before int64 `json:"before"`
}

func (s *Server) auditRoutes() {
	register(s, huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: auditPath, Tags: []string{administrationGroup},
		Summary: "List the audit log",
		Description: "The audit log records every request that needs a role above read, with its status, " +
			"including refused requests. Refused requests have a quota of their own and cannot displace the " +
			"others. Entries contain names, but no contents. For admins; an admin of some namespaces sees the " +
			"entries of those.",
	}, func(ctx context.Context, in *auditInput) (*auditOutput, error) {
		c, err := decodeCursor[auditCursor](in.Cursor, in.list)
		if err != nil {
			return nil, err
		}
		found, err := s.engine.Admin().AuditLog(ctx, store.AuditFilter{
			Before: c.Before, Limit: in.Limit + 1, Key: in.Key,
			Namespace: in.Namespace,
		})
		if err != nil {
			return nil, err
		}
		found, next := pageOf(in.Page, found, func(e store.AuditEntry) auditCursor { return auditCursor{e.Seq} })
		return &auditOutput{auditPage{found, next}}, nil
	})
}

// change describes an answered request for the audit log.
type change struct {
	understood bool   // it was not refused before its body was read
	target     string // id of the created object
}

// making is implemented by outputs of operations that create an object whose id is not in the path.
type making interface{ made() string }

func (o *newKeyOutput) made() string    { return o.Body.ID }
func (o *memoryPutOutput) made() string { return o.Body.ID }
func (o *turnOutput) made() string      { return o.Body.ID }
func (o *jobOutput) made() string       { return o.Body.ID }
func (o *bulkOutput) made() string      { return o.Body.ID }
func (o *namespaceOutput) made() string { return o.Body.Name }

// noteMade records the id of the object that a handler created.
func noteMade(ctx context.Context, out any) {
	if m, ok := out.(making); ok {
		if c, ok := ctx.Value(changeKey).(*change); ok {
			c.target = m.made()
		}
	}
}

// noteChange records an answered request in the audit log if its operation changes data.
func (s *Server) noteChange(c echo.Context, op *huma.Operation, body []byte, made change) {
	if op.Method == http.MethodGet && op.OperationID != "snapshot" || roleOf(op.OperationID) <= access.Read {
		return
	}
	r, resp := c.Request(), c.Response()
	e := store.AuditEntry{
		Key: access.From(r.Context()).Key, Request: requestID(r.Context()), Operation: op.OperationID, Status: resp.Status,
		Namespace: s.namespaceAbout(c, op, body, made.understood), Target: ragctx.Clip(made.target),
	}
	if !resp.Committed {
		e.Status = http.StatusInternalServerError // the handler panicked
	}
	e.Erases = e.Status < http.StatusMultipleChoices && r.URL.Query().Get("erase") == "true" && takes(op, "erase")
	if isInside(r.Context()) && !e.Erases { // an entry about an erasure removes the erased ids from older entries
		return
	}
	if values := c.ParamValues(); len(values) > 0 {
		e.Target = ragctx.Clip(values[len(values)-1]) // routes of [members] end with the owner's id
	}
	s.engine.Admin().Audit(e)
}

// takes reports whether an operation has a query parameter.
func takes(op *huma.Operation, name string) bool {
	return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
}

// namespaceAbout returns the namespace of a request, or "" if its operation has none. It reads the
// body only if the namespace may be there. For an unread body it returns the only namespace of the
// key, if there is exactly one.
func (s *Server) namespaceAbout(c echo.Context, op *huma.Operation, body []byte, understood bool) string {
	known := takes(op, "namespace") || takes(op, "project_id")
	name := cmp.Or(c.QueryParam("namespace"), c.QueryParam("project_id"))
	if name == "" && op.RequestBody != nil && op.RequestBody.Content[jsonType] != nil {
		fields := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
		if fields != nil && (fields.Properties["namespace"] != nil || fields.Properties["project_id"] != nil) {
			var in struct {
				Namespace string `json:"namespace"`
				Project   string `json:"project_id"`
			}
			if own := access.From(c.Request().Context()).Namespaces; !understood && len(own) == 1 {
				return ragctx.Clip(own[0])
			} else if !understood {
				return ""
			}
			_ = json.Unmarshal(body, &in) // if it is not JSON, the request was refused
			name, known = cmp.Or(in.Namespace, in.Project), true
		}
	}
	if of := c.Param("name"); !known && of != "" && strings.HasPrefix(op.Path, namespacesPath) {
		name, known = of, true
	}
	if !known {
		return ""
	}
	return ragctx.Clip(cmp.Or(name, ragctx.DefaultNamespace))
}

// AuditLog calls [engine.Admin.AuditLog] on the server.
func (c *Client) AuditLog(ctx context.Context, f store.AuditFilter) ([]store.AuditEntry, error) {
	q := make(url.Values)
	set(q, "namespace", f.Namespace)
	set(q, "key_id", f.Key)
	setPage(q, auditPath, f.Limit, auditCursor{f.Before})
	var page auditPage
	err := c.do(ctx, http.MethodGet, auditPath, q, nil, &page)
	return page.Entries, err
}
