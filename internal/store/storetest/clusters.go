package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// testClusters lists, describes and erases the clusters of a namespace.
func testClusters(t *testing.T, open Opener) {
	f := fresh(t, open)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	var stored []ledger.Message
	for i, cluster := range []string{"b", "a", "b", "c"} {
		stored = append(stored, must(l.Append(t.Context(), []ledger.Message{{
			Namespace: "default", Cluster: cluster, Topic: "news", Sender: "worker", Text: fmt.Sprint("message ", i),
		}}))(t)...)
	}
	names := func(after string, limit int) string {
		var out []string
		for _, c := range must(l.Clusters(t.Context(), "default", after, limit))(t) {
			out = append(out, c.Cluster)
		}
		return strings.Join(out, " ")
	}
	if all, page := names("", 9), names("a", 1); all != "a b c" || page != "b" {
		t.Errorf("clusters %q, a page %q", all, page)
	}
	b, err := l.Cluster(t.Context(), "default", "b")
	if err != nil || b.Messages != 2 || b.FirstSequence != stored[0].Sequence || b.LastSequence != stored[2].Sequence {
		t.Errorf("%+v, %v", b, err)
	}
	if of := must(l.ClustersOf(t.Context(), "default", stored[1].ID))(t); !slices.Equal(of, []string{"a"}) {
		t.Errorf("a message is in the clusters %v", of)
	}
	if n := l.Counts().Appended; n != 4 {
		t.Errorf("%d messages were appended, want 4", n)
	}
	e, err := l.Erase(t.Context(), f.ns, "b")
	if err != nil || e.Messages != 2 || e.Pending == 0 {
		t.Errorf("erased %+v, %v", e, err)
	}
	f.secureErase(t, e.Pending)
	if left := names("", 9); left != "a c" {
		t.Errorf("clusters %q after an erasure", left)
	}
	if _, err := l.Cluster(t.Context(), "default", "b"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("an erased cluster: %v", err)
	}
	if _, err := l.ClustersOf(t.Context(), "default", stored[0].ID); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("the clusters of an erased message: %v", err)
	}
	if e, err := l.Erase(t.Context(), f.ns, "b"); err != nil || e.Messages != 0 {
		t.Errorf("erased twice: %+v, %v", e, err)
	}
}
