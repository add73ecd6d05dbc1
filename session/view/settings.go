package view

import (
	"cmp"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// Settings configure the compression of conversations. The zero value selects the defaults of
// packages stage and compact.
type Settings struct {
	Observation ObservationSettings
	Compaction  CompactionSettings
	Truncate    TruncateSettings
}

// ObservationSettings are settings of [stage.ObserverOptions].
type ObservationSettings struct {
	Disabled                         bool // nothing is observed, and no observations are shown
	MinMessages, ReflectionThreshold int
}

// CompactionSettings are settings of [compact.Options].
type CompactionSettings struct {
	Disabled            bool // sessions are compacted only on request
	KeepFirst, KeepLast int
	Threshold           float64
	// Timeout bounds the model's time for a summary; after it the summary is extracted. The client
	// of a view waits for it. 0 selects [DefaultCompactionTimeout].
	Timeout time.Duration
}

// DefaultCompactionTimeout is about the time that clients wait for an agent's model.
const DefaultCompactionTimeout = 15 * time.Second

// TruncateSettings limit a view; 0 means no limit.
type TruncateSettings struct{ MaxMessages, MaxTokens int }

// Validate returns an [ragctx.ErrInvalid] for the first invalid setting.
func (s Settings) Validate() error {
	if _, err := stage.NewObserver(new(stage.MemoryNotes), s.observer()); err != nil {
		return prefixField("observation", err)
	}
	if err := s.compaction().Validate(); err != nil {
		return prefixField("compaction", err)
	}
	return s.Truncate.validate()
}

func (t TruncateSettings) validate() error {
	switch {
	case t.MaxMessages < 0:
		return ragctx.Invalid("truncate.max_messages", "is %d; use 1 or more, or 0 for no limit", t.MaxMessages)
	case t.MaxTokens < 0 || t.MaxTokens > ragctx.MaxTokensLimit:
		return ragctx.Invalid("truncate.max_tokens", "is %d; use 1 to %d, or 0 for no limit", t.MaxTokens, ragctx.MaxTokensLimit)
	}
	return nil
}

// prefixField prefixes the field of an error with a group of settings.
func prefixField(group string, err error) error {
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		inner := *f
		inner.Field = group + "." + f.Field
		return &inner
	}
	return err
}

func (s Settings) observer() stage.ObserverOptions {
	return stage.ObserverOptions{MinMessages: s.Observation.MinMessages, ReflectionThreshold: s.Observation.ReflectionThreshold}
}

func (s Settings) compaction() compact.Options {
	return compact.Options{
		KeepFirst: s.Compaction.KeepFirst, KeepLast: s.Compaction.KeepLast, Threshold: s.Compaction.Threshold,
		Timeout: cmp.Or(s.Compaction.Timeout, DefaultCompactionTimeout),
	}
}
