package access_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

func TestRoles(t *testing.T) {
	for _, have := range []access.Role{access.None, access.Read, access.Write, access.Admin} {
		for _, need := range []access.Role{access.Read, access.Write, access.Admin} {
			err := access.Grant{Role: have}.RequireRole(need)
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
	if !open.Includes("x") || open.RequireRole(access.Admin) != nil {
		t.Error("this process itself is kept out")
	}
	if !bound.Includes("b") || bound.Includes("c") || bound.Includes("") {
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

func TestKeyTexts(t *testing.T) {
	text, prefix, hash := access.NewText()
	got, again, ok := access.ReadText(text)
	if !ok || got != prefix || again != hash || !access.IsKey(text) {
		t.Errorf("%q reads as %q, %v", text, got, ok)
	}
	if other, _, _ := access.NewText(); other == text {
		t.Error("two keys are equal")
	}
	for _, bad := range []string{"", "rgx_", text[:len(text)-1], text + "x", text[4:], "RGX_" + text[4:], "rgx_" + prefix + "-" + text[13:]} {
		if _, _, ok := access.ReadText(bad); ok {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestWithin(t *testing.T) {
	bound := access.Grant{Key: "k", Role: access.Write, Namespaces: []string{"a", "b"}, User: "ada"}
	nothing := access.Grant{Key: "k"}
	for name, c := range map[string]struct {
		of              access.Grant
		namespace, user string
		want            access.Grant
	}{
		"not narrowed":      {bound, "", "", bound},
		"a namespace":       {bound, "b", "ada", access.Grant{Key: "k", Role: access.Write, Namespaces: []string{"b"}, User: "ada"}},
		"of all":            {access.FullGrant(), "b", "bob", access.Grant{Role: access.Admin, Namespaces: []string{"b"}, User: "bob"}},
		"another namespace": {bound, "c", "", nothing},
		"another user":      {bound, "a", "bob", nothing},
	} {
		if got := c.of.Restrict(c.namespace, c.user); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestBoundGrants(t *testing.T) {
	user, spaces := access.Grant{Role: access.Write, User: "ada"}, access.Grant{Role: access.Admin, Namespaces: []string{"a"}}
	if user.RequireShared() == nil || user.RequireUnbound() == nil || user.RequireAllUsers() == nil || user.RequireNamespace("a") != nil {
		t.Error("a grant for a user reaches too far, or not far enough")
	}
	if spaces.RequireShared() != nil || spaces.RequireUnbound() == nil || spaces.RequireAllUsers() != nil || spaces.RequireNamespace("a") != nil || spaces.RequireNamespace("b") == nil {
		t.Error("a grant for namespaces reaches too far, or not far enough")
	}
	if spaces.HomeNamespace() != "a" || user.HomeNamespace() != ragctx.DefaultNamespace || (access.Grant{Namespaces: []string{"a", "b"}}).HomeNamespace() != ragctx.DefaultNamespace {
		t.Error("only a grant for one namespace means that where none is named")
	}
	if (access.Grant{Role: access.Write}).RequireAllUsers() == nil || access.FullGrant().RequireUnbound() != nil {
		t.Error("only admins act for everyone")
	}
}

// TestNothing: a grant without a role grants nothing.
func TestNothing(t *testing.T) {
	for _, g := range []access.Grant{{}, {Key: "k"}, {Namespaces: []string{"a"}}, {User: "ada"}} {
		if g.Includes("a") || g.RequireNamespace("a") == nil || g.RequireUnbound() == nil || g.RequireShared() == nil || g.RequireAllUsers() == nil {
			t.Errorf("%+v opens something", g)
		}
	}
}
