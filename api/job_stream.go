package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
)

func (s *Server) watchJob(ctx context.Context, in *JobKey) (*huma.StreamResponse, error) {
	if _, err := s.engine.Jobs().Get(ctx, in.ID); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		ctx, cancel := context.WithCancel(hctx.Context())
		defer cancel()
		if err := s.writeJob(ctx, openStream(hctx), s.watch(ctx, in.ID)); err != nil {
			s.log.DebugContext(ctx, "stream ended", "request_id", requestID(ctx), "error", err)
		}
	}}, nil
}

// jobState is the current state of a job, or the error of reading it.
type jobState struct {
	job engine.Job
	err error
}

// watch sends the states of a job until it ends or ctx does.
func (s *Server) watch(ctx context.Context, id string) <-chan jobState {
	states := make(chan jobState)
	go func() {
		defer close(states)
		for j, err := range s.engine.Jobs().Watch(ctx, id) {
			select {
			case states <- jobState{j, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return states
}

// writeJob writes job states until the job ends, the client disconnects or the server stops.
func (s *Server) writeJob(ctx context.Context, out *stream, states <-chan jobState) error {
	tick := time.NewTicker(keepAliveEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case n, ok := <-states:
			switch {
			case !ok:
				return ctx.Err()
			case n.err != nil:
				return n.err
			case n.job.State.Ended():
				return out.event("end", n.job)
			}
			err = out.event("progress", n.job)
		case <-tick.C:
			err = out.keepAlive()
		case <-s.stopping:
			return nil
		}
		if err != nil {
			return err
		}
	}
}
