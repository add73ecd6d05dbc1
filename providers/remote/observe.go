package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// turnTimeout bounds one attempt to deliver a turn.
const turnTimeout = 10 * time.Second

// Observer is a [Provider] that also receives completed turns.
type Observer struct {
	*Provider

	turnClient  *httpclient.Client
	turnBreaker *httpclient.Breaker
}

// NewObserver returns a provider that delivers turns to TurnURL, which is required.
func NewObserver(o Options) (*Observer, error) {
	if o.TurnURL == "" {
		return nil, ragctx.Invalid("turn_url", "is missing; set the URL that receives turns")
	}
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	// A separate breaker: a failing hook says nothing about queries.
	b := p.opts.Breaker
	b.Now = p.opts.Now
	turns := httpclient.NewBreaker(b)
	return &Observer{p, p.newClient(o.TurnURL, turns), turns}, nil
}

// TurnBreaker returns the state of the circuit breaker for turns and, if it is open, until when.
func (o *Observer) TurnBreaker() (httpclient.State, time.Time) { return o.turnBreaker.State() }

// Close closes idle connections.
func (o *Observer) Close() {
	o.turnClient.Close()
	o.Provider.Close()
}

// OnTurnComplete implements [ragctx.TurnObserver].
func (o *Observer) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	if len(o.opts.Namespaces) > 0 && !slices.Contains(o.opts.Namespaces, t.Namespace) {
		return nil
	}
	note := noteOf(t)
	note.Provider, note.RequestID = o.opts.Name, o.opts.NewID()
	body, err := json.Marshal(note)
	if err != nil {
		return fmt.Errorf("encode turn: %w", err)
	}
	_, err = o.turnClient.Post(ctx, httpclient.Request{
		Body: body, Header: o.sign(body), MaxAnswer: o.opts.MaxBytes, AllowEmpty: true,
		Timeout: turnTimeout, Retries: o.opts.Retries, Backoff: 10 * backoff,
	})
	return err
}

// noteOf returns a turn in both forms.
func noteOf(t ragctx.Turn) TurnNote {
	n := TurnNote{
		Event: EventTurn, SessionID: t.SessionID, Prompt: t.Prompt, Response: t.Response, Messages: t.Transcript(), TurnID: t.ID,
		Namespace: t.Namespace, UserID: t.UserID, AgentID: t.AgentID, Occurred: t.Occurred,
	}
	for _, m := range n.Messages {
		switch {
		case n.Prompt == "" && m.Role == ragctx.RoleUser:
			n.Prompt = m.Content.String()
		case len(t.Messages) > 0 && m.Role == ragctx.RoleAssistant && m.Content.String() != "":
			n.Response = m.Content.String() // the last one
		}
	}
	return n
}
