package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// testKeys creates, lists, uses and revokes API keys.
func testKeys(t *testing.T, open Opener) {
	f := fresh(t, open)
	key := func(id string, created time.Time) store.StoredKey {
		return store.StoredKey{
			Key: access.Key{
				ID: id, Name: "key " + id, Prefix: access.Scheme + id, Role: access.Write,
				Namespaces: []string{"a", "b"}, User: "ada", Created: created, Expires: created.AddDate(1, 0, 0),
			},
			Hash: access.Hash{1, 2, 3},
		}
	}
	one, two := key("one", t0.Add(time.Hour)), key("two", t0)
	two.Namespaces, two.User, two.Expires = []string{}, "", time.Time{}
	for _, k := range []store.StoredKey{one, two} {
		if err := f.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	used := t0.Add(2 * time.Hour)
	if err := f.RecordKeyUses(t.Context(), map[string]time.Time{"one": used, "missing": used}); err != nil {
		t.Fatal(err)
	}
	one.LastUsed = used
	if diff := gocmp.Diff([]store.StoredKey{two, one}, must(f.Keys(t.Context()))(t)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	revoked := must(f.RevokeKey(t.Context(), "one"))(t)
	if revoked.Revoked.IsZero() || revoked.ID != "one" {
		t.Errorf("revoked: %+v", revoked)
	}
	if again := must(f.RevokeKey(t.Context(), "one"))(t); !again.Revoked.Equal(revoked.Revoked) {
		t.Errorf("revoked at %v, then at %v", revoked.Revoked, again.Revoked)
	}
	if _, err := f.RevokeKey(t.Context(), "missing"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a missing key: %v", err)
	}
	if err := f.CreateKey(t.Context(), key("late", t0.AddDate(10, 0, 0))); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, k := range must(f.Keys(t.Context()))(t) {
		left = append(left, k.ID)
	}
	if !slices.Equal(left, []string{"two", "late"}) {
		t.Errorf("keys %v; want those that were not revoked long ago", left)
	}
}

// testAudit appends to the audit log and reads it.
func testAudit(t *testing.T, open Opener) {
	f := fresh(t, open)
	for i := range 20 {
		e := store.AuditEntry{
			At: t0.Add(time.Duration(i) * time.Second), Key: fmt.Sprint("key", i%2), Request: fmt.Sprint(i),
			Operation: "put-document",
			Namespace: []string{"a", "b", ""}[i%3], Target: "d", Status: []int{200, 403}[i/10],
		}
		if err := f.AddAudit(t.Context(), []store.AuditEntry{e}, 5); err != nil {
			t.Fatal(err)
		}
	}
	list := func(af store.AuditFilter) []store.AuditEntry {
		if af.Limit == 0 {
			af.Limit = 100
		}
		return must(f.Audit(t.Context(), af))(t)
	}
	all := list(store.AuditFilter{})
	want := []string{"19", "18", "17", "16", "15", "9", "8", "7", "6", "5"}
	for i, e := range all {
		if i >= len(want) || e.Request != want[i] || i > 0 && e.Seq >= all[i-1].Seq {
			t.Fatalf("entry %d: %+v, want request %v", i, e, want)
		}
	}
	if len(all) != len(want) || !all[0].At.Equal(t0.Add(19*time.Second)) || all[0].Status != 403 || all[0].Target != "d" {
		t.Errorf("entries %+v", all)
	}
	for _, c := range []struct {
		f    store.AuditFilter
		want int
	}{
		{store.AuditFilter{Limit: 3}, 3},
		{store.AuditFilter{Before: all[7].Seq}, 2},
		{store.AuditFilter{Key: "key1"}, 6},
		{store.AuditFilter{Namespace: "a"}, 4},
		{store.AuditFilter{Among: []string{"a", "b"}}, 7},
	} {
		if got := list(c.f); len(got) != c.want {
			t.Errorf("%+v: %d entries, want %d", c.f, len(got), c.want)
		}
	}
	erased := store.AuditEntry{Operation: "erase-document", Namespace: "a", Target: "d", Status: 200, Erases: true}
	if err := f.AddAudit(t.Context(), []store.AuditEntry{erased}, 5); err != nil {
		t.Fatal(err)
	}
	for _, e := range list(store.AuditFilter{Namespace: "a"}) {
		if e.Target != "" {
			t.Errorf("the log names an erased document: %+v", e)
		}
	}
	if got := list(store.AuditFilter{Namespace: "b", Limit: 1}); got[0].Target != "d" {
		t.Errorf("a document of another namespace: %+v", got)
	}
}
