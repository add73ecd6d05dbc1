// Package engine implements ragctx behind one type: it opens a data directory, keeps the indexes in
// sync with the store, and offers every operation of the REST API and the command line.
//
//	eng, err := engine.Open(ctx, engine.Options{Dir: dir})
//	...
//	defer eng.Close()
//	eng.Documents().Put(ctx, "default", ragctx.Document{ExternalID: "readme", Text: text}, "")
//	answer, err := eng.Context(ctx, ragctx.NewQuery("how do I roll back?"))
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/trace"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/minilm"
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
	// Dir is the data directory; it is created if missing. One process at a time can open it.
	Dir string
	// Embedder embeds texts. nil is the embedder of the data directory, or in a new one the
	// built-in table (package embed/static). An [embed.Unsized] embedder is asked for its
	// dimensions, unless the data directory has vectors of it. The caller closes it after the
	// engine.
	Embedder embed.Embedder
	// Reembed changes a data directory that was filled by another embedder to Embedder, in the
	// background, while the existing vectors serve queries. Without it such a directory is refused.
	Reembed bool
	// Embedders returns embedders by identity, so that queries can be embedded in the space of
	// existing vectors; nil knows only the built-in ones.
	Embedders func(embed.Identity) (embed.Embedder, bool)
	// VectorGraph is the kind of vector index: "native" (the default), "flat"
	// (exact) or "coder".
	VectorGraph string
	// Indexes opens the indexes; nil keeps them in files of Dir. Close also closes it, so it serves one engine.
	Indexes index.Opener
	// RecallMonitor selects the vector searches that are repeated exactly in the background to measure
	// recall. Documents and memories get half of its limits each.
	RecallMonitor index.MonitorOptions
	// Weights weighs the importance and recency of memories.
	Weights ragctx.MemoryWeights
	// MaxWorking bounds the working memories of a user, agent and session. MaxShortTerm is how many
	// of the newest memories count as short-term. 0 means [ragctx.DefaultWorkingMemories] and
	// [ragctx.DefaultShortTermMemories].
	MaxWorking, MaxShortTerm int
	// FactExtraction configures the extraction of facts from turns.
	FactExtraction FactExtraction
	// KeepSecrets stores turns and memories without redacting passwords, keys and card numbers; see
	// package redact.
	KeepSecrets bool
	// Summarizer writes summaries of stored conversations, and Observer writes observations on their
	// turns; without them they are extracted from the messages. The caller closes them after the engine.
	Summarizer, Observer llm.Generator
	// Conversation configures the compression of stored conversations. Stages run in addition to
	// the stages of package view.
	Conversation view.Settings
	Stages       []stage.Stage
	// Procedures selects the turns from which procedures are extracted.
	Procedures procedures.Gate
	// Ledgers configures the states and metrics derived from the messages of clusters.
	Ledgers Ledgers
	// Providers are asked in addition to the built-in ones.
	Providers []resolve.Registered
	// SessionProviders are offered to sessions, which add them by name; see [Sessions.UseProvider].
	SessionProviders []resolve.Registered
	// ProviderTimeout bounds each provider's part of a query; 0 is [resolve.DefaultTimeout].
	ProviderTimeout time.Duration
	// Traced is called with the trace of each context and search query. It must not wait. nil keeps no
	// traces.
	Traced func(trace.Record)
	// Reranker rescores the best RerankTop items of a query within RerankTimeout. nil disables
	// reranking; 0 means the defaults of package resolve. The caller closes it after the engine.
	Reranker      resolve.Reranker
	RerankTop     int
	RerankTimeout time.Duration
	// OpenSource opens the sources of folder jobs; nil is [OpenPath].
	OpenSource func(path string, o IngestOptions) (Source, error)
	// Extract extracts texts from binary files. nil is [extract.Read], which runs in this process;
	// an [extract.Pool] survives crashes caused by bad files.
	Extract docs.ExtractFunc
	// KeepVersions is how many versions of a document are kept for queries about earlier times,
	// including the current one. 0 is [store.DefaultKeepVersions], negative keeps all. Older ones
	// are removed when the document is replaced.
	KeepVersions int
	// PauseJobs leaves queued jobs and undelivered turns alone until [Jobs.Start].
	PauseJobs bool
	// KeepAudit is how many audit entries are kept; 0 is [DefaultKeepAudit], negative disables the
	// audit log.
	KeepAudit int

	// Reserve is how many bytes of disk are reserved for deletes and erasures on a full disk; 0 is
	// none. A server uses [store.DefaultReserve].
	Reserve int64
	// Store is the URL of the PostgreSQL database that holds the data; "" is a file in Dir. Dir then has
	// only the indexes.
	Store string
	// Follow opens a database of Store also while another process writes to it. The engine then only reads, and
	// takes over when that process is gone.
	Follow bool
	// Advertise is the host and port at which the other processes of Store reach this one; "" is the address of [Node.Announce].
	Advertise string
	// Index is the URL of the Weaviate cluster or of the PostgreSQL database that has the indexes; "" keeps them in files of Dir. IndexKey
	// is the API key of the cluster, if that is not "". See [weaviate.Options] and [pgvector.Options].
	Index, IndexKey string
	// AckStored acknowledges writes once the store has them. Otherwise they wait for Index as well, unless it is away. It needs
	// Index or Indexes: writes to files of Dir are never deferred.
	AckStored bool
	// AcceptLoss opens a data directory that lost acknowledged writes; otherwise that is a
	// [*store.LostError]. Its indexes are rebuilt.
	AcceptLoss bool

	// AnswerCache is the size of the cache of [Engine.Context] answers in bytes; 0 is
	// [DefaultAnswerCache], negative disables it.
	AnswerCache int

	Now    func() time.Time // the clock; nil is the system clock
	NewID  func() string    // creates ids of turns and memories; nil is UUID v7
	Logger *slog.Logger
}

// Engine is an open data directory. Its methods are safe for concurrent use.
// Each service, such as [Engine.Documents], has the methods for one kind of data.
type Engine struct{ *core }

// core is the state that all services share.
type core struct {
	opts           Options
	lock           *lock
	store          store.Store
	node           *node
	spaces         retrieve.Spaces
	changingSpace  sync.Mutex // held while a change of the embedder is requested
	backfill       *backfill
	withheld       atomic.Uint64 // the first chunk whose vector the indexes do not get yet; 0 is none
	eraser         *eraser
	recallMonitors recallMonitors
	collections    *retrieve.Collections
	retriever      *retrieve.Retriever
	priority       priority
	skills         *procedures.Provider
	markerSecret   markerSecret
	builtin        []ragctx.ContextProvider // documents, memories, skills
	resolver       *resolve.Resolver
	registry       providerRegistry
	conversations  *view.Service
	turns          *turnDelivery
	factExtractor  *factExtractor
	uses           *useCounter
	keys           *keyring
	auditor        *auditor
	events         *events.Broker
	jobs           *jobs
	ledger         store.Ledger
	snapshotter    *ledger.Snapshotter
	packs          *ledger.Builder
	packTally      packTally
	answers        answerTally
	answerCache    *answerCache
	shownItems     *shownCache
	embedderCalls  retrieve.Calls
	started        atomic.Bool // whether StartJobs was called
	opened         time.Time
	recentErrors   *recentErrors
	snapshotSlots  chan struct{} // semaphore: one slot for each snapshot being written or read
}

// Open opens or creates a data directory. If it is open in another process, the error is a
// [*LockedError] with that process's address.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	l, err := acquire(o.Dir)
	if err != nil {
		return nil, err
	}
	e := &core{
		opts: o, lock: l, opened: o.Now(), recentErrors: new(recentErrors),
		snapshotSlots: make(chan struct{}, MaxSnapshots),
	}
	e.opts.Logger = slog.New(recentErrorsHandler{Handler: o.Logger.Handler(), to: e.recentErrors})
	if e.opts.Indexes == nil {
		e.opts.Indexes, err = e.openIndexes()
	}
	if err == nil {
		err = e.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if !o.PauseJobs {
		e.Jobs().Start()
	}
	return &Engine{e}, nil
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
	return o
}

func (e *core) open(ctx context.Context) error {
	e.node = newNode(e)
	var err error
	if e.store, err = e.opts.openDatabase(ctx, e.storeFailed); err != nil {
		return err
	}
	e.node.shared, _ = e.store.(store.Shared)
	if err := e.checkLost(ctx); err != nil {
		return err
	}
	if e.keys, err = openKeyring(ctx, e.store, e.opts.Logger); err != nil {
		return err
	}
	e.openEvents()
	e.ledger = e.store.Ledger(ledger.Options{Now: e.opts.Now, NewID: e.opts.NewID})
	if err := e.openEmbeddingSpaces(ctx); err != nil {
		return err
	}
	e.recallMonitors = newRecallMonitors(e.opts.RecallMonitor)
	e.collections = retrieve.NewCollections(e.openIndex, e.node.newest, e.opts.Logger)
	e.retriever = retrieve.New(retrieve.Options{
		Store: e.store, Collections: e.collections, Spaces: &e.spaces, Weights: e.opts.Weights, Logger: e.opts.Logger,
	})
	e.skills = procedures.NewProvider(&skillCache{engine: e}, minilm.Default)
	e.markerSecret.store = e.store
	e.answerCache = newAnswerCache(e.opts.AnswerCache)
	e.shownItems = newShownCache()
	e.builtin = []ragctx.ContextProvider{
		docs.NewProvider(e.retriever),
		memory.NewProvider(e.retriever, e.opts.Weights),
		e.skills,
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
	e.backfill = newBackfill(e)
	e.eraser = newEraser()
	e.uses = startUseCounter(e)
	e.auditor = startAuditor(e)
	return e.node.start(ctx)
}

func (e *core) openResolver() error {
	var providers []resolve.Registered
	for _, p := range e.builtin {
		providers = append(providers, resolve.Registered{Provider: p, Stored: true})
	}
	providers = append(providers, resolve.Registered{
		Stored:   true,
		Provider: ledger.NewProvider(e.ledger, e.snapshotter.State),
	})
	builtin := len(providers)
	var observers []turnObserver
	var err error
	if e.factExtractor, err = e.newFactExtractor(); err != nil {
		return err
	}
	if !e.opts.FactExtraction.Off {
		observers = append(observers, turnObserver{
			TurnObserver: e.factExtractor, name: store.MemoryObserver,
			timeout: e.factExtractor.wait + extractTimeout, own: true,
		})
	}
	observers = append(observers, turnObserver{
		TurnObserver: procedureExtractor{e}, name: store.ProcedureObserver, timeout: DefaultModelWait +
			extractTimeout, own: true, wants: e.opts.Procedures.Admits,
	})
	for _, r := range e.opts.Providers {
		providers = append(providers, r)
		if w, ok := r.Provider.(ragctx.TurnObserver); ok {
			observers = append(observers,
				turnObserver{TurnObserver: w, name: r.Provider.Name(), timeout: deliveryTimeout})
		}
	}
	r, err := resolve.New(resolve.Options{
		Providers: providers, Timeout: e.opts.ProviderTimeout, Logger: e.opts.Logger, Now: e.opts.Now,
		Reranker: e.opts.Reranker, RerankTop: e.opts.RerankTop, RerankTimeout: e.opts.RerankTimeout,
		Pinned: e.pinnedItems, Secret: e.markerSecret.get, OnEvent: e.publish,
	})
	if err != nil {
		return err
	}
	if err := e.registry.open(r, providers, builtin, e.opts.SessionProviders); err != nil {
		return err
	}
	observers = append(observers, turnObserver{
		TurnObserver: sessionObserver{e}, name: sessionObserverName,
		timeout: deliveryTimeout, wants: e.registry.mayObserve,
	})
	observers = append(observers, turnObserver{
		TurnObserver: conversationObserver{e}, name: "conversations", timeout: observeTimeout, own: true,
		wants: conversationObserver{e}.observes,
	})
	e.resolver, e.turns = r, newTurnDelivery(e, observers)
	return nil
}

// Close ends background work and closes the data directory. Acknowledged writes are durable with or
// without it.
func (e *core) Close() error {
	var errs []error
	e.node.close()
	e.jobs.close()
	e.backfill.close()
	e.eraser.close()
	e.turns.close()
	e.uses.close()
	e.keys.close()
	e.auditor.close()
	if e.events != nil {
		e.events.Close()
	}
	if e.snapshotter != nil {
		e.snapshotter.Close()
	}
	if e.collections != nil {
		errs = append(errs, e.collections.Close())
	}
	if c, ok := e.opts.Indexes.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if e.ledger != nil {
		errs = append(errs, e.ledger.Close())
	}
	if e.store != nil {
		errs = append(errs, e.store.Close())
	}
	return errors.Join(append(errs, e.lock.release())...)
}

// namespaceName returns the name of a namespace; "" is the default one.
func namespaceName(name string) string { return cmp.Or(name, ragctx.DefaultNamespace) }

// namespace returns the id of a namespace, creating it if create is set. It enforces the isolation
// of namespaces: one that the grant of ctx does not reach is [ragctx.ErrDenied].
func (e *core) namespace(ctx context.Context, name string, create bool) (int64, error) {
	return access.Namespace(ctx, e.store, name, create)
}

// NamespaceNames returns the sorted names of the namespaces that the grant of ctx reaches.
func (e Admin) NamespaceNames(ctx context.Context) ([]string, error) {
	all, err := e.store.ListNamespaces(ctx, store.NamespaceFilter{Limit: -1})
	g := access.From(ctx)
	var names []string
	for _, n := range all {
		if g.Includes(n.Name) {
			names = append(names, n.Name)
		}
	}
	return names, err
}

// Ready returns an error while the engine cannot answer queries or cannot write.
func (e Admin) Ready(ctx context.Context) error { return e.store.Ready(ctx) }

// storeFailed logs and publishes that the store needs a repair by its operator.
func (e *core) storeFailed(failed *ragctx.RepairError) {
	e.node.failed(failed)
	e.opts.Logger.Error("the store failed", "kind", failed.Kind, "problem", failed.Problem, "error", failed.Cause)
	if e.events != nil {
		e.events.Publish(ragctx.Event{
			Type: ragctx.EventStoreFailed,
			Data: ragctx.StoreFailed{Kind: failed.Kind, Problem: failed.Problem},
		})
	}
}

// StoreFailures returns the failures that need a repair by the operator.
func (e Metrics) StoreFailures() []*ragctx.RepairError { return e.store.Failures() }
