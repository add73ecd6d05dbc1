package api

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestProceduresOverHTTP leads a procedure of a user through its life.
func TestProceduresOverHTTP(t *testing.T) {
	f := start(t, Options{})
	c, ctx := f.client, t.Context()
	k := engine.ProcedureKey{Namespace: "n", Name: "roll-back-heron", ProcedureOwner: ragctx.ProcedureOwner{UserID: "a/b", AgentID: "x"}}
	body := ragctx.ProcedureBody{Trigger: "Roll back heron to {version}", Steps: []string{"one"}, Tools: []string{"rollout"}}
	p, err := c.PutDraft(ctx, k, body)
	if err != nil || p.Draft == nil || p.UserID != "a/b" {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err = c.Publish(ctx, k); err != nil || p.Canonical != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	body.Steps = []string{"two"}
	if _, err = c.PutDraft(ctx, k, body); err != nil {
		t.Fatal(err)
	}
	draft, err := c.PreviewProcedure(ctx, k, 0, true)
	if err != nil || !strings.Contains(draft.Body, "1. two") || draft.ID != "" {
		t.Errorf("%+v, %v", draft, err)
	}
	seen, err := c.PreviewProcedure(ctx, k, 0, false)
	if err != nil || !strings.Contains(seen.Body, "1. one") || seen.Line != "roll-back-heron: Roll back heron to {version}" {
		t.Errorf("%+v, %v", seen, err)
	}
	if p, err = c.Publish(ctx, k); err != nil || p.Canonical != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = c.Rollback(ctx, k, 1); err != nil || p.Canonical != 1 || p.Versions[0].State != ragctx.ProcedureSuperseded {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.Rollback(ctx, k, 2); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("rolled back to what is superseded: %v", err)
	}

	q := ragctx.NewQuery("how do I roll back heron?").WithTypes(ragctx.TypeSkill)
	q.Namespace = "n"
	if a, err := c.Context(ctx, q); err != nil || len(a.Items) != 0 {
		t.Errorf("somebody else sees %+v, %v", a.Items, err)
	}
	q.UserID = "a/b"
	a, err := c.Context(ctx, q)
	if err != nil || len(a.Items) != 1 || a.Items[0].ID != seen.ID {
		t.Fatalf("%+v, %v", a.Items, err)
	}

	item := into[Item](t, f.call(t, "GET", "/v1/items/"+url.PathEscape(seen.ID)+"?namespace=n", ""), 200)
	if item.Type != ragctx.TypeSkill || item.Text != seen.Body || item.Version != 1 {
		t.Errorf("%+v", item)
	}
	f.call(t, "GET", "/v1/items/procedure:roll-back-heron?namespace=n", "").problem(t) // nobody's is none

	changes, err := c.ProcedureHistory(ctx, k)
	if err != nil || len(changes) != 5 || changes[4].Op != ragctx.OpRolledBack || changes[4].Before != 2 {
		t.Errorf("%+v, %v", changes, err)
	}
	if p, err = c.Unpublish(ctx, k); err != nil || p.Canonical != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := c.DeleteDraft(ctx, k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a draft that does not exist: %v", err)
	}
	if err := c.EraseProcedure(ctx, k); err != nil {
		t.Error(err)
	}
	if p, err = c.Procedure(ctx, k); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestListProceduresByPage(t *testing.T) {
	c := start(t, Options{}).client
	for _, name := range []string{"b", "a", "c"} {
		if _, err := c.PutDraft(t.Context(), engine.ProcedureKey{Name: name}, ragctx.ProcedureBody{Trigger: "t", Steps: []string{"s"}}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	f := store.ProcedureFilter{Limit: 1}
	for {
		page, err := c.ListProcedures(t.Context(), "", f)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		names, f.After = append(names, page[0].Name), page[0]
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Error(names)
	}
	f = store.ProcedureFilter{State: ragctx.ProcedurePublished}
	if page, err := c.ListProcedures(t.Context(), "", f); err != nil || len(page) != 0 {
		t.Errorf("published: %+v, %v", page, err)
	}
}
