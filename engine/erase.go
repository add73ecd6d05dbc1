package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/throttle"
	"github.com/ragctx/ragctx/session"
)

// eraser completes erasures: when one is asked for all that are to be completed
// then, and in the background those of an earlier process and those that failed.
//
// Completing one writes files anew, and takes little longer for many. So it rests after
// each time, while more may come.
type eraser struct {
	mu     sync.Mutex
	rested time.Time       // when the next may begin; guarded by mu
	due    chan struct{}   // an erasure failed
	life   context.Context //nolint:containedctx // ends with the goroutine
	end    context.CancelFunc
	wg     sync.WaitGroup
}

// It rests eraseShare times as long as it has worked, so that it takes up a fifth of a core
// in the long run, however many erasures come; but at most eraseRest, as callers wait.
const (
	eraseShare = 4
	eraseRest  = 5 * time.Second
)

// What fails is tried again after eraseFirst, then ever later up to eraseMost.
const (
	eraseFirst = time.Second
	eraseMost  = 5 * time.Minute
)

func startEraser(e *Engine) *eraser {
	r := &eraser{due: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	r.wg.Go(func() {
		if err := e.store.Settle(r.life); err == nil && r.life.Err() == nil {
			r.loop(r.life, e)
		} // else the next opening tries again
	})
	return r
}

func (r *eraser) loop(ctx context.Context, e *Engine) {
	for failed := 0; ; {
		unhidden := e.store.Erasing() // before: what is hidden in between is finished now
		e.forgetErased()
		err := r.finish(ctx, e)
		if err == nil && unhidden {
			err = errErasing
		}
		if ctx.Err() != nil {
			return
		}
		var again <-chan time.Time
		if err == nil {
			failed = 0
		} else {
			wait := min(eraseFirst<<min(failed, 10), eraseMost)
			failed++
			e.opts.Logger.Warn("an erasure is not complete", "again_in", wait, "error", err)
			again = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		case <-again:
		}
	}
}

var errErasing = errors.New("not everything is out of sight yet")

// retry has what failed tried again in the background.
func (r *eraser) retry() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

func (r *eraser) close() {
	if r == nil {
		return
	}
	r.end()
	r.wg.Wait()
}

// EraseDocument removes a document for good: every version, for every time, from
// the database, the indexes and their files. What never was is erased already.
// An error after the document is gone from every answer says what still holds
// its bytes; it is tried again in the background, and at the next opening.
func (e *Engine) EraseDocument(ctx context.Context, namespace, id string) (store.Erased, error) {
	return e.If(store.Condition{}).EraseDocument(ctx, namespace, id)
}

// EraseMemory removes a memory of a user, or one that belongs to no user, and
// the turn that it was made of, as [Engine.EraseDocument] does. With anyUser it
// may be anyone's.
func (e *Engine) EraseMemory(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	return e.eraseMemory(ctx, namespace, id, Viewer{user, anyUser}, store.Condition{})
}

func (e *Engine) eraseMemory(ctx context.Context, namespace, id string, by Viewer, when store.Condition) (store.Erased, error) {
	by, err := e.changedBy(ctx, namespace, id, by)
	if err != nil {
		return store.Erased{}, err
	}
	if e.nowhere(ctx, namespace) {
		return store.Erased{}, when.Missing("memory", id)
	}
	return e.eraseTold(ctx, namespace, toldOfMemory(id), func(ns int64) (store.Erased, error) {
		took, err := e.store.EraseMemory(ctx, ns, id, by.User, by.Anyone, when)
		if isNotFound(err) && access.From(ctx).User != "" {
			return store.Erased{}, when.Missing("memory", id) // what is another user's is not there, and what is not there is erased
		}
		return took, err
	})
}

// EraseSession removes the turns and memories of a session of a user, or with
// anyUser of everyone, which is for admins; who acts for one user erases what is theirs. A
// condition of ctx ([session.If]) is about the stored session, and about nothing else that
// follows from its erasure.
func (e *Engine) EraseSession(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	by, err := seenBy(ctx, Viewer{user, anyUser})
	if err == nil && by.Anyone {
		err = access.From(ctx).Everyone()
	}
	if err != nil {
		return store.Erased{}, err
	}
	when := session.ConditionOf(ctx)
	ctx = session.If(ctx, session.Condition{})
	if e.nowhere(ctx, namespace) {
		return store.Erased{}, when.Check(session.Key{ID: id}, nil)
	}
	f := store.MemoryFilter{SessionID: id, UserID: by.User, AnyUser: by.Anyone, Own: !by.Anyone}
	before := e.tiers(ctx, namespace, f)
	took, err := e.eraseTold(ctx, namespace, toldIn(id, by), func(ns int64) (store.Erased, error) {
		erased, err := e.store.EraseSession(session.If(ctx, when), ns, id, by.User, by.Anyone)
		if !errors.Is(err, ragctx.ErrPrecondition) {
			e.attached.forget(func(k SessionKey) bool {
				return k.Namespace == spaceName(namespace) && k.SessionID == id && (by.Anyone || k.UserID == by.User)
			})
		}
		return erased, err
	})
	e.cleared(ctx, namespace, f, before, took)
	return took, err
}

// EraseUser removes everything that belongs to a user in a namespace.
func (e *Engine) EraseUser(ctx context.Context, namespace, user string) (store.Erased, error) {
	if err := actAs(ctx, &user); err != nil {
		return store.Erased{}, err
	}
	f := store.MemoryFilter{UserID: user, Own: true}
	before := e.tiers(ctx, namespace, f)
	took, err := e.eraseTold(ctx, namespace, toldOfUser(user), func(ns int64) (store.Erased, error) {
		e.attached.forget(func(k SessionKey) bool { return k.Namespace == spaceName(namespace) && k.UserID == user })
		return e.store.EraseUser(ctx, ns, user)
	})
	e.cleared(ctx, namespace, f, before, took)
	return took, err
}

func (e *Engine) erase(ctx context.Context, namespace string, fn func(ns int64) (store.Erased, error)) (store.Erased, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return store.Erased{}, nil
	}
	if err != nil {
		return store.Erased{}, err
	}
	e.auditor.flush(ctx) // what was noted before has ids that are to go
	erased, err := fn(ns)
	e.forgetErased()
	if err == nil {
		// Not in the caller's context: half an erasure is of no use to anyone.
		err = e.eraser.finish(context.WithoutCancel(ctx), e)
	}
	if err != nil {
		e.eraser.retry()
	}
	if e.started.Load() { // who opened it for one command leaves this to who opens it for good
		e.tellTheRest(context.WithoutCancel(access.With(ctx, access.Full()))) // what other turns say of what went is learnt again
	}
	return erased, err
}

// forgetErased forgets what may have been erased: what is out of sight in the database
// is not kept elsewhere.
func (e *Engine) forgetErased() {
	e.shown.clear()
	e.recall.clear()
	e.conversations.Forget(nil)
}

// finish brings erasures to their end: the indexes forget what was erased, and
// no file holds its bytes.
func (r *eraser) finish(ctx context.Context, e *Engine) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	pending, err := e.store.ErasePending(ctx)
	if err != nil || len(pending) == 0 {
		return err
	}
	if r.rest() {
		if pending, err = e.store.ErasePending(ctx); err != nil {
			return err
		}
	}
	defer func(begun time.Time) {
		now := time.Now()
		r.rested = now.Add(min(eraseShare*now.Sub(begun), eraseRest))
	}(time.Now())
	while, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	throttle.Background(func() { err = e.finishErasures(while, pending) })
	if err != nil && ctx.Err() == nil && r.life.Err() != nil {
		return fmt.Errorf("erased, but files may still hold it; it is gone from them once the data directory is opened again: %w", ragctx.ErrClosed)
	}
	return err
}

// finishErasures does what is left of erasures.
func (e *Engine) finishErasures(ctx context.Context, pending []store.Pending) error {
	defer e.store.MakingRoom()()
	follow := make(map[store.Collection]uint64)
	done := make([]int64, 0, len(pending))
	for _, p := range pending {
		done = append(done, p.ID)
		for _, id := range p.Gone {
			if err := e.removeIndex(ctx, id); err != nil {
				return notGone("an index", err)
			}
		}
		for id, seq := range p.Followed {
			follow[id] = max(follow[id], seq)
		}
	}
	for id, seq := range follow {
		if err := e.expunge(ctx, id, seq); err != nil {
			return notGone("an index", err)
		}
	}
	if err := e.store.Scrub(ctx, done); err != nil {
		return notGone("the database", err)
	}
	return nil
}

// notGone says why files may still hold what was erased: an [ragctx.ErrUnavailable], whatever
// failed, as it is tried again.
func notGone(whose string, err error) error {
	err = fmt.Errorf("erased, but the files of %s may still hold it; it is tried again: %w", whose, store.DiskError(err))
	if code, _ := ragctx.CodeOf(err); code == "internal" {
		err = fmt.Errorf("%w: %w", ragctx.ErrUnavailable, err)
	}
	return err
}

// rest waits until the next may begin, and reports whether it had to. It ends early
// when the eraser is closed.
func (r *eraser) rest() bool {
	wait := time.Until(r.rested)
	if wait <= 0 {
		return false
	}
	select {
	case <-time.After(wait):
	case <-r.life.Done():
	}
	return true
}

// expungePatience is how long an erasure waits for a leg that is being opened or
// fed: one that failed is opened again after a second.
const expungePatience = 1500 * time.Millisecond

// expunge makes an index forget what was erased up to a change, in its files as
// well. It fails while a leg is not there: its files may hold anything.
func (e *Engine) expunge(ctx context.Context, id store.Collection, seq uint64) error {
	col, release, err := e.collections.get(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	if err := col.index.CatchUp(ctx, seq); err != nil {
		return err
	}
	full := false
	for end := time.Now().Add(expungePatience); ; {
		err := col.index.Compact(ctx)
		if errors.Is(err, syscall.ENOSPC) && !full {
			full = true
			e.store.MakeRoom()
			continue
		}
		passing := errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, syscall.ENOSPC) // another merge may have the room
		if !passing || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
