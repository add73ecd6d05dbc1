package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// lastEventHeader is the header of a reconnecting client.
const lastEventHeader = "Last-Event-ID"

type messageStream struct {
	MessageFilter
	After string `query:"after_sequence" doc:"start after this sequence; 0 is the beginning, default is now"`
	Last  string `header:"Last-Event-ID"`
}

// messageFrame is a WebSocket frame with a message.
type messageFrame struct {
	Type string         `json:"type" enum:"message"`
	Data ledger.Message `json:"data"`
}

func (s *Server) ledgerStreamRoutes() {
	s.schemaOf(reflect.TypeFor[messageFrame]()) // registers the schema, which no body uses
	register(s, huma.Operation{
		OperationID: "stream-messages", Method: http.MethodGet, Path: clusterVerb("stream"), Tags: []string{teamsGroup},
		Summary: "Stream messages",
		Description: "Streams messages as server-sent events named message, with the sequence as id: first the " +
			"stored messages after the starting point, then new ones, each once and in order. Resume an " +
			"interrupted stream with the header " + lastEventHeader + ". A request with Upgrade: websocket gets " +
			"a WebSocket with frames of the schema MessageFrame.",
		Responses: eventsOf("The stream. The data of each event is a message.", "message"),
	}, s.streamMessages)
}

func (s *Server) streamMessages(ctx context.Context, in *messageStream) (*huma.StreamResponse, error) {
	f := in.filter()
	after, err := s.beginning(ctx, in)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		ctx, cancel := context.WithCancel(hctx.Context())
		defer cancel()
		messages := follow(ctx, s.engine.Ledger().Follow(ctx, f, after))
		var err error
		if r := humaecho.Unwrap(hctx).Request(); strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			err = s.messageFrames(ctx, hctx, messages)
		} else {
			err = s.messageEvents(ctx, hctx, after, messages)
		}
		if err != nil {
			s.log.DebugContext(ctx, "stream ended", "request_id", requestID(ctx), "error", err)
		}
	}}, nil
}

// beginning returns the sequence after which a stream begins. An invalid request must fail before
// the stream starts.
func (s *Server) beginning(ctx context.Context, in *messageStream) (ledger.Sequence, error) {
	last, err := s.engine.Ledger().Last(ctx, in.Namespace, in.Cluster)
	switch {
	case err != nil:
		return 0, err
	case in.Last != "":
		return sequenceOf(lastEventHeader, in.Last)
	case in.After != "":
		return sequenceOf("after_sequence", in.After)
	}
	return last, nil
}

func (s *Server) messageEvents(ctx context.Context, hctx huma.Context, after ledger.Sequence,
	messages <-chan streamElement[ledger.Message],
) error {
	out := openStream(hctx)
	if err := out.begin(after.String()); err != nil {
		return err
	}
	return relay(ctx, s.stopping, messages, func(m ledger.Message) error {
		return out.eventWith("message", m.Sequence.String(), m)
	}, out.keepAlive)
}

// messageFrames is messageEvents for a WebSocket. Any message from the client ends it.
func (s *Server) messageFrames(ctx context.Context, hctx huma.Context, messages <-chan streamElement[ledger.Message]) error {
	s.sockets.Add(1)
	defer s.sockets.Done()
	c := humaecho.Unwrap(hctx)
	// guard has checked the origin; see [Server.guard].
	conn, err := websocket.Accept(c.Response(), c.Request(), &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return err // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // closed already, or the client is gone
	ctx = conn.CloseRead(ctx)
	write := func(m ledger.Message) error {
		b, err := json.Marshal(messageFrame{"message", m})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, eventTimeout)
		defer cancel()
		return conn.Write(ctx, websocket.MessageText, b)
	}
	ping := func() error {
		ctx, cancel := context.WithTimeout(ctx, eventTimeout)
		defer cancel()
		return conn.Ping(ctx)
	}
	err = relay(ctx, s.stopping, messages, write, ping)
	if err != nil && !errors.Is(err, ragctx.ErrClosed) {
		return err
	}
	return conn.Close(websocket.StatusGoingAway, "the server is stopping; continue from the last sequence")
}
