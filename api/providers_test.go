package api

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/providers/remote"
)

// desk is a provider that says its name.
type desk string

func (d desk) Name() string { return string(d) }

func (d desk) Query(context.Context, ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	r.Add(ragctx.ContextItem{ID: string(d), Content: "from " + string(d), Relevance: 0.9})
	return r, nil
}

// TestSessionProvidersOverHTTP leads a session through its providers, whatever its id.
func TestSessionProvidersOverHTTP(t *testing.T) {
	f := startWith(t, engine.Options{SessionProviders: []resolve.Registered{{Provider: desk("crm")}, {Provider: desk("wiki")}}}, Options{})
	c, ctx := f.client, t.Context()
	for _, id := range []string{"s1", "a/b", "a/providers/b", "providers", ".", "..", "a:undo", "x?y#z%2F", "näme"} {
		k := engine.SessionKey{Namespace: "n", UserID: "ann", SessionID: id}
		if _, err := c.SessionProviders(ctx, k); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s: unknown: %v", id, err)
		}
		if added, err := c.UseProvider(ctx, k, "wiki"); err != nil || !added {
			t.Fatalf("%s: %v, %v", id, added, err)
		}
		if added, err := c.UseProvider(ctx, k, "wiki"); err != nil || added {
			t.Errorf("%s: again: %v, %v", id, added, err)
		}
		if _, err := c.UseProvider(ctx, k, "erp"); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s: not offered: %v", id, err)
		}
		list, err := c.SessionProviders(ctx, k)
		if err != nil || len(list) != 1 || list[0].Name != "wiki" || !list[0].Available {
			t.Errorf("%s: %+v, %v", id, list, err)
		}
		q := ragctx.NewQuery("q").WithSessionID(id)
		q.Namespace, q.UserID = "n", "ann"
		if a, err := c.Context(ctx, q); err != nil || !strings.Contains(a.XML, "from wiki") || strings.Contains(a.XML, "from crm") {
			t.Errorf("%s: %s, %v", id, a.XML, err)
		}
		if err := c.RemoveProvider(ctx, k, "crm"); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s: removed a provider that it does not have: %v", id, err)
		}
		if err := c.RemoveProvider(ctx, k, "wiki"); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if list, err := c.SessionProviders(ctx, k); err != nil || len(list) != 0 {
			t.Errorf("%s: left: %+v, %v", id, list, err)
		}
	}
	for _, path := range []string{"/v1/sessions/s1/providers/", "/v1/sessions//providers/crm", "/v1/sessions/s1/providers/a%2Fb"} {
		if a := f.call(t, "PUT", path, ""); a.status < 400 || a.status >= 500 {
			t.Errorf("PUT %s: %d %s", path, a.status, a.body)
		}
	}
}

// TestListProviders: what there is is told, and nothing secret.
func TestListProviders(t *testing.T) {
	p, err := remote.New(remote.Options{Name: "crm", URL: "http://127.0.0.1:1/hush", Secret: "hush-hush-hush-hush", FailureMode: ragctx.FailClosed})
	if err != nil {
		t.Fatal(err)
	}
	f := startWith(t, engine.Options{Providers: []resolve.Registered{{Provider: p, Timeout: p.Patience()}}}, Options{})
	list, err := f.client.ListProviders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := engine.ProviderInfo{
		Name: "crm", Kind: "remote", Scope: engine.ScopeGlobal, FailureMode: "fail_closed", TimeoutMS: 2000, Breaker: &engine.BreakerInfo{State: "closed"},
	}
	if d := cmp.Diff(want, list[len(list)-1]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if a := f.call(t, "GET", "/v1/providers", ""); strings.Contains(a.body, "hush") || strings.Contains(a.body, "127.0.0.1") {
		t.Errorf("tells %s", a.body)
	}
}
