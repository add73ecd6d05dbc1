package api

import (
	"context"
	"iter"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/events"
)

const eventsPath = "/v1/events"

type eventStream struct {
	Namespace string   `query:"namespace" maxLength:"512"`
	User      string   `query:"user_id" maxLength:"512" doc:"only events of this user; default is all users for admins, else shared items"`
	Session   string   `query:"session_id" maxLength:"512" doc:"only events of this session"`
	Types     []string `query:"type,explode" doc:"only events of this type; may be repeated"`
	After     string   `query:"after_sequence" doc:"start after this sequence; default is now"`
	Last      string   `header:"Last-Event-ID"`
}

func (in eventStream) filter() events.Filter {
	f := events.Filter{Namespace: in.Namespace, User: in.User, Session: in.Session}
	for _, t := range in.Types {
		if t != "" {
			f.Types = append(f.Types, ragctx.EventType(t))
		}
	}
	return f
}

func (s *Server) eventRoutes() {
	register(s, huma.Operation{
		OperationID: "stream-events", Method: http.MethodGet, Path: eventsPath, Tags: []string{administrationGroup},
		Summary: "Stream events",
		Description: "Server-sent events, named by type; the id is the sequence and the data an event object. " +
			"The stream first sends the stored events after its starting point, then new ones, each once and in " +
			"order. Resume an interrupted stream with the header " + lastEventHeader + ". If events were lost, " +
			"after a long absence or a restart, the stream begins with " + string(ragctx.EventEventsLost) +
			", whatever the filter.",
		Responses: eventsOf("The stream. Each event has seq, id, type, time, namespace, session_id, user_id, " +
			"request_id and data."),
	}, s.streamEvents)
}

func (s *Server) streamEvents(ctx context.Context, in *eventStream) (*huma.StreamResponse, error) {
	f := in.filter()
	after, err := s.engine.Events().Last(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, given := range [...]struct{ field, text string }{{"after_sequence", in.After}, {lastEventHeader, in.Last}} {
		if given.text == "" {
			continue
		}
		if after, err = strconv.ParseUint(given.text, 10, 63); err != nil {
			return nil, ragctx.Invalid(given.field, "is %q; send the sequence of an event, a whole number",
				ragctx.Clip(given.text))
		}
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		ctx, cancel := context.WithCancel(hctx.Context())
		defer cancel()
		out := openStream(hctx)
		err := out.begin(strconv.FormatUint(after, 10))
		if err == nil {
			err = relay(ctx, s.stopping, follow(ctx, s.engine.Events().Follow(ctx, f, after)), func(ev ragctx.Event) error {
				return out.eventWith(string(ev.Type), strconv.FormatUint(ev.Seq, 10), ev)
			}, out.keepAlive)
		}
		if err != nil {
			s.log.DebugContext(ctx, "stream ended", "request_id", requestID(ctx), "error", err)
		}
	}}, nil
}

// FollowEvents yields the matching events after a sequence, or new ones if after is nil, until ctx
// ends. It resumes an interrupted stream. The data of an event is decoded JSON.
func (c *Client) FollowEvents(ctx context.Context, f events.Filter, after *uint64) iter.Seq2[ragctx.Event, error] {
	return func(yield func(ragctx.Event, error) bool) {
		err := resumed(ctx, func() (bool, error) {
			q := in(f.Namespace)
			set(q, "user_id", f.User)
			set(q, "session_id", f.Session)
			for _, t := range f.Types {
				q.Add("type", string(t))
			}
			if after != nil {
				q.Set("after_sequence", strconv.FormatUint(*after, 10))
			}
			return readStream(ctx, c, eventsPath, q, func(ev ragctx.Event) bool {
				after = &ev.Seq
				return yield(ev, nil)
			})
		})
		if err != nil {
			yield(ragctx.Event{}, err)
		}
	}
}
