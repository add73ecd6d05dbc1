package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/store"
)

// node is this process among those that share a database. One leads: it writes and does the background work.
// The others answer questions from indexes of their own, and take over when the leader is gone.
type node struct {
	engine *core
	shared store.Shared // nil for a database of this process alone

	// leading is closed once this process leads.
	leading chan struct{}
	// replaced receives the failure of a leader that another process has replaced.
	replaced chan *ragctx.RepairError
	// uncompacted has the collections with erased data in their files.
	uncompacted sync.Map
	// keys and embedder are set when they may have changed in the database.
	keys, embedder atomic.Bool

	mu   sync.Mutex
	self store.Leader // announced to the other processes when this one leads

	end context.CancelFunc
	wg  sync.WaitGroup
}

const (
	// nodeInterval is how often a process that follows looks whether the leader is gone.
	nodeInterval = 500 * time.Millisecond
)

func newNode(e *core) *node {
	return &node{engine: e, leading: make(chan struct{}), replaced: make(chan *ragctx.RepairError, 1), end: func() {}}
}

// failed notes that another process has replaced this one. A shared store refuses writes for good only then.
func (n *node) failed(failure *ragctx.RepairError) {
	if n.engine.opts.Store == "" || failure.Kind != ragctx.RepairWrites {
		return
	}
	select {
	case n.replaced <- failure:
	default:
	}
}

// follows reports whether another process leads.
func (n *node) follows() bool {
	select {
	case <-n.leading:
		return false
	default:
		return true
	}
}

// start begins to lead, or to follow.
func (n *node) start(ctx context.Context) error {
	if n.shared == nil || n.shared.Leads() {
		return n.lead(ctx)
	}
	var life context.Context
	life, n.end = context.WithCancel(context.WithoutCancel(ctx))
	n.wg.Go(func() { n.watch(life) })
	n.wg.Go(func() { n.takeOver(life) })
	return nil
}

func (n *node) close() {
	if n != nil {
		n.end()
		n.wg.Wait()
	}
}

// lead starts the work that only one process does.
func (n *node) lead(ctx context.Context) error {
	e := n.engine
	first, err := e.firstUnembedded(ctx)
	if err != nil {
		return err
	}
	e.withheld.Store(first)
	if n.shared != nil {
		if _, err := e.markerSecret.get(ctx); err != nil { // the others cannot store one
			return err
		}
		if err := n.announce(ctx); err != nil {
			return err
		}
	}
	if err := e.resumeReembed(ctx); err != nil {
		return err
	}
	e.backfill.start()
	e.eraser.start(e)
	close(n.leading)
	if e.started.Load() {
		e.Jobs().Start()
	}
	return nil
}

// takeOver waits until this process leads.
func (n *node) takeOver(ctx context.Context) {
	failed := false
	for tick := time.NewTicker(nodeInterval); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		n.follow(ctx)
		got, err := n.shared.Lead(ctx)
		if err == nil && got {
			n.changed(ctx, 0)
			n.follow(ctx)
			err = n.lead(ctx)
		}
		level := slog.LevelWarn
		if failed { // it was logged
			level = slog.LevelDebug
		}
		switch failed = err != nil; {
		case ctx.Err() != nil:
		case failed:
			n.engine.opts.Logger.Log(ctx, level, "this node cannot take over yet; retrying", "error", err)
		case got:
			n.engine.opts.Logger.InfoContext(ctx, "this node leads from now on: it writes")
			tick.Stop()
			n.end()
			return
		}
	}
}

// follow handles changes of another process that take longer than a moment.
func (n *node) follow(ctx context.Context) {
	n.compact(ctx)
	if n.keys.Swap(false) {
		n.reloadKeys(ctx)
	}
	if n.embedder.Swap(false) {
		if err := n.engine.followEmbedder(ctx); err != nil && ctx.Err() == nil {
			n.embedder.Store(true)
			n.engine.opts.Logger.ErrorContext(ctx, "the embedder of the database cannot be followed; retrying", "error", err)
		}
	}
}

// watch drops cached state when another process has changed it.
func (n *node) watch(ctx context.Context) {
	for n.follows() {
		err := n.shared.Watch(ctx, func(ns int64) { n.changed(ctx, ns) })
		if ctx.Err() != nil {
			return
		}
		n.engine.opts.Logger.WarnContext(ctx, "the connection that reports writes of other nodes was lost; connecting again", "error", err)
		n.changed(ctx, 0)
		select {
		case <-ctx.Done():
			return
		case <-time.After(nodeInterval):
		}
	}
}

// changed empties the caches of a namespace, or of all with 0. A negative number stands for writes that change
// no answer, such as those of keys.
func (n *node) changed(ctx context.Context, ns int64) {
	e := n.engine
	n.shared.Refresh(ns)
	if ns <= 0 {
		n.reloadKeys(ctx)
	}
	if ns < 0 {
		return
	}
	e.snapshotter.Forget()
	if ns > 0 {
		return
	}
	e.retriever.Rankings.Forget()
	e.clearCaches()
	n.expunge(ctx)
	n.embedder.Store(true)
}

func (n *node) reloadKeys(ctx context.Context) {
	if err := n.engine.keys.reload(ctx); err != nil && ctx.Err() == nil {
		n.keys.Store(true)
		n.engine.opts.Logger.WarnContext(ctx, "API keys could not be read again; retrying", "error", err)
	}
}

// expunge removes erased data from the files of the indexes, while the leader does so.
func (n *node) expunge(ctx context.Context) {
	pending, err := n.engine.store.PendingErasures(ctx)
	if err != nil {
		return
	}
	for _, p := range pending {
		for id := range p.UpTo {
			n.uncompacted.Store(id, true)
		}
		for _, id := range p.Removed {
			n.uncompacted.Store(id, false)
		}
	}
}

// compact removes erased data from the files of indexes that may have some.
func (n *node) compact(ctx context.Context) {
	e := n.engine
	for key, exists := range n.uncompacted.Range {
		id, _ := key.(store.Collection)
		var err error
		if exists == true {
			err = e.expungeIndex(ctx, id, 0)
		} else {
			err = e.removeIndex(ctx, id)
		}
		if err == nil {
			n.uncompacted.CompareAndDelete(id, exists)
		} else if ctx.Err() == nil {
			e.opts.Logger.WarnContext(ctx, "files of an index may still have erased data; retrying", "error", err)
		}
	}
}

// newest returns the change that an index must have applied before a search; 0 if this process has made all.
func (n *node) newest(ctx context.Context, id store.Collection) (uint64, error) {
	if !n.follows() {
		return 0, nil
	}
	return n.shared.Newest(ctx, id)
}

// announce tells the other processes the address of this one.
func (n *node) announce(ctx context.Context) error {
	n.mu.Lock()
	self := n.self
	n.mu.Unlock()
	if self.URL == "" {
		return nil
	}
	return n.shared.Announce(ctx, self)
}

// Announce writes this process's address into the lock file, where commands look for it, with a
// token for them, and announces it to the other processes of the database. certificate is as in [Owner].
func (e Admin) Announce(address, certificate string) error {
	token := e.keys.localToken()
	if err := e.lock.write(Owner{PID: os.Getpid(), Address: address, Token: token, Certificate: certificate}); err != nil {
		return err
	}
	if e.node.shared == nil {
		return nil
	}
	scheme := "http"
	if certificate != "" {
		scheme = "https"
	}
	e.node.mu.Lock()
	e.node.self = store.Leader{URL: scheme + "://" + address, Token: token, Certificate: certificate}
	e.node.mu.Unlock()
	if e.node.follows() {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), closeTimeout)
	defer end()
	return e.node.announce(ctx)
}

// AwaitLead waits until this process leads, at once if the database is its own.
func (e Admin) AwaitLead(ctx context.Context) error {
	select {
	case <-e.node.leading:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AwaitReplaced waits until another process has taken the database over from this one, and returns the failure. It
// returns nil when ctx ends.
func (e Admin) AwaitReplaced(ctx context.Context) error {
	select {
	case failed := <-e.node.replaced:
		return failed
	case <-ctx.Done():
		return nil
	}
}

// Leads reports whether this process writes to the database.
func (e Admin) Leads() bool { return !e.node.follows() }

// Leader returns where the process that leads serves HTTP. It fails with [ragctx.ErrUnavailable] while that is
// unknown.
func (e Admin) Leader(ctx context.Context) (store.Leader, error) {
	l, err := e.node.shared.Leader(ctx)
	if err == nil && l.URL == "" {
		err = fmt.Errorf("%w: no node leads at the moment; another one takes over within half a minute", ragctx.ErrUnavailable)
	}
	return l, err
}

// openFollowedSpace opens the embedding space that another process has chosen.
func (e *core) openFollowedSpace(ctx context.Context) error {
	active, err := e.activeEmbedder(ctx)
	if err == nil && active == 0 {
		err = fmt.Errorf("%w: the database has no embedder yet; try again when the first node has started", ragctx.ErrUnavailable)
	}
	if err == nil {
		err = e.sizeEmbedder(ctx, active)
	}
	if err == nil {
		err = e.followEmbedder(ctx)
	}
	if space := e.spaces.Current.Load(); err == nil && space.Embedder == nil {
		e.opts.Logger.WarnContext(ctx, "this node has not the embedder of the database; its questions use words alone",
			"embedder", space.Identity.String())
	}
	return err
}

// followEmbedder changes to the embedder of the database, if another process has changed it.
func (e *core) followEmbedder(ctx context.Context) error {
	active, err := e.activeEmbedder(ctx)
	if err != nil || active == 0 {
		return err
	}
	if now := e.spaces.Current.Load(); now != nil && now.ID == active {
		return nil
	}
	identity, err := e.store.EmbedderIdentity(ctx, active)
	if err != nil {
		return err
	}
	next := retrieve.NewSpace(active, identity, e.findEmbedder(identity), &e.embedderCalls)
	old := e.spaces.Current.Load()
	if old == nil { // while the engine opens
		e.spaces.Current.Store(next)
		return nil
	}
	e.spaces.Next.Store(next) // serves the indexes that change first
	if err := e.prepareIndexes(ctx, next); err != nil {
		return errors.Join(err, e.abandon(ctx))
	}
	e.spaces.Current.Store(next)
	e.spaces.Next.Store(old)
	err = e.switchIndexes(ctx, next)
	e.spaces.Next.Store(nil)
	return errors.Join(err, e.opts.Indexes.KeepSpace(ctx, next.Name()))
}
