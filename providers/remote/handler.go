package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/ragctx/ragctx"
)

// maxQuestionBytes is the limit of a request body. Queries can include conversations.
const maxQuestionBytes = 16 << 20

// Handler serves a provider written in Go to a remote ragctx. One URL receives queries, and turns
// if the provider is a [ragctx.TurnObserver]. If secret is set, requests without a valid signature
// get status 401. The caller sets the timeouts of the server.
func Handler(p ragctx.ContextProvider, secret string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, "only POST is allowed")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestionBytes))
		if err != nil {
			refuse(w, http.StatusBadRequest, "the body cannot be read or is too long")
			return
		}
		if secret != "" {
			if err := Verify(secret, r.Header.Get(SignatureHeader), body, time.Now()); err != nil {
				refuse(w, http.StatusUnauthorized, err.Error())
				return
			}
		}
		var kind struct {
			Event string `json:"event"`
		}
		if err := json.Unmarshal(body, &kind); err != nil {
			refuse(w, http.StatusBadRequest, "the body is not a JSON object")
			return
		}
		switch kind.Event {
		case EventQuery:
			serveQuestion(r.Context(), w, p, body)
		case EventTurn:
			serveTurn(r.Context(), w, p, body)
		default:
			refuse(w, http.StatusUnprocessableEntity, "event is neither query nor turn")
		}
	})
}

func serveQuestion(ctx context.Context, w http.ResponseWriter, p ragctx.ContextProvider, body []byte) {
	var q Question
	if err := json.Unmarshal(body, &q); err != nil {
		refuse(w, http.StatusUnprocessableEntity, "the query is invalid: "+err.Error())
		return
	}
	if !q.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, q.Deadline)
		defer cancel()
	}
	res, err := p.Query(ctx, q.Query)
	if err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	if res.Items == nil {
		res.Items = []ragctx.ContextItem{}
	}
	reply(w, http.StatusOK, res)
}

func serveTurn(ctx context.Context, w http.ResponseWriter, p ragctx.ContextProvider, body []byte) {
	var n TurnNote
	if err := json.Unmarshal(body, &n); err != nil {
		refuse(w, http.StatusUnprocessableEntity, "the turn is invalid: "+err.Error())
		return
	}
	if o, ok := p.(ragctx.TurnObserver); ok {
		err := o.OnTurnComplete(ctx, ragctx.Turn{
			ID: n.TurnID, Namespace: n.Namespace, UserID: n.UserID, AgentID: n.AgentID, SessionID: n.SessionID,
			Prompt: n.Prompt, Response: n.Response, Messages: n.Messages, Occurred: n.Occurred,
		})
		if err != nil {
			refuse(w, statusOf(err), err.Error())
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// statusOf returns a status that says whether a retry may help.
func statusOf(err error) int {
	if errors.Is(err, ragctx.ErrInvalid) {
		return http.StatusUnprocessableEntity
	}
	return http.StatusServiceUnavailable
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]string{"error": message})
}

// reply writes a response. Errors are ignored, because the caller is gone then.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
