package view

import (
	"context"
	"maps"

	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// Summary describes a session.
type Summary struct {
	session.Info

	Key   session.Key
	Layer stage.Layer
	// Observations is the number of active observations.
	Observations int
}

// SummaryOf returns the description of a session, without the number of observations.
func SummaryOf(k session.Key, info session.Info) Summary {
	out := Summary{Info: info, Key: k, Layer: layerOf(info.Parameters)}
	out.Parameters = maps.Clone(info.Parameters)
	delete(out.Parameters, ParameterLayer)
	return out
}

// Describe describes a session without reading its messages.
func (s *Service) Describe(ctx context.Context, k session.Key) (Summary, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return Summary{}, err
	}
	info, err := s.opts.Storage.Info(ctx, k)
	if err != nil {
		return Summary{}, err
	}
	out := SummaryOf(k, info)
	if s.opts.Notes != nil {
		notes, err := s.opts.Notes.Notes(ctx, scopeOf(k))
		if err != nil {
			return Summary{}, err
		}
		out.Observations = len(notes)
	}
	return out, nil
}
