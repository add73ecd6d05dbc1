package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
)

const eventsType = "text/event-stream"

const (
	keepAliveEvery = 15 * time.Second // interval of comments that keep the connection alive
	eventTimeout   = 30 * time.Second // for a client to receive an event
)

// eventsOf describes a stream of server-sent events.
func eventsOf(description string, names ...any) map[string]*huma.Response {
	text := func(doc string, enum ...any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: doc, Enum: enum}
	}
	return map[string]*huma.Response{"200": {
		Description: description,
		Content: map[string]*huma.MediaType{eventsType: {Schema: &huma.Schema{
			Type: huma.TypeObject, Description: "an event; lines that begin with a colon are comments",
			Properties: map[string]*huma.Schema{
				"event": text("type of the event", names...),
				"id":    text("position in the stream, for Last-Event-ID"),
				"data":  text("JSON"),
			},
		}}},
	}}
}

// stream is a stream of server-sent events.
type stream struct {
	w   io.Writer
	ctl *http.ResponseController
	n   int
}

// openStream starts a stream as the answer to a request.
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
	// The deadline of the whole answer does not suit an endless one.
	_ = s.ctl.SetWriteDeadline(time.Now().Add(eventTimeout)) // unsupported writers need no deadline
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// event sends an event with the next number of the stream as id.
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

// begin shows the client that the stream has begun, and after which id. So the client can resume a
// stream that is interrupted before its first event.
func (s *stream) begin(id string) error { return s.write("id: " + id + "\n\n") }

func (s *stream) keepAlive() error { return s.write(": still here\n\n") }

// streamElement is an element of a stream, or the error that ended it.
type streamElement[T any] struct {
	what T
	err  error
}

// follow sends the elements of a stream until it or ctx ends.
func follow[T any](ctx context.Context, all iter.Seq2[T, error]) <-chan streamElement[T] {
	out := make(chan streamElement[T])
	go func() {
		defer close(out)
		for what, err := range all {
			select {
			case out <- streamElement[T]{what, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// relay passes elements to send, and calls idle in between, until the client disconnects or the
// server stops.
func relay[T any](ctx context.Context, stopping <-chan struct{}, from <-chan streamElement[T], send func(T) error,
	idle func() error,
) error {
	tick := time.NewTicker(keepAliveEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case t, open := <-from:
			if !open || t.err != nil {
				return t.err
			}
			err = send(t.what)
		case <-tick.C:
			err = idle()
		case <-ctx.Done():
			return ctx.Err()
		case <-stopping:
			return nil
		}
		if err != nil {
			return err
		}
	}
}
