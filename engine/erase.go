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

// eraser completes erasures. A request completes all pending ones; the background loop completes
// erasures of an earlier process and retries failed ones.
//
// Completing an erasure rewrites files, and takes little longer for many. So the eraser pauses
// after each run to batch the next ones.
type eraser struct {
	mu        sync.Mutex
	restUntil time.Time       // when the next run may begin; guarded by mu
	due       chan struct{}   // signals a failed erasure
	life      context.Context //nolint:containedctx // ends with the goroutine
	end       context.CancelFunc
	wg        sync.WaitGroup
}

// The eraser pauses eraseRestFactor times as long as it worked, at most maxEraseRest because callers wait.
// So it uses at most a fifth of a core in the long run, however many erasures arrive.
const (
	eraseRestFactor = 4
	maxEraseRest    = 5 * time.Second
)

// A failed erasure is retried after eraseMinDelay, with exponential backoff up to eraseMaxDelay.
const (
	eraseMinDelay = time.Second
	eraseMaxDelay = 5 * time.Minute
)

func newEraser() *eraser {
	r := &eraser{due: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// start starts the eraser.
func (r *eraser) start(e *core) {
	r.wg.Go(func() {
		if err := e.store.AwaitCollection(r.life); err == nil && r.life.Err() == nil {
			r.loop(r.life, e)
		} // otherwise the next opening retries
	})
}

func (r *eraser) loop(ctx context.Context, e *core) {
	for failed := 0; ; {
		hiding := e.store.Erasing() // read before: erasures hidden in between are completed by this run
		if hiding {
			e.clearCaches()
		}
		err := r.finish(ctx, e)
		if err == nil && hiding {
			err = errErasing
		}
		if ctx.Err() != nil {
			return
		}
		var again <-chan time.Time
		if err == nil {
			failed = 0
		} else {
			wait := min(eraseMinDelay<<min(failed, 10), eraseMaxDelay)
			failed++
			e.opts.Logger.Warn("an erasure is incomplete; retrying", "again_in", wait, "error", err)
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

var errErasing = errors.New("some erased content is not hidden yet")

// retry wakes the background loop.
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

// Erase permanently removes a document: every version from the database, the indexes and
// their files. A document that never existed counts as erased. After the document is hidden from
// all answers, an error says which files may still hold its bytes; the erasure is retried in the
// background and at the next opening.
func (e Documents) Erase(ctx context.Context, namespace, id string) (store.Erased, error) {
	return e.If(store.Condition{}).EraseDocument(ctx, namespace, id)
}

// Erase erases a memory of a user, or one without a user, and the turn that it was made of,
// as [Documents.Erase] does. With anyUser it may belong to any user.
func (e Memories) Erase(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	return e.eraseMemory(ctx, namespace, id, Viewer{user, anyUser}, store.Condition{})
}

func (e *core) eraseMemory(
	ctx context.Context, namespace, id string, by Viewer, when store.Condition,
) (store.Erased, error) {
	by, err := e.canModify(ctx, namespace, id, by)
	if err != nil {
		return store.Erased{}, err
	}
	if e.namespaceMissing(ctx, namespace) {
		return store.Erased{}, when.CheckMissing("memory", id)
	}
	return e.eraseWithEvents(ctx, namespace, memoryEvents(id), func(ns int64) (store.Erased, error) {
		took, err := e.store.EraseMemory(ctx, ns, id, by.User, by.Anyone, when)
		if isNotFound(err) && access.From(ctx).User != "" {
			// Another user's memory is reported like a missing one, and a missing one counts as erased.
			return store.Erased{}, when.CheckMissing("memory", id)
		}
		return took, err
	})
}

// Erase erases the turns and memories of a session of a user. With anyUser it erases those
// of all users, which needs the role admin; a caller bound to a user erases only that user's. The
// condition applies to the stored session only.
func (e Sessions) Erase(
	ctx context.Context, namespace, id, user string, anyUser bool, when session.Condition,
) (store.Erased, error) {
	by, err := canRead(ctx, Viewer{user, anyUser})
	if err == nil && by.Anyone {
		err = access.From(ctx).RequireAllUsers()
	}
	if err != nil {
		return store.Erased{}, err
	}
	if e.namespaceMissing(ctx, namespace) {
		return store.Erased{}, when.Check(session.Key{ID: id}, nil)
	}
	f := store.MemoryFilter{SessionID: id, UserID: by.User, AnyUser: by.Anyone, Own: !by.Anyone}
	before := e.countTiers(ctx, namespace, f)
	took, err := e.eraseWithEvents(ctx, namespace, sessionEvents(id, by), func(ns int64) (store.Erased, error) {
		erased, err := e.store.EraseSession(ctx, ns, id, by.User, by.Anyone, when)
		if !errors.Is(err, ragctx.ErrPrecondition) {
			e.registry.forget(func(k SessionKey) bool {
				return k.Namespace == namespaceName(namespace) && k.SessionID == id &&
					(by.Anyone || k.UserID == by.User)
			})
		}
		return erased, err
	})
	e.publishCleared(ctx, namespace, f, before, took)
	return took, err
}

// EraseUser erases everything that belongs to a user in a namespace.
func (e Admin) EraseUser(ctx context.Context, namespace, user string) (store.Erased, error) {
	if err := actAs(ctx, &user); err != nil {
		return store.Erased{}, err
	}
	f := store.MemoryFilter{UserID: user, Own: true}
	before := e.countTiers(ctx, namespace, f)
	took, err := e.eraseWithEvents(ctx, namespace, userEvents(user), func(ns int64) (store.Erased, error) {
		e.registry.forget(func(k SessionKey) bool {
			return k.Namespace == namespaceName(namespace) && k.UserID == user
		})
		return e.store.EraseUser(ctx, ns, user)
	})
	e.publishCleared(ctx, namespace, f, before, took)
	return took, err
}

func (e *core) erase(
	ctx context.Context, namespace string, fn func(ns int64) (store.Erased, error),
) (store.Erased, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return store.Erased{}, nil
	}
	if err != nil {
		return store.Erased{}, err
	}
	e.auditor.flush(ctx) // pending audit entries may contain ids to erase
	erased, err := fn(ns)
	e.clearCaches()
	if err == nil {
		// Independent of the caller's context: half an erasure helps no caller.
		err = e.eraser.finish(context.WithoutCancel(ctx), e)
	}
	if err != nil {
		e.eraser.retry()
	}
	// A one-off command leaves this to the next long-running process. Facts are extracted again from other turns
	// that state them.
	if e.started.Load() {
		e.deliverPending(context.WithoutCancel(access.With(ctx, access.FullGrant())))
	}
	return erased, err
}

// clearCaches clears the caches that may hold erased content.
func (e *core) clearCaches() {
	e.shownItems.clear()
	e.answerCache.clear()
	e.conversations.Forget(nil)
	e.factExtractor.changes.Forget()
	e.skills.Forget()
}

// finish completes all pending erasures: the indexes drop the erased content, and no file holds its
// bytes.
func (r *eraser) finish(ctx context.Context, e *core) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	pending, err := e.store.PendingErasures(ctx)
	if err != nil || len(pending) == 0 {
		return err // and what calls were shown is remembered
	}
	e.clearCaches()
	if r.rest() {
		if pending, err = e.store.PendingErasures(ctx); err != nil {
			return err
		}
	}
	defer func(begun time.Time) {
		now := time.Now()
		r.restUntil = now.Add(min(eraseRestFactor*now.Sub(begun), maxEraseRest))
	}(time.Now())
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	throttle.Background(func() { err = e.finishErasures(runCtx, pending) })
	if err != nil && ctx.Err() == nil && r.life.Err() != nil {
		return fmt.Errorf("erased, but files may still contain it until the data directory is opened again: %w",
			ragctx.ErrClosed)
	}
	return err
}

// finishErasures completes the pending erasures.
func (e *core) finishErasures(ctx context.Context, pending []store.PendingErasure) error {
	defer e.store.BeginFreeing()()
	follow := make(map[store.Collection]uint64)
	done := make([]int64, 0, len(pending))
	for _, p := range pending {
		done = append(done, p.ID)
		for _, id := range p.Removed {
			if err := e.removeIndex(ctx, id); err != nil {
				return incompleteErasure("an index", err)
			}
		}
		for id, seq := range p.UpTo {
			follow[id] = max(follow[id], seq)
		}
	}
	for id, seq := range follow {
		if err := e.expungeIndex(ctx, id, seq); err != nil {
			return incompleteErasure("an index", err)
		}
	}
	if err := e.store.SecureErase(ctx, done); err != nil {
		return incompleteErasure("the database", err)
	}
	return nil
}

// incompleteErasure wraps the error of an incomplete erasure. It is always an [ragctx.ErrUnavailable],
// because the erasure is retried.
func incompleteErasure(what string, err error) error {
	err = fmt.Errorf("erased, but the files of %s may still contain it; this will be retried: %w", what,
		store.DiskError(err))
	if code, _ := ragctx.CodeOf(err); code == "internal" {
		err = fmt.Errorf("%w: %w", ragctx.ErrUnavailable, err)
	}
	return err
}

// rest waits until the next run may begin, and reports whether it had to wait. It ends early when
// the eraser is closed.
func (r *eraser) rest() bool {
	wait := time.Until(r.restUntil)
	if wait <= 0 {
		return false
	}
	select {
	case <-time.After(wait):
	case <-r.life.Done():
	}
	return true
}

// indexWait is how long an erasure waits for an index that is being opened or rebuilt; a
// failed index is reopened after a second.
const indexWait = 1500 * time.Millisecond

// expungeIndex makes an index drop everything erased up to a change, in its files as well. It fails
// while a part of the index is unavailable, because its files may hold anything.
func (e *core) expungeIndex(ctx context.Context, id store.Collection, seq uint64) error {
	idx, release, err := e.collections.Get(ctx, id)
	if isNotFound(err) { // erased with its namespace
		return e.removeIndex(ctx, id)
	}
	if err != nil {
		return err
	}
	defer release()
	if err := idx.CatchUp(ctx, seq); err != nil {
		return err
	}
	full := false
	for end := time.Now().Add(indexWait); ; {
		err := idx.Compact(ctx)
		if errors.Is(err, syscall.ENOSPC) && !full {
			full = true
			e.store.ReleaseReserve()
			continue
		}
		// On a full disk another merge may be using the space.
		transient := errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, syscall.ENOSPC)
		if !transient || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
