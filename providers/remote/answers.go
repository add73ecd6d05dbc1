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

	mu    sync.Mutex
	kept  []keptAnswer // newest last
	bytes int
}

type keptAnswer struct {
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
	a.drop(func(k keptAnswer) bool { return now.Sub(k.since).Abs() >= a.ttl })
	for _, k := range a.kept {
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
	a.drop(func(k keptAnswer) bool { return k.key == key })
	a.kept = append(a.kept, keptAnswer{key, body, asOf, now})
	a.bytes += len(body)
	for len(a.kept) > maxAnswers || a.bytes > maxAnswersBytes {
		a.bytes -= len(a.kept[0].body)
		a.kept = slices.Delete(a.kept, 0, 1)
	}
}

func (a *answers) drop(which func(keptAnswer) bool) {
	a.kept = slices.DeleteFunc(a.kept, func(k keptAnswer) bool {
		if !which(k) {
			return false
		}
		a.bytes -= len(k.body)
		return true
	})
}
