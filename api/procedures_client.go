package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/procedures"
)

// ListProcedures calls [engine.Procedures.List] on the server.
func (c *Client) ListProcedures(ctx context.Context, namespace string, f store.ProcedureFilter) ([]ragctx.ProcedureEntry, error) {
	q := in(namespace)
	set(q, "user_id", f.UserID)
	set(q, "agent_id", f.AgentID)
	set(q, "state", string(f.State))
	if f.AnyUser {
		q.Set("all_users", "true")
	}
	setPage(q, proceduresPath, f.Limit, procedureCursor{f.After.Name, f.After.UserID, f.After.AgentID})
	var page procedurePage
	err := c.do(ctx, http.MethodGet, proceduresPath, q, nil, &page)
	return page.Procedures, err
}

// Procedure calls [engine.Procedures.Get] on the server.
func (c *Client) Procedure(ctx context.Context, k engine.ProcedureKey) (ragctx.Procedure, error) {
	return c.procedure(ctx, http.MethodGet, k, "", nil)
}

// PutDraft calls [engine.Procedures.PutDraft] on the server.
func (c *Client) PutDraft(ctx context.Context, k engine.ProcedureKey, b ragctx.ProcedureBody) (ragctx.Procedure, error) {
	return c.procedure(ctx, http.MethodPut, k, "/draft", draftRequest(procedures.TrimBody(b)))
}

// DeleteDraft calls [engine.Procedures.DeleteDraft] on the server.
func (c *Client) DeleteDraft(ctx context.Context, k engine.ProcedureKey) error {
	return c.do(ctx, http.MethodDelete, procedureAt(k, "/draft"), owned(k), nil, nil)
}

// Publish calls [engine.Procedures.Publish] on the server.
func (c *Client) Publish(ctx context.Context, k engine.ProcedureKey) (ragctx.Procedure, error) {
	return c.procedure(ctx, http.MethodPost, k, ":publish", nil)
}

// Unpublish calls [engine.Procedures.Unpublish] on the server.
func (c *Client) Unpublish(ctx context.Context, k engine.ProcedureKey) (ragctx.Procedure, error) {
	return c.procedure(ctx, http.MethodPost, k, ":unpublish", nil)
}

// Rollback calls [engine.Procedures.Rollback] on the server.
func (c *Client) Rollback(ctx context.Context, k engine.ProcedureKey, version int) (ragctx.Procedure, error) {
	return c.procedure(ctx, http.MethodPost, k, ":rollback", map[string]int{"version": version})
}

// PreviewProcedure calls [engine.Procedures.Preview] on the server.
func (c *Client) PreviewProcedure(ctx context.Context, k engine.ProcedureKey, version int,
	draft bool,
) (procedures.ProcedurePreview, error) {
	q := owned(k)
	if version != 0 {
		q.Set("version", strconv.Itoa(version))
	}
	if draft {
		q.Set("draft", "true")
	}
	var p procedures.ProcedurePreview
	return p, c.do(ctx, http.MethodGet, procedureAt(k, "/preview"), q, nil, &p)
}

// ProcedureHistory calls [engine.Procedures.History] on the server.
func (c *Client) ProcedureHistory(ctx context.Context, k engine.ProcedureKey) ([]ragctx.ProcedureChange, error) {
	var changes procedureChanges
	err := c.do(ctx, http.MethodGet, procedureAt(k, "/history"), owned(k), nil, &changes)
	return changes.Changes, err
}

// EraseProcedure calls [engine.Procedures.Erase] on the server.
func (c *Client) EraseProcedure(ctx context.Context, k engine.ProcedureKey) error {
	q := owned(k)
	q.Set("erase", "true")
	return c.do(ctx, http.MethodDelete, procedureAt(k, ""), q, nil, nil)
}

func (c *Client) procedure(ctx context.Context, method string, k engine.ProcedureKey, what string, body any) (ragctx.Procedure, error) {
	var p ragctx.Procedure
	return p, c.do(ctx, method, procedureAt(k, what), owned(k), body, &p)
}

func procedureAt(k engine.ProcedureKey, what string) string {
	return proceduresPath + "/" + escaped(k.Name) + what
}

func owned(k engine.ProcedureKey) url.Values {
	q := in(k.Namespace)
	set(q, "user_id", k.UserID)
	set(q, "agent_id", k.AgentID)
	return q
}
