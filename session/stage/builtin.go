package stage

import "github.com/ragctx/ragctx/session/compact"

// BuiltinOptions select the built-in stages of a pipeline.
type BuiltinOptions struct {
	// Observations configures the observation stage; nil omits it.
	Observations *Observation
	// Compaction configures the compaction stage; nil omits it. Hooks observe it.
	Compaction *compact.Options
	Hooks      Hooks
	// MaxMessages and MaxTokens configure [Truncation], which is always included.
	MaxMessages, MaxTokens int
	// Extra stages are registered after the built-in ones.
	Extra []Stage
}

// Builtin returns a pipeline with the built-in stages and the extra ones.
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
		stages = append(stages, Compaction{Options: options, Hooks: b.Hooks})
	}
	stages = append(stages, Truncation{MaxMessages: b.MaxMessages, MaxTokens: b.MaxTokens, Counter: p.opts.Counter})
	for _, s := range append(stages, b.Extra...) {
		if err := p.Register(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}
