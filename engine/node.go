package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/throttle"
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
	// uncompacted has the collections with erased data in their files, and whether they still exist. dropped has the
	// erased namespaces without files.
	uncompacted, dropped sync.Map

	mu sync.Mutex
	// pending has the namespaces that another process has changed since the caches were emptied last.
	pending map[int64]bool
	// shown is the first of the vectors that were announced last.
	shown  uint64
	leader store.Leader
	// underLeader ends when another process leads.
	underLeader context.Context //nolint:containedctx // ends with the leader
	leaderGone  context.CancelFunc
	self        store.Leader // announced to the other processes when this one leads

	wake       chan struct{} // after a change of pending
	watching   context.CancelFunc
	end        context.CancelFunc
	background sync.WaitGroup
}

const (
	// nodeInterval is how often a process that follows looks whether the leader is gone.
	nodeInterval = 500 * time.Millisecond
	// compactRest is how long a follower rests after removing erased data, as a multiple of that work.
	compactRest = 4
)

func newNode(e *core) *node {
	nothing := func() {}
	return &node{
		engine: e, leading: make(chan struct{}), replaced: make(chan *ragctx.RepairError, 1), pending: make(map[int64]bool),
		wake: make(chan struct{}, 1), underLeader: context.Background(), leaderGone: nothing, watching: nothing, end: nothing,
	}
}

// failed notes that another process has replaced this one, the only failure that stops the writes of a shared store.
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

// isLed reports whether the store is that of a process that follows, also before this node has started.
func (n *node) isLed() bool { return n.shared != nil && !n.shared.Leads() }

// start begins to lead, or to follow.
func (n *node) start(ctx context.Context) error {
	var life, watching context.Context
	life, n.end = context.WithCancel(context.WithoutCancel(ctx))
	n.background.Go(func() { n.feedUnused(life) })
	if !n.isLed() {
		return n.lead(ctx)
	}
	if err := n.readSettings(ctx); err != nil {
		return err
	}
	watching, n.watching = context.WithCancel(life)
	n.background.Go(func() { n.watch(watching) })
	n.background.Go(func() { n.apply(watching) })
	n.background.Go(func() { n.takeOver(life) })
	n.background.Go(func() { n.compactAll(life) })
	return nil
}

func (n *node) close() {
	if n != nil {
		n.end()
		n.background.Wait()
	}
}

// lead starts the work that only one process does.
func (n *node) lead(ctx context.Context) error {
	e := n.engine
	if err := n.readSettings(ctx); err != nil {
		return err
	}
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

// readSettings reads the settings of embedding in the background, which another process may have changed.
func (n *node) readSettings(ctx context.Context) error {
	e := n.engine
	first, err := e.firstUnembedded(ctx)
	if err != nil {
		return err
	}
	paused, err := e.store.Setting(ctx, store.SettingEmbeddingPaused)
	if err != nil {
		return err
	}
	n.mu.Lock()
	shown := n.shown == first
	n.mu.Unlock()
	if !shown || !n.follows() {
		e.withheld.Store(first)
	}
	e.backfill.paused.Store(paused != "")
	return nil
}

// showAnnounced shows the vectors that were withheld: the process that leads has begun to announce them.
func (n *node) showAnnounced() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if first := n.engine.withheld.Swap(0); first != 0 {
		n.shown = first
	}
}

// takeOver waits until this process leads.
func (n *node) takeOver(ctx context.Context) {
	failed := false
	for httpclient.Sleep(ctx, nodeInterval) == nil {
		leads, err := n.tryLead(ctx)
		level := slog.LevelWarn
		if failed { // it was logged
			level = slog.LevelDebug
		}
		switch failed = err != nil; {
		case ctx.Err() != nil:
		case failed:
			n.engine.opts.Logger.Log(ctx, level, "this node cannot follow or take over; retrying", "error", err)
		case leads:
			n.engine.opts.Logger.InfoContext(ctx, "this node leads from now on: it writes")
			n.watching()
			n.setLeader(store.Leader{})
			return
		}
	}
}

// tryLead begins to lead unless another process does, which it then looks at.
func (n *node) tryLead(ctx context.Context) (leads bool, err error) {
	if leads, err = n.shared.Lead(ctx); err != nil {
		return false, err
	}
	if !leads {
		return false, n.look(ctx)
	}
	n.empty(0)
	if err := errors.Join(n.dropErased(ctx), n.catchUp(ctx, 0)); err != nil {
		return false, err
	}
	return true, n.lead(ctx)
}

// look reads the leader and the settings of embedding, which no notification announces.
func (n *node) look(ctx context.Context) error {
	l, err := n.shared.Leader(ctx)
	if err != nil {
		return err
	}
	n.setLeader(l)
	return n.readSettings(ctx)
}

// setLeader notes the process that leads, and ends what waits for another one.
func (n *node) setLeader(l store.Leader) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.leader != l {
		n.leaderGone()
		n.leader = l
		n.underLeader, n.leaderGone = context.WithCancel(context.Background())
	}
}

// watch notes the writes of other processes.
func (n *node) watch(ctx context.Context) {
	for {
		err := n.shared.Watch(ctx, n.note)
		if ctx.Err() != nil {
			return
		}
		n.engine.opts.Logger.WarnContext(ctx, "the connection that reports writes of other nodes was lost; connecting again", "error", err)
		n.note(0)
		if httpclient.Sleep(ctx, nodeInterval) != nil {
			return
		}
	}
}

func (n *node) note(ns int64) {
	n.mu.Lock()
	n.pending[ns] = true
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// apply empties caches after writes of other processes, and lets the indexes follow.
func (n *node) apply(ctx context.Context) {
	e := n.engine
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		n.mu.Lock()
		changed := n.pending
		n.pending = make(map[int64]bool)
		n.mu.Unlock()
		for ns := range changed {
			n.empty(ns)
		}
		var errs []error
		if changed[0] || changed[store.OnlyKeys] {
			errs = append(errs, e.keys.reload(ctx))
		}
		if changed[0] {
			errs = append(errs, n.dropErased(ctx), e.followEmbedder(ctx))
		}
		for ns := range changed {
			if ns >= 0 {
				errs = append(errs, n.catchUp(ctx, ns))
			}
		}
		if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
			e.opts.Logger.WarnContext(ctx, "writes of another node could not be followed; retrying", "error", err)
			if httpclient.Sleep(ctx, nodeInterval) != nil {
				return
			}
			n.note(0)
		}
	}
}

// empty empties the caches of a namespace, or of all with 0.
func (n *node) empty(ns int64) {
	e := n.engine
	n.shared.Refresh(ns)
	if ns < 0 {
		return
	}
	e.snapshotter.Forget()
	if ns == 0 {
		e.retriever.Rankings.Forget()
		e.clearCaches()
	}
}

// catchUp applies the changes of a namespace, or of all with 0, to the open indexes.
func (n *node) catchUp(ctx context.Context, ns int64) error {
	return n.engine.collections.CatchUpOpen(ctx, func(id store.Collection) (uint64, error) {
		if ns != 0 && id.Namespace != ns {
			return 0, nil
		}
		return n.shared.Newest(ctx, id)
	})
}

// dropErased marks the files of erased namespaces for removal.
func (n *node) dropErased(ctx context.Context) error {
	gone, err := n.shared.ErasedNamespaces(ctx)
	for _, ns := range gone {
		if _, done := n.dropped.LoadOrStore(ns, true); !done {
			for _, k := range [...]store.Kind{store.KindDocuments, store.KindMemories} {
				n.uncompacted.Store(store.Collection{Namespace: ns, Kind: k}, false)
			}
		}
	}
	return err
}

// compactAll removes erased data from the files of indexes, also after this process has taken over.
func (n *node) compactAll(ctx context.Context) {
	for httpclient.Sleep(ctx, nodeInterval) == nil {
		began := time.Now()
		throttle.Background(func() { n.compact(ctx) })
		if httpclient.Sleep(ctx, compactRest*time.Since(began)) != nil {
			return
		}
	}
}

func (n *node) compact(ctx context.Context) {
	e := n.engine
	for key := range n.uncompacted.Range {
		exists, _ := n.uncompacted.LoadAndDelete(key) // a mark that is set meanwhile counts the next time
		id, _ := key.(store.Collection)
		var err error
		if exists == true {
			err = e.expungeIndex(ctx, id, 0)
		} else {
			err = e.removeIndex(ctx, id)
		}
		if err == nil {
			continue
		}
		n.uncompacted.LoadOrStore(key, exists)
		if ctx.Err() == nil {
			e.opts.Logger.WarnContext(ctx, "files of an index may still have erased data; retrying", "error", err)
		}
	}
}

// newest returns the change that an index must have applied before a search; 0 if this process has made all.
func (n *node) newest(ctx context.Context, id store.Collection) (uint64, error) {
	if n.shared == nil || !n.follows() && n.shared.Alone() {
		return 0, nil
	}
	return n.shared.Newest(ctx, id)
}

// announce stores the address of this process for the others.
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
func (e Node) Announce(address, certificate string) error {
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
	at := scheme + "://" + cmp.Or(e.opts.Advertise, address)
	e.node.mu.Lock()
	e.node.self = store.Leader{URL: at, Host: hostname(), Token: token, Certificate: certificate}
	e.node.mu.Unlock()
	if e.node.follows() {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), closeTimeout)
	defer end()
	return e.node.announce(ctx)
}

// AwaitLead waits until this process leads, at once if the database is its own.
func (e Node) AwaitLead(ctx context.Context) error {
	select {
	case <-e.node.leading:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AwaitReplaced waits until another process has taken the database over from this one, and returns the failure. It
// returns nil when ctx ends.
func (e Node) AwaitReplaced(ctx context.Context) error {
	select {
	case failed := <-e.node.replaced:
		return failed
	case <-ctx.Done():
		return nil
	}
}

// Leads reports whether this process writes to the database.
func (e Node) Leads() bool { return !e.node.follows() }

// WhileLeading returns ctx with cancellation when another process leads than l. The caller calls the returned func
// when done.
func (e Node) WhileLeading(ctx context.Context, l store.Leader) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	e.node.mu.Lock()
	defer e.node.mu.Unlock()
	if e.node.leader != l {
		end()
	}
	stop := context.AfterFunc(e.node.underLeader, end)
	return ctx, func() { stop(); end() }
}

// Leader returns where the process that leads serves HTTP. It fails with [ragctx.ErrUnavailable] while that is
// unknown.
func (e Node) Leader() (store.Leader, error) {
	e.node.mu.Lock()
	l := e.node.leader
	e.node.mu.Unlock()
	if l.URL == "" {
		return l, fmt.Errorf("%w: no node leads at the moment, or it does not serve; another one takes over within half a minute",
			ragctx.ErrUnavailable)
	}
	if u, err := url.Parse(l.URL); err != nil || httpclient.IsLoopback(u.Hostname()) && l.Host != hostname() {
		return l, fmt.Errorf("%w: the node that leads announces %s, which only its machine %s reaches; let it listen on another address",
			ragctx.ErrUnavailable, l.URL, l.Host)
	}
	return l, nil
}

// hostname returns the name of this machine.
func hostname() string {
	name, _ := os.Hostname() // machines without a name count as one
	return name
}
