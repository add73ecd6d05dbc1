package stage

import "github.com/ragctx/ragctx/session/compact"

// BuiltinOptions says which of this package's stages a pipeline has.
type BuiltinOptions struct {
	// Observations are shown; nil has no such stage.
	Observations *Observation
	// Compaction is done, and Watch told of it; nil has no such stage.
	Compaction *compact.Options
	Watch      Watch
	// MaxMessages and MaxTokens are those of [Truncation], which is always there.
	MaxMessages, MaxTokens int
	// Extra stages are registered after these.
	Extra []Stage
}

// Builtin returns a pipeline with the stages of this package and others.
func Builtin(o Options, b BuiltinOptions) (*Pipeline, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	var stages []Stage
	if b.Observations != nil {
		one := *b.Observations
		if one.Options.Counter == nil {
			one.Options.Counter = p.opts.Counter
		}
		if err := one.Options.Validate(); err != nil {
			return nil, err
		}
		stages = append(stages, one)
	}
	if b.Compaction != nil {
		options := *b.Compaction
		if options.Counter == nil {
			options.Counter = p.opts.Counter
		}
		if err := options.Validate(); err != nil {
			return nil, err
		}
		stages = append(stages, Compaction{Options: options, Watch: b.Watch})
	}
	stages = append(stages, Truncation{MaxMessages: b.MaxMessages, MaxTokens: b.MaxTokens, Counter: p.opts.Counter})
	for _, s := range append(stages, b.Extra...) {
		if err := p.Register(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}
