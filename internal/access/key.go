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

// Key is the stored form of an API key. It does not include the secret.
type Key struct {
	ID   string `json:"id"`
	Name string `json:"name" doc:"the purpose of the key"`
	// Prefix is the beginning of the key, which is not secret.
	Prefix     string    `json:"prefix" doc:"the beginning of the key, which is not secret" example:"rgx_9534cd5e"`
	Role       Role      `json:"role" enum:"read,write,admin"`
	Namespaces []string  `json:"namespaces" nullable:"false" doc:"the namespaces that the key is for; empty means all"`
	User       string    `json:"user_id,omitempty" doc:"the only user that the key acts for"`
	Created    time.Time `json:"created_at"`
	Expires    time.Time `json:"expires,omitzero" doc:"when it stops being valid; absent means never"`
	Revoked    time.Time `json:"revoked,omitzero" doc:"when it was revoked"`
	LastUsed   time.Time `json:"last_used,omitzero" doc:"when a request last used it, to the minute"`
}

// CheckFirst checks the first key of a server. From then on every request needs a key, so the first
// one must be able to create others: an admin key for all namespaces.
func (k Key) CheckFirst() error {
	if k.Role != Admin || len(k.Namespaces) > 0 {
		return ragctx.Invalid("role", "does not allow creating other keys, and this key would be the first: "+
			"no key could create or revoke keys any more; first make a key with the role admin for all namespaces")
	}
	return nil
}

// Validate checks the fields of a new key.
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
		return ragctx.Invalid("expires", "is %s, which has passed; use a later time, or leave it out", k.Expires.Format(time.RFC3339))
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

// Grant returns the rights of the key.
func (k Key) Grant() Grant {
	return Grant{Key: k.ID, Role: k.Role, Namespaces: slices.Clone(k.Namespaces), User: k.User}
}

// Hash is the stored hash of a key's text. The text has 256 random bits and cannot be guessed, so a
// fast hash is safe. Slow hashes are for passwords, and would delay every request.
type Hash [sha256.Size]byte

// The text of a key consists of its prefix ([Scheme] and digits by which the key is found) and
// random bytes.
const (
	Scheme      = "rgx_"
	prefixBytes = 4
	secretBytes = 32
)

// NewText returns the text of a new key, its prefix and its hash.
func NewText() (text, prefix string, hash Hash) {
	var b [prefixBytes + secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	prefix = Scheme + hex.EncodeToString(b[:prefixBytes])
	text = prefix + "_" + base64.RawURLEncoding.EncodeToString(b[prefixBytes:])
	return text, prefix, sha256.Sum256([]byte(text))
}

// IsKey reports whether text begins like a key.
func IsKey(text string) bool { return strings.HasPrefix(text, Scheme) }

// ReadText returns the prefix and the hash of a key's text, or false if the text is not a key.
func ReadText(text string) (prefix string, hash Hash, ok bool) {
	rest, ok := strings.CutPrefix(text, Scheme)
	id, secret, _ := strings.Cut(rest, "_")
	if !ok || len(id) != hex.EncodedLen(prefixBytes) || len(secret) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return "", Hash{}, false
	}
	return Scheme + id, sha256.Sum256([]byte(text)), true
}
