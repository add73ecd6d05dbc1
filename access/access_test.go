package access_test

import (
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/access"
)

func TestRoles(t *testing.T) {
	for _, have := range []access.Role{access.None, access.Read, access.Write, access.Admin} {
		for _, need := range []access.Role{access.Read, access.Write, access.Admin} {
			err := access.Grant{Role: have}.Needs(need)
			if allowed := err == nil; allowed != (have >= need) {
				t.Errorf("%v asked for %v: %v", have, need, err)
			} else if err != nil && !errors.Is(err, ragctx.ErrDenied) {
				t.Errorf("%v is not ErrDenied", err)
			}
		}
		parsed, err := access.ParseRole(have.String())
		if (err == nil) != (have != access.None) || parsed != have {
			t.Errorf("ParseRole(%q) = %v, %v", have, parsed, err)
		}
	}
}

func TestScope(t *testing.T) {
	open, bound := access.From(t.Context()), access.Grant{Role: access.Write, Namespaces: []string{"a", "b"}, User: "ada"}
	if !open.Reaches("x") || open.Needs(access.Admin) != nil {
		t.Error("this process itself is kept out")
	}
	if !bound.Reaches("b") || bound.Reaches("c") || bound.Reaches("") {
		t.Error("a key bound to namespaces reaches others, or not its own")
	}
	for _, user := range []string{"", "ada"} {
		if got, err := bound.ActAs(user); got != "ada" || err != nil {
			t.Errorf("ActAs(%q) = %q, %v", user, got, err)
		}
	}
	if _, err := bound.ActAs("bob"); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("acting for another user: %v", err)
	}
	if got, err := open.ActAs("bob"); got != "bob" || err != nil {
		t.Errorf("ActAs(bob) without a bound user = %q, %v", got, err)
	}
	if got := access.From(access.With(t.Context(), bound)); got.User != "ada" {
		t.Errorf("the grant of the context is %+v", got)
	}
}
