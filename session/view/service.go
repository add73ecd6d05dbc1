package view

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// DefaultTokenizer is used unless another tokenizer is requested.
const DefaultTokenizer = "o200k_base"

// Options configure a [Service]. Storage is required.
type Options struct {
	Storage session.Storage
	// Notes stores observations; nil disables observation.
	Notes stage.Notes
	// Generator writes summaries, and Observer writes observations; without them they are extracted.
	Generator, Observer llm.Generator
	Settings            Settings
	// Stages run in addition to the built-in ones.
	Stages []stage.Stage
	// Admit completes or rejects the key of a session; nil accepts valid keys.
	Admit func(context.Context, session.Key) (session.Key, error)
	// Publish receives the events of a session in order; nil discards them. Type and Data of the
	// events are set.
	Publish func(context.Context, session.Key, ...ragctx.Event)
	// CacheBytes is the size of the session cache; 0 selects [DefaultCacheBytes], a negative value
	// disables the cache.
	CacheBytes int

	Logger *slog.Logger     // default: no logging
	Now    func() time.Time // default: the system clock
	NewID  func() string    // creates ids; default: random UUIDs
}

// Service computes the messages of stored sessions for a model. It is safe for concurrent use:
// calls that change a session, and calls that may run a model, are serialized per session.
type Service struct {
	opts       Options
	cache      *sessionCache
	workLocks  sessionLocks // serialize compactions, views and observations, which may call a model
	writeLocks sessionLocks // serialize appends and edits, which never wait for a model
}

// New returns a service. Invalid options are [ragctx.ErrInvalid].
func New(o Options) (*Service, error) {
	if o.Storage == nil {
		return nil, ragctx.Invalid("storage", "is missing; set a storage for sessions")
	}
	if err := o.Settings.Validate(); err != nil {
		return nil, err
	}
	if o.Admit == nil {
		o.Admit = func(_ context.Context, k session.Key) (session.Key, error) { return k, k.Validate() }
	}
	if o.Publish == nil {
		o.Publish = func(context.Context, session.Key, ...ragctx.Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &Service{opts: o, cache: newSessionCache(cmp.Or(o.CacheBytes, DefaultCacheBytes))}, nil
}

// Forget evicts the matching sessions from the cache, including those being read, so that erased
// content is not retained. A nil function matches all.
func (s *Service) Forget(matches func(session.Key) bool) { s.cache.forget(matches) }

// compaction returns the options of a compaction with a tokenizer's counter.
func (s *Service) compaction(counter ragctx.Counter) compact.Options {
	o := s.opts.Settings.compaction()
	o.Counter, o.Generator, o.Now, o.NewID = counter, s.opts.Generator, s.opts.Now, s.opts.NewID
	return o
}
