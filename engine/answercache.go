package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/lru"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// DefaultAnswerCache is the default size of the answer cache in bytes.
const DefaultAnswerCache = 16 << 20

const (
	// answerTTL bounds how long an answer is reused for queries without an explicit time: until
	// the end of the minute. Relative ages in rendered text do not change within a minute.
	answerTTL = time.Minute
	// maxCachedAnswers bounds the number of cached answers. One answer may use at most 1/maxAnswerShare of
	// the cache's size.
	maxCachedAnswers = 10_000
	maxAnswerShare   = 8
	// maxCachedMessages is the number of query messages above which answers are not cached: such a query
	// hardly recurs.
	maxCachedMessages = 100
)

// answerCache is an LRU cache of answers of [Engine.Context]. It is safe for concurrent use.
type answerCache struct {
	limit int // in bytes; below 1 disables the cache

	mu           sync.Mutex
	answers      *lru.Cache[answerKey, *cachedAnswer]
	hits, misses uint64
}

// answerKey identifies a query by everything that its answer depends on, except the time.
type answerKey struct {
	namespace int64
	query     [sha256.Size]byte
}

// answerState is the state of the stored data and its indexes. Together with the query it
// determines an answer.
type answerState struct {
	commits             store.Commits
	documents, memories index.Version
	// Caches of procedures and rankings are updated shortly after the commit.
	procedures, rankings uint64
}

// cachedAnswer is a cached answer, valid in [from, until); a zero until has no end.
type cachedAnswer struct {
	key         answerKey
	state       answerState
	from, until time.Time
	answer      resolve.Answer
}

func (k *cachedAnswer) valid(state answerState, now time.Time) bool {
	return k.state == state && (k.until.IsZero() || !now.Before(k.from) && now.Before(k.until))
}

func newAnswerCache(limit int) *answerCache {
	limit = cmp.Or(limit, DefaultAnswerCache)
	return &answerCache{limit: limit, answers: lru.New[answerKey, *cachedAnswer](maxCachedAnswers, limit)}
}

// get returns the cached answer for a key if it is valid for the state and the time.
func (c *answerCache) get(key answerKey, state answerState, now time.Time) (resolve.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.answers.Get(key)
	if ok && !k.valid(state, now) {
		c.answers.Remove(key)
		ok = false
	}
	if !ok {
		c.misses++
		return resolve.Answer{}, false
	}
	c.hits++
	return k.answer.Clone(), true
}

// put caches an answer, unless something was committed since its query began. An erasure clears the
// cache after its commit, so an answer with erased content cannot be added afterwards.
func (c *answerCache) put(k *cachedAnswer, commits func() store.Commits) {
	k.answer = k.answer.Clone()
	for i := range k.answer.Providers {
		k.answer.Providers[i].TookMS = 0 // a cache hit does not call them
	}
	size := answerBytes(k.answer)
	if size > c.limit/maxAnswerShare {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if commits() != k.state.commits {
		return
	}
	c.answers.Put(k.key, k, size)
}

// clear removes all answers.
func (c *answerCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers.Clear()
}

// AnswerCacheTally counts cache lookups and the cache's contents.
type AnswerCacheTally struct {
	Hits, Misses   uint64
	Answers, Bytes int // currently cached
}

func (c *answerCache) tally() AnswerCacheTally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return AnswerCacheTally{c.hits, c.misses, c.answers.Len(), c.answers.Bytes()}
}

// answerBytes estimates the memory that an answer uses, in bytes.
func answerBytes(a resolve.Answer) int {
	const entry, item, line = 1024, 512, 96
	n := entry + len(a.XML) + len(a.Text) + len(a.Note) + len(a.Instruction) +
		line*(len(a.Dropped)+len(a.Shortened)+4*len(a.Providers))
	for _, b := range a.Blocks {
		n += item + len(b.Text) + len(b.Instruction)
	}
	for _, it := range a.Items {
		n += item + len(it.ID) + len(it.Content) + len(it.Source) + len(it.Since) + valueBytes(it.Metadata)
		if it.Highlights != nil {
			n += line * len(it.Highlights.Matches)
		}
	}
	for _, d := range a.Dropped {
		n += len(d.ID)
	}
	for _, q := range a.Unquoted {
		n += len(q)
	}
	return n
}

// valueBytes estimates the memory that a JSON value uses, in bytes.
func valueBytes(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += valueBytes(e)
		}
	case []string:
		for _, e := range v {
			n += 16 + len(e)
		}
	case map[string]any:
		for key, e := range v {
			n += 32 + len(key) + valueBytes(e)
		}
	}
	return n
}

// answerLookup holds the cache key and state of a query with a cacheable answer.
type answerLookup struct {
	key     answerKey
	state   answerState
	hasTime bool // the query has an explicit time
}

// prepareLookup prepares a checked query for the cache, before any data is read for it. It returns
// false for queries whose answers cannot be cached: results of external providers and rerankers may
// change unnoticed, ledgers change constantly, and an explanation must describe a real search.
func (e *core) prepareLookup(
	ctx context.Context, q ragctx.ContextQuery, sessionProviders []*resolve.Prepared, hasTime bool,
) (answerLookup, bool) {
	if e.answerCache.limit < 1 || q.Explain || e.opts.Reranker != nil || len(sessionProviders) > 0 ||
		len(q.Messages) > maxCachedMessages || e.asksExternal(q) {
		return answerLookup{}, false
	}
	ns, err := e.namespace(ctx, q.Namespace, false)
	if err != nil {
		return answerLookup{}, false
	}
	r := answerLookup{key: answerKey{namespace: ns}, hasTime: hasTime}
	if !hasTime {
		q.Now = time.Time{}
	}
	asked, err := json.Marshal(struct {
		User  string // the user that the grant acts for; it decides what is visible
		Query ragctx.ContextQuery
	}{access.From(ctx).User, q})
	if err != nil {
		return answerLookup{}, false
	}
	r.key.query = sha256.Sum256(asked)
	r.state.commits = e.store.Commits(ns)
	r.state.procedures, r.state.rankings = e.store.ProceduresState(), e.retriever.Rankings.Version()
	for _, in := range [...]struct {
		kind store.Kind
		mark *index.Version
	}{{store.KindDocuments, &r.state.documents}, {store.KindMemories, &r.state.memories}} {
		idx, release, err := e.collections.Get(ctx, store.Collection{Namespace: ns, Kind: in.kind})
		if err != nil {
			return answerLookup{}, false
		}
		*in.mark, err = idx.Version(ctx)
		release()
		if err != nil {
			return answerLookup{}, false
		}
	}
	return r, true
}

// asksExternal reports whether any provider other than the built-in ones applies to a query.
func (e *core) asksExternal(q ragctx.ContextQuery) bool {
	return slices.ContainsFunc(e.registry.global[len(e.builtin):], func(r resolve.Registered) bool {
		p, ok := r.Provider.(ragctx.Selective)
		return !ok || p.Concerns(q)
	})
}

// cacheAnswer caches an answer unless it is degraded. The entry expires with answerTTL or the next
// expiring memory.
func (e *core) cacheAnswer(ctx context.Context, r answerLookup, now time.Time, a resolve.Answer) {
	if len(a.Degraded) > 0 {
		return
	}
	k := &cachedAnswer{key: r.key, state: r.state, answer: a}
	if !r.hasTime {
		k.from, k.until = now, now.Truncate(answerTTL).Add(answerTTL)
		next, err := e.store.NextExpiry(ctx, r.key.namespace, now)
		if err != nil {
			return
		}
		if !next.IsZero() && next.Before(k.until) {
			k.until = next
		}
	}
	e.answerCache.put(k, func() store.Commits { return e.store.Commits(r.key.namespace) })
}
