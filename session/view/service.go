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

// DefaultTokenizer counts where nothing else is asked for.
const DefaultTokenizer = "o200k_base"

// Options configures a [Service]. Storage is required.
type Options struct {
	Storage session.Storage
	// Notes keeps observations; nil keeps none, and nothing is observed.
	Notes stage.Notes
	// Generator writes summaries and observations; nil takes them from what was said.
	Generator llm.Generator
	Settings  Settings
	// Stages run beside those of package pipeline.
	Stages []stage.Stage
	// Admit completes the key of a session, or refuses it; nil takes keys as they are.
	Admit func(context.Context, session.Key) (session.Key, error)
	// Tell is told what happens to a session, in order; nil tells nobody. Type and Data of
	// the events are set.
	Tell func(context.Context, session.Key, ...ragctx.Event)
	// KeepBytes is how much of the sessions that were used last stays in memory; 0 is
	// [DefaultKeepBytes], negative keeps none.
	KeepBytes int

	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // the clock; nil is the system's
	NewID  func() string    // makes ids; nil is random UUIDs
}

// Service answers what a model is to be shown of stored conversations. It is safe for
// concurrent use: what changes a session, or may take a model's time, is in turn with its
// like of the same session.
type Service struct {
	opts   Options
	kept   *kept
	prices prices
	work   turns // compactions, views, observations: a model may be asked
	write  turns // appends and edits, which wait for no model
}

// New returns a service. Options that cannot work are [ragctx.ErrInvalid].
func New(o Options) (*Service, error) {
	if o.Storage == nil {
		return nil, ragctx.Invalid("storage", "is missing; conversations need somewhere to be kept")
	}
	if err := o.Settings.Validate(); err != nil {
		return nil, err
	}
	if o.Admit == nil {
		o.Admit = func(_ context.Context, k session.Key) (session.Key, error) { return k, k.Validate() }
	}
	if o.Tell == nil {
		o.Tell = func(context.Context, session.Key, ...ragctx.Event) {}
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
	return &Service{opts: o, kept: newKept(cmp.Or(o.KeepBytes, DefaultKeepBytes))}, nil
}

// Forget drops what is in memory of the sessions that match, also of those that are being
// read; what was erased is not to stay. A nil function drops all.
func (s *Service) Forget(matches func(session.Key) bool) { s.kept.forget(matches) }

// compaction returns the options of a compaction by a tokenizer's counter.
func (s *Service) compaction(counter ragctx.Counter) compact.Options {
	o := s.opts.Settings.compaction()
	o.Counter, o.Generator, o.Now, o.NewID = counter, s.opts.Generator, s.opts.Now, s.opts.NewID
	return o
}
