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
		if err := s.tellJob(ctx, openStream(hctx), s.watch(ctx, in.ID)); err != nil {
			s.log.DebugContext(ctx, "stream ended", "request_id", requestID(ctx), "error", err)
		}
	}}, nil
}

// news is the current state of a job, or the error of reading it.
type news struct {
	job engine.Job
	err error
}

// watch sends the states of a job until it ends or ctx does.
func (s *Server) watch(ctx context.Context, id string) <-chan news {
	told := make(chan news)
	go func() {
		defer close(told)
		for j, err := range s.engine.Jobs().Watch(ctx, id) {
			select {
			case told <- news{j, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return told
}

// tellJob writes job states until the job ends, the client disconnects or the server stops.
func (s *Server) tellJob(ctx context.Context, out *stream, told <-chan news) error {
	tick := time.NewTicker(keepAliveEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case n, ok := <-told:
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
