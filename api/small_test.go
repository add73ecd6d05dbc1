package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// TestMediaTypesInAnyCase: types and their parameters are the same in capitals.
func TestMediaTypesInAnyCase(t *testing.T) {
	f := start(t, Options{})
	for _, media := range []string{"Application/JSON", "APPLICATION/JSON; Charset=UTF-8", "application/json ;charset=\"utf-8\"", "application/json; profile=x"} {
		for target, body := range map[string]string{
			"POST /v1/memories": `{"content":"a"}`, "PUT /v1/documents/a.md": `{"text":"words"}`, "POST /v1/search": `{"query":"a"}`,
			"POST /mem0/v1/memories": `{"messages":[{"role":"user","content":"a"}],"user_id":"u"}`, "PATCH /v1/sessions/k": `{}`,
		} {
			method, path, _ := strings.Cut(target, " ")
			if a := f.call(t, method, path, body, "Content-Type: "+media); a.status == http.StatusUnsupportedMediaType || a.status >= 500 {
				t.Errorf("%s as %q: %d %s", target, media, a.status, a.body)
			}
		}
	}
	if a := f.call(t, "PUT", "/v1/documents/b.html", "<p>words</p>", "Content-Type: Text/HTML; Charset=UTF-8"); a.status != http.StatusCreated {
		t.Errorf("a file: %d %s", a.status, a.body)
	}
}

// TestFirstKey: what cannot make other keys is not the first.
func TestFirstKey(t *testing.T) {
	f := start(t, Options{})
	for _, k := range []access.Key{
		{Name: "r", Role: access.Read},
		{Name: "w", Role: access.Write},
		{Name: "u", Role: access.Write, User: "ada"},
		{Name: "n", Role: access.Admin, Namespaces: []string{"team"}},
	} {
		_, err := f.client.CreateKey(t.Context(), k)
		if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "first make a key with the role admin for all namespaces") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if f.eng.Keys().Needed() {
		t.Error("there is a key")
	}
	admin, err := f.client.CreateKey(t.Context(), access.Key{Name: "ops", Role: access.Admin})
	if err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "POST", "/v1/keys", `{"name":"r","role":"read"}`, "X-API-Key: "+admin.Text); a.status != http.StatusCreated {
		t.Errorf("the second key: %d %s", a.status, a.body)
	}
}

// TestUnknownOutcome: a change that fails on its way to the disk may be there after all, and
// the answer says so; a question, or a change that a full disk has refused, is not.
func TestUnknownOutcome(t *testing.T) {
	f := start(t, Options{})
	failed := fmt.Errorf("%w: disk I/O error", ragctx.ErrUnavailable)
	for op, want := range map[*huma.Operation]bool{
		{Method: http.MethodPut, OperationID: "put-document"}: true, {Method: http.MethodPost, OperationID: "remember"}: true,
		{Method: http.MethodGet, OperationID: "get-document"}: false, {Method: http.MethodPost, OperationID: "search"}: false,
	} {
		p := f.problemOf(t.Context(), op, failed)
		if p.Status != http.StatusServiceUnavailable || strings.Contains(p.Detail, "Idempotency-Key") != want {
			t.Errorf("%s: %d %s", op.OperationID, p.Status, p.Detail)
		}
		if p := f.problemOf(t.Context(), op, ragctx.ErrNoSpace); strings.Contains(p.Detail, "Idempotency-Key") {
			t.Errorf("%s: %s", op.OperationID, p.Detail)
		}
	}
}
