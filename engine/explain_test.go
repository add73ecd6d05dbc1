package engine_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/access"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/memory"
)

// TestExplainKeepsToTheUser: who is bound to a user is not told how many memories there
// are of others.
func TestExplainKeepsToTheUser(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, user := range []string{"ada", "bob", "bob"} {
		if _, _, err := e.Remember(t.Context(), memory.Memory{UserID: user, Content: strings.Repeat("tea ", i+1) + user}); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[string]string{"": "3 memories", "ada": "1 memories", "bob": "2 memories"} {
		ctx := access.With(t.Context(), access.Grant{Role: access.Read, User: user})
		x, err := e.Explain(ctx, ragctx.NewQuery("tea"))
		if err != nil || len(x.Findings) == 0 || !strings.HasSuffix(x.Findings[0].Found, want) {
			t.Errorf("%q: %+v, %v", user, x.Findings, err)
		}
	}
}
