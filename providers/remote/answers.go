package remote

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// The cache of a provider has at most maxAnswers answers and maxAnswersBytes bytes.
const (
	maxAnswers      = 256
	maxAnswersBytes = 16 << 20
)

// answers is the answer cache of a provider. It is safe for concurrent use.
type answers struct {
	ttl time.Duration

	mu      sync.Mutex
	entries []cachedAnswer // newest last
	bytes   int
}

type cachedAnswer struct {
	key   [sha256.Size]byte
	body  []byte
	asOf  time.Time // Now of the query
	since time.Time
}

func newAnswers(ttl time.Duration) *answers { return &answers{ttl: ttl} }

// keyOf returns a key that is equal for equal queries. Now is compared separately.
func keyOf(q ragctx.ContextQuery) (key [sha256.Size]byte, err error) {
	q.Now = time.Time{}
	b, err := json.Marshal(q)
	if err != nil {
		return key, fmt.Errorf("encode question: %w", err)
	}
	return sha256.Sum256(b), nil
}

// get returns the cached answer to a query if it is younger than the TTL and its Now differs by
// less than the TTL from asOf.
func (a *answers) get(key [sha256.Size]byte, asOf, now time.Time) ([]byte, bool) {
	if a.ttl == 0 {
		return nil, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(func(k cachedAnswer) bool { return now.Sub(k.since).Abs() >= a.ttl })
	for _, k := range a.entries {
		if k.key == key && asOf.Sub(k.asOf).Abs() < a.ttl {
			return k.body, true
		}
	}
	return nil, false
}

func (a *answers) put(key [sha256.Size]byte, body []byte, asOf, now time.Time) {
	if a.ttl == 0 || len(body) > maxAnswersBytes/4 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(func(k cachedAnswer) bool { return k.key == key })
	a.entries = append(a.entries, cachedAnswer{key, body, asOf, now})
	a.bytes += len(body)
	for len(a.entries) > maxAnswers || a.bytes > maxAnswersBytes {
		a.bytes -= len(a.entries[0].body)
		a.entries = slices.Delete(a.entries, 0, 1)
	}
}

func (a *answers) drop(which func(cachedAnswer) bool) {
	a.entries = slices.DeleteFunc(a.entries, func(k cachedAnswer) bool {
		if !which(k) {
			return false
		}
		a.bytes -= len(k.body)
		return true
	})
}
