package conversation

import (
	"context"

	"github.com/ragctx/ragctx/pipeline"
	"github.com/ragctx/ragctx/session"
)

// Summary is what a session is.
type Summary struct {
	session.Info

	Key   session.Key
	Layer pipeline.Layer
	// Observations is how many count.
	Observations int
}

// Describe returns what a session is, without reading its messages.
func (s *Service) Describe(ctx context.Context, k session.Key) (Summary, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Summary{}, err
	}
	info, err := s.opts.Storage.Info(ctx, k)
	if err != nil {
		return Summary{}, err
	}
	out := Summary{Info: info, Key: k, Layer: layerOf(info.Parameters)}
	if s.opts.Notes != nil {
		notes, err := s.opts.Notes.Notes(ctx, scopeOf(k))
		if err != nil {
			return Summary{}, err
		}
		out.Observations = len(notes)
	}
	return out, nil
}
