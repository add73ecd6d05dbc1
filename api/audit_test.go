package api

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/access"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// TestAudit: what changes something is noted with who asked, without contents, and names
// of what was erased go.
func TestAudit(t *testing.T) {
	f := startWith(t, engine.Options{PauseJobs: true, KeepAudit: 6}, Options{})
	made, err := f.eng.CreateKey(t.Context(), access.Key{Name: "w", Role: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := f.eng.CreateKey(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	key, json := "X-API-Key: "+made.Text, "Content-Type: application/json"
	f.call(t, "PUT", "/v1/documents/gone?namespace=team", `{"text":"the contents"}`, key, json, "X-Request-Id: req-1")
	f.call(t, "POST", "/v1/memories", `{"content":"the contents","namespace":"team"}`, key, json)
	f.call(t, "POST", "/v1/memories", `{"content":"the contents"}`, key, json, "Idempotency-Key: a")
	f.call(t, "PUT", "/v1/documents/kept", `{"text":3}`, key, json)
	f.call(t, "GET", "/v1/documents/gone?namespace=team", "", key)
	f.call(t, "PUT", "/v1/documents/x?namespace=team", `{"text":"x"}`, "X-API-Key: "+reader.Text, json)
	f.call(t, "PUT", "/v1/documents/x", `{"text":"x"}`, json) // by nobody
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	want := []store.AuditEntry{
		{Key: reader.ID, Operation: "put-document", Namespace: "team", Target: "x", Status: 403},
		{Key: made.ID, Operation: "put-document", Namespace: "default", Target: "kept", Status: 422},
		{Key: made.ID, Operation: "remember", Namespace: "default", Status: 201},
		{Key: made.ID, Operation: "remember", Namespace: "team", Status: 201},
		{Key: made.ID, Operation: "put-document", Namespace: "team", Target: "gone", Status: 201},
	}
	check := func(want []store.AuditEntry) {
		t.Helper()
		got, err := admin.AuditLog(t.Context(), store.AuditFilter{})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d entries, want %d: %+v, %v", len(got), len(want), got, err)
		}
		for i, e := range got {
			if e.At.IsZero() || e.Request == "" || i > 0 && e.Seq >= got[i-1].Seq {
				t.Errorf("entry %+v", e)
			}
			e.Seq, e.At, e.Request = 0, want[i].At, ""
			if e != want[i] {
				t.Errorf("entry %d is %+v, want %+v", i, e, want[i])
			}
		}
	}
	check(want)
	f.call(t, "DELETE", "/v1/documents/gone?namespace=team&erase=true", "", key)
	want[4].Target = ""
	check(append([]store.AuditEntry{{Key: made.ID, Operation: "delete-document", Namespace: "team", Status: 204}}, want...))
	f.call(t, "DELETE", "/v1/documents/none", "", key) // the oldest of more than six go
	check(append([]store.AuditEntry{
		{Key: made.ID, Operation: "delete-document", Namespace: "default", Target: "none", Status: 404},
		{Key: made.ID, Operation: "delete-document", Namespace: "team", Status: 204},
	}, want[:4]...))
	some, err := admin.AuditLog(t.Context(), store.AuditFilter{Key: reader.ID})
	if err != nil || len(some) != 1 {
		t.Errorf("of one key: %+v, %v", some, err)
	}
	first, err := admin.AuditLog(t.Context(), store.AuditFilter{Limit: 2})
	if err != nil || len(first) != 2 {
		t.Fatalf("a page: %+v, %v", first, err)
	}
	if rest, err := admin.AuditLog(t.Context(), store.AuditFilter{Before: first[1].Seq}); err != nil || len(rest) != 4 {
		t.Errorf("the next page: %+v, %v", rest, err)
	}
	if a := f.call(t, "GET", "/v1/audit", "", "X-API-Key: "+adminKey(t, f)); strings.Contains(a.body, "contents") {
		t.Errorf("the log has contents: %s", a.body)
	}
}

func adminKey(t *testing.T, f *fixture) string {
	t.Helper()
	k, err := f.eng.CreateKey(t.Context(), access.Key{Name: "a", Role: access.Admin})
	if err != nil {
		t.Fatal(err)
	}
	return k.Text
}

// TestRefusedErasuresLeaveTheLog: only what was erased loses its name.
func TestRefusedErasuresLeaveTheLog(t *testing.T) {
	f := startPaused(t, Options{})
	reader, err := f.eng.CreateKey(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	if _, err := admin.PutDocument(t.Context(), "", docs.Document{ExternalID: "plan", Text: "the contents"}, ""); err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "DELETE", "/v1/documents/plan?erase=true", "", "X-API-Key: "+reader.Text); a.status != 403 {
		t.Errorf("a reader erases: %d", a.status)
	}
	if a := f.call(t, "PUT", "/v1/documents/plan?erase=true", `{"text":"x"}`, "X-API-Key: "+adminKey(t, f), "Content-Type: application/json"); a.status != 422 {
		t.Errorf("a parameter that there is not: %d", a.status)
	}
	log, err := admin.AuditLog(t.Context(), store.AuditFilter{})
	if err != nil || len(log) != 3 {
		t.Fatalf("%+v, %v", log, err)
	}
	for _, e := range log {
		if e.Target != "plan" {
			t.Errorf("%+v has lost its name", e)
		}
	}
}
