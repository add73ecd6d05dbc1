package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/store"
)

// TestEraseNamespace erases a namespace in which there is something of everything: no
// file has a byte of it, its indexes are gone, and the next write makes a new one.
func TestEraseNamespace(t *testing.T) {
	const token, space = "Zqspace", "team"
	f := open(t)
	ctx := t.Context()
	if _, err := f.Events().Last(ctx, events.Filter{}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		d := ragctx.Document{ExternalID: fmt.Sprint(token, i), Text: strings.Repeat(token+" says much. ", 50), Tags: []string{token}}
		if _, err := f.Documents().Put(ctx, space, d, ""); err != nil {
			t.Fatal(err)
		}
		turn := ragctx.Turn{Namespace: space, UserID: token, SessionID: token, Prompt: "I live in " + token + "."}
		if _, err := f.CompleteTurn(ctx, turn); err != nil {
			t.Fatal(err)
		}
	}
	m := clusterMessages(token, token, token)
	for i := range m {
		m[i].Namespace = space
	}
	if _, err := f.Ledger().Append(ctx, m); err != nil {
		t.Fatal(err)
	}
	key := engine.ProcedureKey{Namespace: space, Name: strings.ToLower(token)}
	if _, err := f.Procedures().PutDraft(ctx, key, ragctx.ProcedureBody{Trigger: token, Steps: []string{token}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Indexes().SetRanking(ctx, space, store.KindDocuments, index.Ranking{Method: "keyword"}); err != nil {
		t.Fatal(err)
	}
	f.put("kept", "What stays is kept.")
	q := ragctx.NewQuery(token)
	q.Namespace, q.UserID = space, token
	if n := len(f.found(q)); n == 0 {
		t.Fatal("found nothing to erase")
	}
	took, err := f.Admin().EraseNamespace(ctx, space)
	if err != nil || took.Documents != 40 || took.Turns != 40 || took.Messages < 2 || took.Procedures != 1 {
		t.Errorf("%+v, %v", took, err)
	}
	if names := tracesIn(t, f.opts.Dir, token); len(names) != 0 {
		t.Errorf("traces in %v", names)
	}
	if n := f.found(q); len(n) != 0 {
		t.Errorf("still found: %v", n)
	}
	if dirs, err := filepath.Glob(filepath.Join(f.opts.Dir, store.IndexName, "1-*")); err != nil || len(dirs) != 0 { // it was the first
		t.Errorf("indexes: %v, %v", dirs, err)
	}
	if _, err := f.Admin().Namespace(ctx, space); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if again, err := f.Admin().EraseNamespace(ctx, space); err != nil || again != (store.Erased{}) {
		t.Errorf("once more: %+v, %v", again, err)
	}
	for _, when := range []string{"at once", "after reopening"} {
		if _, err := f.Documents().Put(ctx, space, ragctx.Document{ExternalID: "new " + when, Text: "A new start."}, ""); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if r, err := f.Indexes().Ranking(ctx, space, store.KindDocuments); err != nil || r != (index.Ranking{}) {
			t.Errorf("%s: ranking %+v, %v", when, r, err)
		}
		f.reopen()
	}
	if n, err := f.Admin().Namespace(ctx, space); err != nil || n.Documents != 2 || n.Memories != 0 {
		t.Errorf("%+v, %v", n, err)
	}
	if names := tracesIn(t, f.opts.Dir, token); len(names) != 0 {
		t.Errorf("traces after reopening in %v", names)
	}
	if len(f.ids()) != 1 {
		t.Error("what was elsewhere is gone as well")
	}
}

// TestEraseNamespaceEndsJobs erases a namespace while a bulk job is running: the job's remaining items
// are not stored, and never in a new namespace of that name.
func TestEraseNamespaceEndsJobs(t *testing.T) {
	f := open(t)
	var lines []string
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("d%d=%s", i, strings.Repeat("words ", 200)))
	}
	f.put("first", "makes the namespace")
	j := f.spool(lines...)
	for at, err := range f.Jobs().Watch(t.Context(), j.ID) {
		if err != nil || at.State == store.JobRunning {
			break
		}
	}
	if _, err := f.Admin().EraseNamespace(t.Context(), ragctx.DefaultNamespace); err != nil {
		t.Fatal(err)
	}
	if names, err := f.Admin().NamespaceNames(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("the job made %v, %v", names, err)
	}
	if _, err := f.Jobs().Items(t.Context(), j.ID, store.ItemFilter{Limit: 1}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("its job: %v", err)
	}
	f.reopen()
	if names, err := f.Admin().NamespaceNames(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("after reopening: %v, %v", names, err)
	}
}

// TestNamespaceGrants: which grants may create, limit, erase and list namespaces.
func TestNamespaceGrants(t *testing.T) {
	f := open(t)
	for _, name := range []string{"c", "a", "b"} {
		if n, err := f.Admin().CreateNamespace(t.Context(), name, store.Quotas{Documents: 1}); err != nil || n.Quotas.Documents != 1 || n.Created.IsZero() {
			t.Errorf("%+v, %v", n, err)
		}
	}
	if _, err := f.Admin().CreateNamespace(t.Context(), "a", store.Quotas{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	for _, bad := range []string{"", "a\x00", strings.Repeat("x", ragctx.MaxNameBytes+1)} {
		if _, err := f.Admin().CreateNamespace(t.Context(), bad, store.Quotas{}); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := f.Admin().SetQuotas(t.Context(), "a", store.Quotas{TextBytes: -1}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a negative quota: %v", err)
	}
	if _, err := f.Admin().SetQuotas(t.Context(), "none", store.Quotas{}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("of what is not there: %v", err)
	}
	names := func(ctx context.Context, after string, limit int) (out string) {
		page, err := f.Admin().Namespaces(ctx, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range page {
			out += n.Name
		}
		return out
	}
	bound := access.With(t.Context(), access.Grant{Role: access.Admin, Namespaces: []string{"b"}})
	if a, b, c := names(t.Context(), "", 2), names(t.Context(), "b", 2), names(bound, "", 2); a != "ab" || b != "c" || c != "b" {
		t.Errorf("pages %s, %s; of one namespace %s", a, b, c)
	}
	_, described := f.Admin().Namespace(bound, "a")
	_, made := f.Admin().CreateNamespace(bound, "b2", store.Quotas{})
	_, limited := f.Admin().SetQuotas(bound, "b", store.Quotas{})
	_, erased := f.Admin().EraseNamespace(bound, "b")
	for i, err := range []error{described, made, limited, erased} {
		if !errors.Is(err, ragctx.ErrDenied) {
			t.Errorf("%d: %v", i, err)
		}
	}
	f.putMany("d", "x") // the default one has no quotas
	if _, err := f.Documents().Put(t.Context(), "a", ragctx.Document{ExternalID: "1", Text: "x"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Documents().Put(t.Context(), "a", ragctx.Document{ExternalID: "2", Text: "x"}, ""); !errors.Is(err, ragctx.ErrQuota) {
		t.Errorf("one too many: %v", err)
	}
}
