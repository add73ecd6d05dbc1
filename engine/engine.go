// Package engine is the whole of ragctx behind one type: it opens a data
// directory, keeps the indexes behind the store, and offers every operation
// that the REST API and the command line call.
//
//	eng, err := engine.Open(ctx, engine.Options{Dir: dir})
//	...
//	defer eng.Close()
//	eng.PutDocument(ctx, "default", docs.Document{ExternalID: "readme", Text: text}, "")
//	answer, err := eng.Context(ctx, ragctx.NewQuery("how do I roll back?"))
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/procedures"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// Options configures an [Engine]. Only Dir is required.
type Options struct {
	// Dir is the data directory; it is created if missing. One process at a time
	// may have it open.
	Dir string
	// Embedder turns text into vectors; nil is that of the data directory, and the
	// built-in table (package embed/static) in a new one. One that is [embed.Unsized] is
	// asked for its dimensions, unless the data directory has vectors of it. It is the
	// caller's to close, after the engine.
	Embedder embed.Embedder
	// Reembed changes a data directory that was filled with another embedder to
	// Embedder, in the background, while the vectors that are there go on serving.
	// Without it such a directory is refused.
	Reembed bool
	// Embedders returns embedders by their identity, so that queries can be asked
	// in the vectors that a data directory already has; nil knows the built-in ones.
	Embedders func(embed.Identity) (embed.Embedder, bool)
	// VectorGraph is the kind of vector index: "native" (the default), "flat"
	// (exact) or "coder".
	VectorGraph string
	// Gauge says which vector searches are done again exactly, in the background, to
	// measure what the graph misses. Documents and memories have half of its limits
	// each.
	Gauge index.GaugeOptions
	// Fusion joins the scores of words and vectors. Its VectorWeight is 0 for the
	// defaults, of which memories have their own.
	Fusion  index.Fusion
	Weights memory.Weights
	// MaxWorking is how many working memories a user, agent and session have at a time,
	// MaxShortTerm how many of the newest memories count as short-term; 0 means
	// [memory.DefaultMaxWorking] and [memory.DefaultMaxShortTerm].
	MaxWorking, MaxShortTerm int
	// Learning says how turns are looked through for what is worth remembering.
	Learning Learning
	// KeepSecrets stores turns and memories with the passwords, keys and card numbers
	// that are in them; see package screen.
	KeepSecrets bool
	// Dialogue weighs what stands around a remembered turn and who said it;
	// TimeWeight that something lies within the time that a question names, among
	// memories and documents. 0 means the defaults, negative none.
	Dialogue   index.Dialogue
	TimeWeight float64
	// Summarizer writes summaries and observations of stored conversations; nil takes them from
	// what was said. It is the caller's to close, after the engine.
	Summarizer llm.Generator
	// Conversation says how stored conversations are compressed. Stages run beside those of
	// package pipeline for what a model is shown of them.
	Conversation view.Settings
	Stages       []stage.Stage
	// Procedures says from which turns procedures are learnt.
	Procedures procedures.Gate
	// Ledgers says what is made of the messages of clusters.
	Ledgers Ledgers
	// Providers are asked beside the built-in documents and memories.
	Providers []resolve.Registered
	// SessionProviders are asked by the sessions that added them; see
	// [Engine.UseProvider].
	SessionProviders []resolve.Registered
	// ProviderTimeout bounds each provider's part of a query; 0 is
	// [resolve.DefaultTimeout].
	ProviderTimeout time.Duration
	// Reranker scores the best RerankTop items of a query anew, in at most
	// RerankTimeout; nil is none, and 0 the defaults of package resolve. It is the
	// caller's to close, after the engine.
	Reranker      resolve.Reranker
	RerankTop     int
	RerankTimeout time.Duration
	// OpenRoot returns what a path of a folder job names; nil is [OpenPath].
	OpenRoot func(path string, o IngestOptions) (Root, error)
	// Extract finds the texts in files that are not text; nil is [extract.Read], which
	// reads them in this process. An [extract.Pool] survives what a bad file does.
	Extract docs.ExtractFunc
	// Lanes is how many documents of a bulk job are worked on at a time; 0 is half
	// of GOMAXPROCS, at least one, which leaves room for turns and questions.
	Lanes int
	// KeepVersions is how many versions of a document are kept for questions about
	// earlier times, the current one included; 0 is [store.DefaultKeepVersions],
	// negative all. Older ones go when the document is replaced.
	KeepVersions int
	// PauseJobs leaves jobs that wait where they are, and turns that providers have not
	// heard of, until [Engine.StartJobs].
	PauseJobs bool
	// KeepJobs is how long a job can be looked at after it has ended; 0 is
	// [DefaultKeepJobs].
	KeepJobs time.Duration
	// KeepAudit is how many entries of the audit log are kept; 0 is
	// [DefaultKeepAudit], negative writes none.
	KeepAudit int

	// Reserve is how many bytes of the disk are reserved for deletes and erasures when it is
	// full; 0 is none. A server has [store.DefaultReserve].
	Reserve int64
	// AcceptLoss opens a data directory also where writes that were acknowledged are missing:
	// without it that is a [*store.LostError]. Indexes are made again.
	AcceptLoss bool

	// AnswerCache is how many bytes of answers of [Engine.Context] are kept, to be given
	// again while nothing changed; 0 is [DefaultAnswerCache], negative keeps none.
	AnswerCache int

	Now    func() time.Time // the clock; nil is the system's
	NewID  func() string    // makes ids of turns and memories; nil is UUID v7
	Logger *slog.Logger
}

// Engine is an open data directory. Its methods are safe for concurrent use.
type Engine struct {
	opts          Options
	lock          *lock
	store         *store.Store
	spaces        spaces
	filler        *filler
	eraser        *eraser
	gauges        gauges
	collections   *collections
	rankings      rankings
	courtesy      courtesy
	shelf         *shelf
	markers       markers
	builtin       []ragctx.ContextProvider // documents, memories, skills
	resolver      *resolve.Resolver
	attached      attached
	conversations *view.Service
	observer      *observer
	learner       *learner
	uses          *uses
	keys          *keyring
	auditor       *auditor
	taught        sync.Map // ids of namespaces in whose turns something was found
	events        *events.Broker
	jobs          *jobs
	ledger        *store.Ledger
	states        *ledger.Snapshotter
	packs         *ledger.Builder
	tally         packTally
	answers       answerTally
	recall        *answerCache
	shown         shown
	embedding     embedderCalls
	started       atomic.Bool // jobs were
	opened        time.Time
	troubles      *troubles
	snapshots     chan struct{} // one for each that is made or read
}

// Open opens or creates a data directory. If another process has it open, the
// error is a [*LockedError], which names that process's address.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	l, err := acquire(o.Dir)
	if err != nil {
		return nil, err
	}
	e := &Engine{opts: o, lock: l, opened: o.Now(), troubles: new(troubles), snapshots: make(chan struct{}, MaxSnapshots)}
	e.opts.Logger = slog.New(remembering{Handler: o.Logger.Handler(), to: e.troubles})
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if !o.PauseJobs {
		e.StartJobs()
	}
	return e, nil
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Lanes <= 0 {
		o.Lanes = max(1, runtime.GOMAXPROCS(0)/2)
	}
	return o
}

func (e *Engine) open(ctx context.Context) error {
	var err error
	o := store.Options{Now: e.opts.Now, KeepVersions: e.opts.KeepVersions, Reserve: e.opts.Reserve, AcceptLoss: e.opts.AcceptLoss, Failed: e.storeFailed}
	if e.store, err = store.Open(ctx, filepath.Join(e.opts.Dir, store.DatabaseName), o); err != nil {
		return err
	}
	if err := e.checkLost(ctx); err != nil {
		return err
	}
	if e.keys, err = openKeyring(ctx, e.store, e.opts.Logger); err != nil {
		return err
	}
	e.openEvents()
	e.ledger = e.store.Ledger(ledger.Options{Now: e.opts.Now, NewID: e.opts.NewID})
	if err := e.openSpaces(ctx); err != nil {
		return err
	}
	e.gauges = newGauges(e.opts.Gauge)
	e.collections = newCollections(e.openIndex, e.opts.Logger)
	e.shelf = &shelf{engine: e}
	e.markers.store = e.store
	e.recall = newAnswerCache(e.opts.AnswerCache)
	e.builtin = []ragctx.ContextProvider{
		docs.NewProvider(e.source(store.Documents), e.documents()),
		memory.NewProvider(e.source(store.Memories), e.memories()),
		procedures.NewProvider(e.shelf),
	}
	if err := e.openPacks(); err != nil {
		return err
	}
	if err := e.openConversations(); err != nil {
		return err
	}
	e.openJobs()
	if err := e.openResolver(); err != nil {
		return err
	}
	e.filler = newFiller(e)
	e.eraser = startEraser(e)
	e.uses = startUses(e)
	e.auditor = startAuditor(e)
	return e.resumeReembed(ctx)
}

func (e *Engine) openResolver() error {
	var providers []resolve.Registered
	for _, p := range e.builtin {
		providers = append(providers, resolve.Registered{Provider: p, Stored: true})
	}
	providers = append(providers, resolve.Registered{Stored: true, Provider: ledger.NewProvider(e.ledger, e.states.State)})
	builtin := len(providers)
	var watchers []watcher
	var err error
	if e.learner, err = e.newLearner(); err != nil {
		return err
	}
	if !e.opts.Learning.Off {
		watchers = append(watchers, watcher{TurnObserver: e.learner, name: memory.Name, timeout: e.learner.wait + learnTimeout, own: true})
	}
	watchers = append(watchers, watcher{
		TurnObserver: apprentice{e}, name: procedures.Observer, timeout: DefaultModelWait + learnTimeout, own: true, wants: e.opts.Procedures.Admits,
	})
	for _, r := range e.opts.Providers {
		providers = append(providers, r)
		if w, ok := r.Provider.(ragctx.TurnObserver); ok {
			watchers = append(watchers, watcher{TurnObserver: w, name: r.Provider.Name(), timeout: tellTimeout})
		}
	}
	r, err := resolve.New(resolve.Options{
		Providers: providers, Timeout: e.opts.ProviderTimeout, Logger: e.opts.Logger, Now: e.opts.Now,
		Reranker: e.opts.Reranker, RerankTop: e.opts.RerankTop, RerankTimeout: e.opts.RerankTimeout,
		Standing: e.standing, Secret: e.markers.get, OnEvent: e.publish,
	})
	if err != nil {
		return err
	}
	if err := e.attached.open(r, providers, builtin, e.opts.SessionProviders); err != nil {
		return err
	}
	watchers = append(watchers, watcher{TurnObserver: sessionObserver{e}, name: sessionWatcher, timeout: tellTimeout, wants: e.attached.observes})
	watchers = append(watchers, watcher{
		TurnObserver: conversationObserver{e}, name: "conversations", timeout: observeTimeout, own: true, wants: conversationObserver{e}.observes,
	})
	e.resolver, e.observer = r, newObserver(e, watchers)
	return nil
}

// Close ends background work and closes the data directory. What was
// acknowledged is durable with or without it.
func (e *Engine) Close() error {
	var errs []error
	e.jobs.close()
	e.filler.close()
	e.eraser.close()
	e.observer.close()
	e.uses.close()
	e.keys.close()
	e.auditor.close()
	if e.events != nil {
		e.events.Close()
	}
	if e.states != nil {
		e.states.Close()
	}
	if e.collections != nil {
		errs = append(errs, e.collections.close())
	}
	if e.ledger != nil {
		errs = append(errs, e.ledger.Close())
	}
	if e.store != nil {
		errs = append(errs, e.store.Close())
	}
	return errors.Join(append(errs, e.lock.release())...)
}

// spaceName returns the name of a namespace, which "" is the default of.
func spaceName(name string) string { return cmp.Or(name, ragctx.DefaultNamespace) }

// namespace returns the id of a namespace, made if missing when create is set. It is
// where the wall between namespaces stands: one that the grant of ctx does not reach is
// [ragctx.ErrDenied].
func (e *Engine) namespace(ctx context.Context, name string, create bool) (int64, error) {
	name = spaceName(name)
	if err := access.From(ctx).Enters(name); err != nil {
		return 0, err
	}
	if err := ragctx.ValidName("namespace", name); err != nil {
		return 0, err
	}
	return e.store.Namespace(ctx, name, create)
}

// Namespaces returns the names of the namespaces that the grant of ctx reaches, sorted.
func (e *Engine) Namespaces(ctx context.Context) ([]string, error) {
	names, err := e.store.Namespaces(ctx)
	g := access.From(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return !g.Reaches(name) }), err
}

// Ready fails while the engine cannot answer, or cannot write any more.
func (e *Engine) Ready(ctx context.Context) error { return e.store.Ready(ctx) }

// storeFailed tells that the store cannot go on until somebody does something.
func (e *Engine) storeFailed(failed *ragctx.RepairError) {
	e.opts.Logger.Error("the store failed", "kind", failed.Kind, "problem", failed.Problem, "error", failed.Cause)
	if e.events != nil {
		e.events.Publish(ragctx.Event{Type: ragctx.EventStoreFailed, Data: ragctx.StoreFailed{Kind: failed.Kind, Problem: failed.Problem}})
	}
}

// StoreFailures returns what keeps the store from working until somebody does something.
func (e *Engine) StoreFailures() []*ragctx.RepairError { return e.store.Failures() }
