package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// TestProseAmongCode checks that a question in words finds a page even if more code than there are places repeats
// its words, and that a caller who prefers code gets code.
func TestProseAmongCode(t *testing.T) {
	f := open(t)
	for i := range 20 {
		f.put(fmt.Sprintf("src/part%d.go", i), fmt.Sprintf("package part%d\n\n// Keepalive %d sends keepalive pings.\nfunc keepalive%d() {\n%s}\n", i, i, i,
			strings.Repeat("\tcount(sent, received, lost)\n", 2)))
	}
	f.put("docs/keepalive.md", "# Connections\n\nKeepalive detects lost connections: the client sends keepalive pings.\n")
	first := func(q ragctx.ContextQuery) (string, int) {
		t.Helper()
		found, err := f.Search(t.Context(), q)
		if err != nil || len(found.Items) == 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found.Items[0].ID, len(found.Items)
	}
	q := ragctx.ContextQuery{Query: "How does keepalive work?", MaxResults: 3}
	if id, n := first(q); id != "docs/keepalive.md@1#0" || n != 3 {
		t.Errorf("%s is the first of %d items", id, n)
	}
	if id, _ := first(q.WithParam(docs.ParamPrefer, "code")); !strings.HasPrefix(id, "src/") {
		t.Errorf("%s is first for a caller who prefers code", id)
	}
}
