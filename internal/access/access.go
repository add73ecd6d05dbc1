// Package access defines the rights of callers. A [Grant] holds the rights of one caller, by its
// API key or because the server has no keys. The APIs put it into the context of a request
// ([With]); the engine checks it for every operation ([From]).
package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Role is the level of a caller's rights. Each role includes the rights of the lower ones.
type Role int

// The roles, weakest first.
const (
	None  Role = iota
	Read       // query, search, list, view
	Write      // store, change, delete
	Admin      // all users of the namespaces; keys, namespaces, settings
)

var roleNames = [...]string{"none", "read", "write", "admin"}

// String returns the role's name.
func (r Role) String() string { return roleNames[r] }

// ParseRole parses read, write or admin in any letter case.
func ParseRole(s string) (Role, error) {
	if i := slices.Index(roleNames[1:], strings.ToLower(s)); i >= 0 {
		return Role(i + 1), nil
	}
	return None, ragctx.Invalid("role", "%q is not a role; use read, write or admin", ragctx.Clip(s))
}

// MarshalText implements [encoding.TextMarshaler].
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Role) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRole(string(b))
	return err
}

// Grant holds a caller's rights. The zero value grants nothing.
type Grant struct {
	// Key is the id of the API key; empty without keys.
	Key  string
	Role Role
	// Namespaces lists the accessible namespaces; empty means all.
	Namespaces []string
	// User is the only user that the caller may act for; empty means any.
	User string
}

// FullGrant returns the grant of a caller that needs no key: this process itself, and the clients of a
// server without keys.
func FullGrant() Grant { return Grant{Role: Admin} }

type contextKey struct{}

// With returns ctx with a grant.
func With(ctx context.Context, g Grant) context.Context {
	return context.WithValue(ctx, contextKey{}, g)
}

// From returns the grant of ctx. A context without a grant belongs to this process, which has all
// rights.
func From(ctx context.Context) Grant {
	if g, ok := ctx.Value(contextKey{}).(Grant); ok {
		return g
	}
	return FullGrant()
}

// RequireRole returns [ragctx.ErrDenied] if the grant lacks a role.
func (g Grant) RequireRole(r Role) error {
	if g.Role >= r {
		return nil
	}
	return fmt.Errorf("%w: this needs the role %s, but the API key has %s; use a key of that role", ragctx.ErrDenied, r, g.Role)
}

// Includes reports whether the grant includes a namespace. A grant without a role includes none, so
// that a lost grant opens nothing.
func (g Grant) Includes(namespace string) bool {
	return g.Role > None && (len(g.Namespaces) == 0 || slices.Contains(g.Namespaces, namespace))
}

// HomeNamespace returns the namespace of requests that name none: the grant's only namespace, otherwise the
// default one.
func (g Grant) HomeNamespace() string {
	if len(g.Namespaces) == 1 {
		return g.Namespaces[0]
	}
	return ragctx.DefaultNamespace
}

// RequireNamespace returns [ragctx.ErrDenied] if the grant does not include a namespace. The error does not
// reveal whether the namespace exists.
func (g Grant) RequireNamespace(namespace string) error {
	if g.Includes(namespace) {
		return nil
	}
	if err := g.RequireRole(Read); err != nil {
		return err
	}
	return fmt.Errorf("%w: namespace %q; the API key is for %s",
		ragctx.ErrDenied, ragctx.Clip(namespace), ragctx.Clip(strings.Join(g.Namespaces, ", ")))
}

// Namespaces has the ids of namespaces.
type Namespaces interface {
	// Namespace returns the id of a namespace, creating it if create is set.
	Namespace(ctx context.Context, name string, create bool) (int64, error)
}

// Namespace returns the id of a namespace; "" is the default one. It enforces the isolation of
// namespaces: one that the grant of ctx does not include is [ragctx.ErrDenied].
func Namespace(ctx context.Context, in Namespaces, name string, create bool) (int64, error) {
	name = cmp.Or(name, ragctx.DefaultNamespace)
	if err := From(ctx).RequireNamespace(name); err != nil {
		return 0, err
	}
	if err := ragctx.ValidName("namespace", name); err != nil {
		return 0, err
	}
	return in.Namespace(ctx, name, create)
}

// RequireUnbound returns [ragctx.ErrDenied] unless the grant includes all namespaces and users, as
// operations on the whole data directory require.
func (g Grant) RequireUnbound() error {
	if err := g.RequireRole(Read); err != nil {
		return err
	}
	if len(g.Namespaces) == 0 && g.User == "" {
		return nil
	}
	return fmt.Errorf("%w: this concerns all namespaces and users, but the API key is bound to some; use an unbound key",
		ragctx.ErrDenied)
}

// RequireShared returns [ragctx.ErrDenied] if the grant may not change items that belong to no user, such
// as documents and ledgers. A key that is bound to a user can read them.
func (g Grant) RequireShared() error {
	if err := g.RequireRole(Read); err != nil {
		return err
	}
	if g.User == "" {
		return nil
	}
	return fmt.Errorf("%w: this belongs to all users of the namespace, but the API key is bound to the user %q; use a key without a user",
		ragctx.ErrDenied, ragctx.Clip(g.User))
}

// Restrict returns the grant restricted to a namespace and a user; empty arguments do not restrict
// it. A namespace or user outside the grant gives an empty grant.
func (g Grant) Restrict(namespace, user string) Grant {
	if namespace != "" {
		if !g.Includes(namespace) {
			return Grant{Key: g.Key}
		}
		g.Namespaces = []string{namespace}
	}
	if user != "" {
		if g.User != "" && g.User != user {
			return Grant{Key: g.Key}
		}
		g.User = user
	}
	return g
}

// RequireAllUsers returns [ragctx.ErrDenied] unless the grant may act for all users at once, which
// requires the role admin.
func (g Grant) RequireAllUsers() error {
	if err := g.RequireShared(); err != nil {
		return err
	}
	return g.RequireRole(Admin)
}

// ActAs returns the user that a request acts for. A key that is bound to a user acts for that user,
// even if the request names none. Another user is [ragctx.ErrDenied].
func (g Grant) ActAs(user string) (string, error) {
	if g.User == "" || user == g.User {
		return user, nil
	}
	if user == "" {
		return g.User, nil
	}
	return "", fmt.Errorf("%w: user %q; the API key is bound to the user %q: leave user_id out",
		ragctx.ErrDenied, ragctx.Clip(user), ragctx.Clip(g.User))
}
