package view

import (
	"cmp"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

// Settings say how conversations are compressed. The zero value has the defaults of
// packages pipeline and compact.
type Settings struct {
	Observation ObservationSettings
	Compaction  CompactionSettings
	Truncate    TruncateSettings
}

// ObservationSettings are those of [stage.ObserverOptions].
type ObservationSettings struct {
	Disabled                         bool // nothing is observed, and no observation shown
	MinMessages, ReflectionThreshold int
}

// CompactionSettings are those of [compact.Options].
type CompactionSettings struct {
	Disabled            bool // nothing is compacted unless somebody asks for it
	KeepFirst, KeepLast int
	Threshold           float64
	// Timeout is how long a model may take for a summary before the conversation's own
	// sentences take its place: whoever asks for a view waits for it. 0 is
	// [DefaultCompactionTimeout].
	Timeout time.Duration
}

// DefaultCompactionTimeout is as long as a call of an agent's model is usually waited for.
const DefaultCompactionTimeout = 15 * time.Second

// TruncateSettings bound what is shown; 0 is no limit.
type TruncateSettings struct{ MaxMessages, MaxTokens int }

// Validate returns an [ragctx.ErrInvalid] about the first setting that cannot work.
func (s Settings) Validate() error {
	if _, err := stage.NewObserver(new(stage.MemoryNotes), s.observer()); err != nil {
		return within("observation", err)
	}
	if err := s.compaction().Validate(); err != nil {
		return within("compaction", err)
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

// within names the group of settings that an error is about.
func within(group string, err error) error {
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
