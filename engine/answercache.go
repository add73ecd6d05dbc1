package engine

import (
	"cmp"
	linked "container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// DefaultAnswerCache is how many bytes of answers are kept.
const DefaultAnswerCache = 16 << 20

const (
	// answerSpan is how long an answer is given again to those who do not say when they
	// ask: until the end of the minute. What is told of ages does not change within it.
	answerSpan = time.Minute
	// mostAnswers bounds the answers that are kept by number, and answerShare by size: one
	// may take a part of all.
	mostAnswers = 10_000
	answerShare = 8
	// longTalk is from how many messages on a conversation is not worth looking for:
	// the same one hardly comes again.
	longTalk = 100
)

// answerCache keeps answers of [Engine.Context], those that were used last. It is safe for
// concurrent use.
type answerCache struct {
	limit int // in bytes; nothing is kept below 1

	mu           sync.Mutex
	recent       linked.List // of *keptAnswer, the last used first
	of           map[answerKey]*linked.Element
	bytes        int
	hits, misses uint64
}

// answerKey names a question: everything of it that its answer depends on, but for the time.
type answerKey struct {
	namespace int64
	query     [sha256.Size]byte
}

// answerState is what an answer is a function of, beside the question: what is stored, and
// what the indexes have of it.
type answerState struct {
	commits             store.Commits
	documents, memories index.Mark
	// What is kept in memory of what is stored follows a moment after the commit.
	procedures, rankings uint64
}

// keptAnswer is an answer for questions from a time on until another; a zero until is no end.
type keptAnswer struct {
	key         answerKey
	state       answerState
	from, until time.Time
	answer      resolve.Answer
	bytes       int
}

func (k *keptAnswer) holds(state answerState, now time.Time) bool {
	return k.state == state && (k.until.IsZero() || !now.Before(k.from) && now.Before(k.until))
}

func newAnswerCache(limit int) *answerCache {
	return &answerCache{limit: cmp.Or(limit, DefaultAnswerCache), of: make(map[answerKey]*linked.Element)}
}

// get returns an answer that holds at a time.
func (c *answerCache) get(key answerKey, state answerState, now time.Time) (resolve.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.of[key]
	if ok && !at.Value.(*keptAnswer).holds(state, now) { //nolint:forcetypeassert // there is nothing else in it
		c.drop(at)
		ok = false
	}
	if !ok {
		c.misses++
		return resolve.Answer{}, false
	}
	c.hits++
	c.recent.MoveToFront(at)
	return at.Value.(*keptAnswer).answer.Clone(), true //nolint:forcetypeassert // likewise
}

// put keeps an answer, unless something was committed since it was begun: an erasure clears
// the cache after its commit, so that nothing of what it took comes back.
func (c *answerCache) put(k *keptAnswer, commits func() store.Commits) {
	k.answer = k.answer.Clone()
	for i := range k.answer.Providers {
		k.answer.Providers[i].TookMS = 0 // they are not asked again
	}
	k.bytes = answerBytes(k.answer)
	if k.bytes > c.limit/answerShare {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if commits() != k.state.commits {
		return
	}
	if at, ok := c.of[k.key]; ok {
		c.drop(at)
	}
	c.of[k.key] = c.recent.PushFront(k)
	c.bytes += k.bytes
	for c.bytes > c.limit || c.recent.Len() > mostAnswers {
		c.drop(c.recent.Back())
	}
}

// drop forgets an answer. The lock is held.
func (c *answerCache) drop(at *linked.Element) {
	k := c.recent.Remove(at).(*keptAnswer) //nolint:forcetypeassert // there is nothing else in it
	delete(c.of, k.key)
	c.bytes -= k.bytes
}

// clear forgets everything.
func (c *answerCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent.Init()
	clear(c.of)
	c.bytes = 0
}

// AnswerCacheTally counts what became of questions that may have been asked just before.
type AnswerCacheTally struct {
	Hits, Misses   uint64
	Answers, Bytes int // that are kept now
}

func (c *answerCache) tally() AnswerCacheTally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return AnswerCacheTally{c.hits, c.misses, c.recent.Len(), c.bytes}
}

// answerBytes returns about how much memory an answer takes.
func answerBytes(a resolve.Answer) int {
	const entry, item, line = 1024, 512, 96
	n := entry + len(a.XML) + len(a.Text) + len(a.Note) + len(a.Instruction) + line*(len(a.Dropped)+len(a.Shortened)+4*len(a.Providers))
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

// valueBytes returns about how much memory a value of JSON takes.
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

// recallable is a question whose answer may be kept: under which key, and for which state.
type recallable struct {
	key   answerKey
	state answerState
	timed bool // its asker said when; else it is asked now
}

// recallable prepares a checked question for the cache, before anything is read for it. It
// reports false for those whose answers are not kept: what other programs say (providers of
// the operator and of sessions, rerankers) may change without our knowing, ledgers move all
// the time, and who wants an explanation wants that of a search.
func (e *Engine) recallable(ctx context.Context, q ragctx.ContextQuery, own []*resolve.Prepared, timed bool) (recallable, bool) {
	if e.recall.limit < 1 || q.Explain || e.opts.Reranker != nil || len(own) > 0 || len(q.Messages) > longTalk || e.asksOthers(q) {
		return recallable{}, false
	}
	ns, err := e.namespace(ctx, q.Namespace, false)
	if err != nil {
		return recallable{}, false
	}
	r := recallable{key: answerKey{namespace: ns}, timed: timed}
	if !timed {
		q.Now = time.Time{}
	}
	asked, err := json.Marshal(struct {
		User  string // of the grant, which decides what is seen
		Query ragctx.ContextQuery
	}{access.From(ctx).User, q})
	if err != nil {
		return recallable{}, false
	}
	r.key.query = sha256.Sum256(asked)
	r.state.commits = e.store.Commits(ns)
	r.state.procedures, r.state.rankings = e.store.ProceduresState(), e.rankings.changes.Load()
	for _, in := range [...]struct {
		kind store.Kind
		mark *index.Mark
	}{{store.Documents, &r.state.documents}, {store.Memories, &r.state.memories}} {
		col, release, err := e.collections.get(ctx, store.Collection{Namespace: ns, Kind: in.kind})
		if err != nil {
			return recallable{}, false
		}
		*in.mark = col.index.Mark()
		release()
	}
	return r, true
}

// asksOthers reports whether a question is for a provider beside those of documents,
// memories and skills.
func (e *Engine) asksOthers(q ragctx.ContextQuery) bool {
	return slices.ContainsFunc(e.attached.global[len(e.builtin):], func(r resolve.Registered) bool {
		p, ok := r.Provider.(ragctx.Selective)
		return !ok || p.Concerns(q)
	})
}

// keep has an answer given again while it holds: nothing is missing from it, and nothing is
// written or expires.
func (e *Engine) keep(ctx context.Context, r recallable, now time.Time, a resolve.Answer) {
	if len(a.Degraded) > 0 {
		return
	}
	k := &keptAnswer{key: r.key, state: r.state, answer: a}
	if !r.timed {
		k.from, k.until = now, now.Truncate(answerSpan).Add(answerSpan)
		next, err := e.store.NextExpiry(ctx, r.key.namespace, now)
		if err != nil {
			return
		}
		if !next.IsZero() && next.Before(k.until) {
			k.until = next
		}
	}
	e.recall.put(k, func() store.Commits { return e.store.Commits(r.key.namespace) })
}
