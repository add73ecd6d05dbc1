package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// NewKey is a newly created API key.
type NewKey struct {
	access.Key

	// Text is the key that clients send. It is not stored and cannot be shown again.
	Text string `json:"key" doc:"the key that clients send; it is shown only once"`
}

// Create creates an API key with the name, role, namespaces, user and expiry of k. From then on
// every request to a server needs a key.
func (e Keys) Create(ctx context.Context, k access.Key) (NewKey, error) {
	if err := requireAdmin(ctx); err != nil {
		return NewKey{}, err
	}
	text, _, _ := access.NewText()
	made, err := e.create(ctx, k, text)
	return NewKey{made, text}, err
}

// CreateFirst creates an admin key with the given text, for all namespaces, and returns true. If
// there are keys that are not revoked, it changes nothing and returns false.
func (e Keys) CreateFirst(ctx context.Context, text string) (bool, error) {
	if err := requireAdmin(ctx); err != nil || e.Needed() {
		return false, err
	}
	if e.keys.knows(text) {
		return false, ragctx.Invalid("key", "is an API key that was revoked; use another one")
	}
	_, err := e.create(ctx, access.Key{Name: "first", Role: access.Admin}, text)
	return err == nil, err
}

// create stores a key with the rights of k and the given text.
func (e Keys) create(ctx context.Context, k access.Key, text string) (access.Key, error) {
	prefix, hash, ok := access.ReadText(text)
	if !ok {
		return access.Key{}, ragctx.Invalid("key", "is not an API key; it has rgx_, 8 hexadecimal digits, _ and 43 characters of base64url")
	}
	now := e.opts.Now().UTC().Truncate(time.Microsecond)
	if err := k.Validate(now); err != nil {
		return access.Key{}, err
	}
	made := access.Key{
		ID: e.opts.NewID(), Name: k.Name, Prefix: prefix, Role: k.Role,
		Namespaces: slices.Compact(slices.Sorted(slices.Values(k.Namespaces))),
		User:       k.User, Created: now, Expires: k.Expires.UTC().Truncate(time.Microsecond),
	}
	if made.Namespaces == nil {
		made.Namespaces = []string{}
	}
	stored := store.StoredKey{Key: made, Hash: hash}
	if err := e.store.CreateKey(ctx, stored); err != nil {
		return access.Key{}, err
	}
	e.keys.put(stored)
	return made, nil
}

// List returns a page of the API keys, oldest first, including those no longer valid; the next page
// starts after its last id.
func (e Keys) List(ctx context.Context, after string, limit int) ([]access.Key, error) {
	if err := requireAdmin(ctx); err != nil {
		return nil, err
	}
	if err := pageLimit(&limit); err != nil {
		return nil, err
	}
	e.keys.flush(ctx) // so that the list has current times of use
	all, err := e.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	start := 1 + slices.IndexFunc(all, func(k store.StoredKey) bool { return k.ID == after })
	if after != "" && start == 0 {
		return nil, ragctx.Invalid("cursor", "refers to a key that no longer exists; start again without it")
	}
	all = all[start:]
	page := make([]access.Key, min(limit, len(all)))
	for i := range page {
		page[i] = all[i].Key
	}
	return page, nil
}

// Revoke permanently revokes an API key, effective at once.
func (e Keys) Revoke(ctx context.Context, id string) (access.Key, error) {
	if err := requireAdmin(ctx); err != nil {
		return access.Key{}, err
	}
	k, err := e.store.RevokeKey(ctx, id)
	if err != nil {
		return access.Key{}, err
	}
	e.keys.put(k)
	return k.Key, nil
}

// Authenticate returns the grant of an API key or of the local token; any other text is
// [ragctx.ErrUnauthenticated]. It reads no file.
func (e Keys) Authenticate(text string) (access.Grant, error) {
	return e.keys.authenticate(text, e.opts.Now())
}

// WhileValid returns ctx with cancellation when the API key is revoked or expires, so that its
// streams end. The caller calls the returned func when done.
func (e Keys) WhileValid(ctx context.Context, text string) (context.Context, context.CancelFunc) {
	return e.keys.whileValid(ctx, text, e.opts.Now())
}

// Needed reports whether an API key exists that is not revoked. Expired keys count: the expiry
// of the last key must not open the server to everyone.
func (e Keys) Needed() bool { return e.keys.active.Load() > 0 }

// LocalKey is the key id in grants of the local token; see [Owner].
const LocalKey = "local"

// keyring holds the API keys in memory.
type keyring struct {
	store  store.Keys
	log    *slog.Logger
	active atomic.Int64                // number of keys that are not revoked
	local  atomic.Pointer[access.Hash] // hash of the token that only the owner of the data directory can read

	mu       sync.RWMutex
	byPrefix map[string]*cachedKey
	token    string // the token that local is the hash of

	due chan struct{} // a use is to be recorded
	end context.CancelFunc
	wg  sync.WaitGroup
}

type cachedKey struct {
	store.StoredKey

	used   atomic.Int64 // Unix microseconds
	stored atomic.Int64 // the stored use

	valid  context.Context //nolint:containedctx // ends with the key, not with a call
	revoke context.CancelFunc
}

// Uses are recorded to the minute, for several keys per write.
const (
	useResolution = time.Minute
	useFlushDelay = 2 * time.Second
	closeTimeout  = 5 * time.Second // for the last flush
)

func openKeyring(ctx context.Context, s store.Keys, log *slog.Logger) (*keyring, error) {
	all, err := s.Keys(ctx)
	if err != nil {
		return nil, err
	}
	r := &keyring{store: s, log: log, byPrefix: make(map[string]*cachedKey), due: make(chan struct{}, 1)}
	for _, k := range all {
		r.put(k)
	}
	ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	r.wg.Go(func() { r.loop(ctx) })
	return r, nil
}

// reload reads the keys again, which another process may have changed.
func (r *keyring) reload(ctx context.Context) error {
	all, err := r.store.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range all {
		r.mu.RLock()
		held := r.byPrefix[k.Prefix]
		r.mu.RUnlock()
		if held == nil || held.Revoked.IsZero() && !k.Revoked.IsZero() { // a revoked key never becomes valid again
			r.put(k)
		}
	}
	return nil
}

// put adds a key, or applies its revocation.
func (r *keyring) put(k store.StoredKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.byPrefix[k.Prefix]; old != nil && !k.Revoked.IsZero() {
		old.revoke()
	}
	held := &cachedKey{StoredKey: k}
	held.valid, held.revoke = context.WithCancel(context.Background())
	if !k.LastUsed.IsZero() {
		held.used.Store(k.LastUsed.UnixMicro())
		held.stored.Store(k.LastUsed.UnixMicro())
	}
	r.byPrefix[k.Prefix] = held
	n := int64(0)
	for _, h := range r.byPrefix {
		if h.Revoked.IsZero() {
			n++
		}
	}
	r.active.Store(n)
}

// knows reports whether there is a key with the prefix of text, valid or not.
func (r *keyring) knows(text string) bool {
	prefix, _, ok := access.ReadText(text)
	r.mu.RLock()
	defer r.mu.RUnlock()
	return ok && r.byPrefix[prefix] != nil
}

// localToken returns the local token, generating it on first use.
func (r *keyring) localToken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token == "" {
		r.token = rand.Text()
		hash := access.Hash(sha256.Sum256([]byte(r.token)))
		r.local.Store(&hash)
	}
	return r.token
}

func (r *keyring) authenticate(text string, now time.Time) (access.Grant, error) {
	prefix, hash, ok := access.ReadText(text)
	if !ok {
		return r.authenticateLocal(text)
	}
	r.mu.RLock()
	k := r.byPrefix[prefix]
	r.mu.RUnlock()
	var want access.Hash
	if k != nil {
		want = k.Hash
	}
	if subtle.ConstantTimeCompare(hash[:], want[:]) != 1 || k == nil {
		return access.Grant{}, fmt.Errorf("%w: the API key is unknown", ragctx.ErrUnauthenticated)
	}
	if state := k.State(now); state != "active" {
		return access.Grant{}, fmt.Errorf("%w: the API key %s is %s; use another one", ragctx.ErrUnauthenticated,
			k.ID, state)
	}
	r.use(k, now)
	return k.Grant(), nil
}

func (r *keyring) whileValid(ctx context.Context, text string, now time.Time) (context.Context, context.CancelFunc) {
	prefix, _, _ := access.ReadText(text)
	r.mu.RLock()
	k := r.byPrefix[prefix]
	r.mu.RUnlock()
	if k == nil { // the local token, which is valid until the process ends
		return ctx, func() {}
	}
	var end context.CancelFunc
	if k.Expires.IsZero() {
		ctx, end = context.WithCancel(ctx)
	} else {
		ctx, end = context.WithTimeout(ctx, k.Expires.Sub(now))
	}
	stop := context.AfterFunc(k.valid, end)
	return ctx, func() { stop(); end() }
}

func (r *keyring) authenticateLocal(text string) (access.Grant, error) {
	got := sha256.Sum256([]byte(text))
	if want := r.local.Load(); want != nil && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		g := access.FullGrant()
		g.Key = LocalKey
		return g, nil
	}
	return access.Grant{}, fmt.Errorf("%w: this is not an API key; API keys begin with rgx_", ragctx.ErrUnauthenticated)
}

// names returns the names of the keys by id.
func (r *keyring) names() map[string]string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make(map[string]string, len(r.byPrefix))
	for _, k := range r.byPrefix {
		names[k.ID] = k.Name
	}
	return names
}

// use records that a key was used, and schedules a write if the stored time is too old.
func (r *keyring) use(k *cachedKey, now time.Time) {
	at := now.UnixMicro()
	k.used.Store(at)
	if at-k.stored.Load() < useResolution.Microseconds() {
		return
	}
	select {
	case r.due <- struct{}{}:
	default:
	}
}

func (r *keyring) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(useFlushDelay):
			r.flush(ctx)
		}
	}
}

// flush writes when keys were used. On failure the next use retries.
func (r *keyring) flush(ctx context.Context) {
	last := make(map[string]time.Time)
	var keys []*cachedKey
	r.mu.RLock()
	for _, k := range r.byPrefix {
		if at := k.used.Load(); at != k.stored.Load() {
			last[k.ID] = time.UnixMicro(at).UTC()
			keys = append(keys, k)
		}
	}
	r.mu.RUnlock()
	if len(last) == 0 {
		return
	}
	if err := r.store.RecordKeyUses(ctx, last); err != nil {
		if ctx.Err() == nil {
			r.log.Warn("recording uses of API keys failed", "error", err)
		}
		return
	}
	for _, k := range keys {
		k.stored.Store(last[k.ID].UnixMicro())
	}
}

// close writes the pending uses.
func (r *keyring) close() {
	if r == nil {
		return
	}
	r.end()
	r.wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	r.flush(ctx)
}
