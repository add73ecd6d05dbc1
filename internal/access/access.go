// Package access says who may do what: a [Grant] is what a caller was given, by an API
// key or because no keys are asked for. Doors put it into the context of a request
// ([With]); the engine asks it for everything that it does ([From]).
package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Role is how much a caller may do. Each role may do what those below it may.
type Role int

// The roles, the weakest first.
const (
	None  Role = iota
	Read       // ask, search, list, look at
	Write      // store, change, delete
	Admin      // all users of the namespaces; keys, namespaces, settings
)

var roleNames = [...]string{"none", "read", "write", "admin"}

// String returns the role's name.
func (r Role) String() string { return roleNames[r] }

// ParseRole reads read, write or admin.
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

// Grant is what a caller may do. The zero value may do nothing.
type Grant struct {
	// Key is the id of the API key; empty without keys.
	Key  string
	Role Role
	// Namespaces are those that can be reached; none means all.
	Namespaces []string
	// User is the only user that can be acted for; empty is any.
	User string
}

// Full is the grant of whoever needs no key: this process itself, and callers of a
// server without keys.
func Full() Grant { return Grant{Role: Admin} }

type contextKey struct{}

// With returns ctx with a grant.
func With(ctx context.Context, g Grant) context.Context {
	return context.WithValue(ctx, contextKey{}, g)
}

// From returns the grant of ctx. A context without one belongs to this process, which
// may do everything.
func From(ctx context.Context) Grant {
	if g, ok := ctx.Value(contextKey{}).(Grant); ok {
		return g
	}
	return Full()
}

// Needs returns nil if the grant has the role, else a [ragctx.ErrDenied].
func (g Grant) Needs(r Role) error {
	if g.Role >= r {
		return nil
	}
	return fmt.Errorf("%w: this needs the role %s, and the API key has %s; use a key of that role", ragctx.ErrDenied, r, g.Role)
}

// Reaches reports whether the grant reaches a namespace. One without a role reaches none,
// so that a grant that was lost on its way opens nothing.
func (g Grant) Reaches(namespace string) bool {
	return g.Role > None && (len(g.Namespaces) == 0 || slices.Contains(g.Namespaces, namespace))
}

// Home returns the namespace that a request means which names none: that of the grant, if
// it is for exactly one, else the default one.
func (g Grant) Home() string {
	if len(g.Namespaces) == 1 {
		return g.Namespaces[0]
	}
	return ragctx.DefaultNamespace
}

// Enters returns nil if the grant reaches a namespace, else a [ragctx.ErrDenied] that
// does not tell whether there is one of the name.
func (g Grant) Enters(namespace string) error {
	if g.Reaches(namespace) {
		return nil
	}
	if err := g.Needs(Read); err != nil {
		return err
	}
	return fmt.Errorf("%w: namespace %q; the API key is for %s", ragctx.ErrDenied, ragctx.Clip(namespace), ragctx.Clip(strings.Join(g.Namespaces, ", ")))
}

// Whole returns nil if the grant is for all namespaces and users, as what concerns the
// whole data directory needs; else a [ragctx.ErrDenied].
func (g Grant) Whole() error {
	if err := g.Needs(Read); err != nil {
		return err
	}
	if len(g.Namespaces) == 0 && g.User == "" {
		return nil
	}
	return fmt.Errorf("%w: this concerns all namespaces and users, and the API key is bound to some; use a key that is not bound", ragctx.ErrDenied)
}

// Shared returns nil if the grant may change what belongs to no user, such as documents
// and ledgers; else a [ragctx.ErrDenied]. A key that is bound to a user sees it.
func (g Grant) Shared() error {
	if err := g.Needs(Read); err != nil {
		return err
	}
	if g.User == "" {
		return nil
	}
	return fmt.Errorf("%w: this belongs to all users of the namespace, and the API key is bound to the user %q; use a key without a user",
		ragctx.ErrDenied, ragctx.Clip(g.User))
}

// Within returns the grant narrowed to a namespace and a user; empty ones narrow nothing.
// What is beyond the grant is not reached by the narrowed one either.
func (g Grant) Within(namespace, user string) Grant {
	if namespace != "" {
		if !g.Reaches(namespace) {
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

// Everyone returns nil if the grant may act for all users at once, which is an admin's;
// else a [ragctx.ErrDenied].
func (g Grant) Everyone() error {
	if err := g.Shared(); err != nil {
		return err
	}
	return g.Needs(Admin)
}

// ActAs returns the user that a request for user acts for: a key that is bound to a
// user acts for that one, also when a request names none. Another one is a
// [ragctx.ErrDenied].
func (g Grant) ActAs(user string) (string, error) {
	if g.User == "" || user == g.User {
		return user, nil
	}
	if user == "" {
		return g.User, nil
	}
	return "", fmt.Errorf("%w: user %q; the API key is bound to the user %q: leave user_id out", ragctx.ErrDenied, ragctx.Clip(user), ragctx.Clip(g.User))
}
