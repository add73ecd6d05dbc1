package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// Limits of a [Key].
const (
	MaxKeyNamespaces = 100
	MaxKeyName       = 200 // bytes
)

// Key is an API key as it is kept. Its secret is not part of it.
type Key struct {
	ID   string `json:"id"`
	Name string `json:"name" doc:"says what the key is for"`
	// Prefix is how the key begins, which is no secret.
	Prefix     string    `json:"prefix" doc:"how the key begins, which is no secret" example:"rgx_9534cd5e"`
	Role       Role      `json:"role" enum:"read,write,admin"`
	Namespaces []string  `json:"namespaces" nullable:"false" doc:"those that the key is for; empty is all"`
	User       string    `json:"user_id,omitempty" doc:"the only user that the key acts for"`
	Created    time.Time `json:"created"`
	Expires    time.Time `json:"expires,omitzero" doc:"when it ends to be valid; absent is never"`
	Revoked    time.Time `json:"revoked,omitzero" doc:"when it was revoked"`
	LastUsed   time.Time `json:"last_used,omitzero" doc:"when a request came with it last, to the minute"`
}

// CheckFirst checks a key that is to be the first: from then on every request needs one,
// and only an admin of all namespaces makes others.
func (k Key) CheckFirst() error {
	if k.Role != Admin || len(k.Namespaces) > 0 {
		return ragctx.Invalid("role", "is that of a key which cannot make others, and it would be the first: "+
			"nobody could make or revoke keys any more; make a key with the role admin for all namespaces first")
	}
	return nil
}

// Validate checks what a caller says of a new key.
func (k Key) Validate(now time.Time) error {
	switch {
	case k.Name == "" || len(k.Name) > MaxKeyName:
		return ragctx.Invalid("name", "is %d bytes long; use 1 to %d that say what the key is for", len(k.Name), MaxKeyName)
	case k.Role < Read || k.Role > Admin:
		return ragctx.Invalid("role", "is missing; use read, write or admin")
	case len(k.Namespaces) > MaxKeyNamespaces:
		return ragctx.Invalid("namespaces", "lists %d; the limit is %d: leave them out for all", len(k.Namespaces), MaxKeyNamespaces)
	case k.User != "" && k.Role == Admin:
		return ragctx.Invalid("role", "is admin, which is for all users; leave user_id out, or use read or write")
	case !k.Expires.IsZero() && !k.Expires.After(now):
		return ragctx.Invalid("expires", "is %s, which has passed; send a later time, or none", k.Expires.Format(time.RFC3339))
	}
	if err := ragctx.ValidName("name", k.Name); err != nil {
		return err
	}
	for _, ns := range k.Namespaces {
		if ns == "" {
			return ragctx.Invalid("namespaces", "has an empty name; leave it out")
		}
		if err := ragctx.ValidName("namespaces", ns); err != nil {
			return err
		}
	}
	return ragctx.ValidName("user_id", k.User)
}

// State returns active, expired or revoked.
func (k Key) State(now time.Time) string {
	switch {
	case !k.Revoked.IsZero():
		return "revoked"
	case !k.Expires.IsZero() && !k.Expires.After(now):
		return "expired"
	}
	return "active"
}

// Grant returns what the key gives.
func (k Key) Grant() Grant {
	return Grant{Key: k.ID, Role: k.Role, Namespaces: slices.Clone(k.Namespaces), User: k.User}
}

// Hash is what is kept of a key's text. The text has 256 random bits, so that nobody
// finds it by trying, however fast the hash is; slow hashes are for passwords, and would
// cost every request.
type Hash [sha256.Size]byte

// The text of a key: its prefix, which is [Scheme] and some digits by which it is found,
// and random bytes.
const (
	Scheme      = "rgx_"
	prefixBytes = 4
	secretBytes = 32
)

// NewText returns the text of a new key, its prefix and what is kept of it.
func NewText() (text, prefix string, hash Hash) {
	var b [prefixBytes + secretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails: see crypto/rand
	prefix = Scheme + hex.EncodeToString(b[:prefixBytes])
	text = prefix + "_" + base64.RawURLEncoding.EncodeToString(b[prefixBytes:])
	return text, prefix, sha256.Sum256([]byte(text))
}

// IsKey reports whether a text looks like that of a key.
func IsKey(text string) bool { return strings.HasPrefix(text, Scheme) }

// ReadText returns the prefix of a key's text and what would be kept of it; false if the
// text is not that of a key.
func ReadText(text string) (prefix string, hash Hash, ok bool) {
	rest, ok := strings.CutPrefix(text, Scheme)
	id, secret, _ := strings.Cut(rest, "_")
	if !ok || len(id) != hex.EncodedLen(prefixBytes) || len(secret) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return "", Hash{}, false
	}
	return Scheme + id, sha256.Sum256([]byte(text)), true
}
