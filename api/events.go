package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx/engine"
)

const eventsType = "text/event-stream"

// eventsOf describes a stream of server-sent events, of which each is an object of the schema.
func eventsOf(description string, names ...any) map[string]*huma.Response {
	text := func(doc string, enum ...any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: doc, Enum: enum}
	}
	return map[string]*huma.Response{"200": {Description: description, Content: map[string]*huma.MediaType{eventsType: {Schema: &huma.Schema{
		Type: huma.TypeObject, Description: "an event; lines that begin with a colon are none",
		Properties: map[string]*huma.Schema{
			"event": text("what it is", names...),
			"id":    text("its place in the stream, for Last-Event-ID"),
			"data":  text("JSON"),
		},
	}}}}}
}

const (
	keepAliveEvery = 15 * time.Second // a comment, so that nobody on the way takes the stream for dead
	eventTimeout   = 30 * time.Second // for a reader to take an event
)

// stream is a stream of server-sent events.
type stream struct {
	w   io.Writer
	ctl *http.ResponseController
	n   int
}

// openStream begins a stream as the answer to a request.
func openStream(ctx huma.Context) *stream {
	ctx.SetHeader("Content-Type", eventsType)
	ctx.SetHeader("X-Accel-Buffering", "no")
	resp := humaecho.Unwrap(ctx).Response()
	ctx.SetStatus(http.StatusOK)
	resp.WriteHeader(http.StatusOK)
	return &stream{w: resp, ctl: http.NewResponseController(resp)}
}

// write sends text at once.
func (s *stream) write(text string) error {
	// The deadline for the whole answer does not suit one without an end.
	_ = s.ctl.SetWriteDeadline(time.Now().Add(eventTimeout)) // where there is none, none is needed
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// event sends an event, whose id is its number in the stream.
func (s *stream) event(name string, data any) error {
	s.n++
	return s.eventWith(name, strconv.Itoa(s.n), data)
}

func (s *stream) eventWith(name, id string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return s.write("event: " + name + "\nid: " + id + "\ndata: " + string(b) + "\n\n")
}

func (s *stream) keepAlive() error { return s.write(": still here\n\n") }

func (s *Server) watchJob(ctx context.Context, in *JobKey) (*huma.StreamResponse, error) {
	if _, err := s.engine.Job(ctx, in.ID); err != nil {
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

// news is a job as it is now, or why that cannot be seen.
type news struct {
	job engine.Job
	err error
}

// watch sends what is told of a job until it has ended or ctx does.
func (s *Server) watch(ctx context.Context, id string) <-chan news {
	told := make(chan news)
	go func() {
		defer close(told)
		for j, err := range s.engine.WatchJob(ctx, id) {
			select {
			case told <- news{j, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return told
}

// tellJob writes what is told until the job has ended, the reader has gone or
// the server stops.
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
