// Package remote runs stages of a pipeline that are separate services, over HTTP.
//
// The messages are posted to the stage's URL as JSON (see [Request]), and the stage answers with
// the changed messages (see [Answer]). Without messages in the answer they stay unchanged.
//
// A stage that fails is skipped, and after several failures in a row its circuit breaker opens
// (package httpclient). With Options.Closed nothing is shown instead, which is for stages that hide
// content. Answers are untrusted: they are read up to limits, and accepted only if the leading
// system messages, the newest instruction of the user, the order of messages, pairs of calls and
// results, the newest exchange and pending calls are intact, and no new message claims to be a
// summary or an observation. All texts may be changed.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/providers/remote"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// Defaults and limits of [Options].
const (
	DefaultTimeout  = 2 * time.Second
	DefaultMaxBytes = 16 << 20
	MaxTimeout      = time.Minute
	MaxMessages     = 10_000
	minSecret       = 16

	grace = 250 * time.Millisecond // see Stage.Apply
)

// Options configure a stage. Name and URL are required.
type Options struct {
	// Name identifies the stage: at most 64 lower-case letters, digits, hyphens, underscores and
	// dots.
	Name string
	// Priority determines the order. Messages added at priorities of 30 and above are not
	// truncated.
	Priority int
	// URL receives the messages by POST.
	URL string
	// Persist makes the answer the input of the next run.
	Persist bool
	// Closed prevents messages from being shown if the stage fails or answers without messages, for
	// stages that hide content. Otherwise such a stage is skipped.
	Closed bool
	// Timeout bounds the request; 0 selects [DefaultTimeout].
	Timeout time.Duration
	// Secret signs requests in the same way as requests to providers; an empty secret disables
	// signing.
	Secret string
	// MaxBytes bounds the answer; 0 selects [DefaultMaxBytes].
	MaxBytes int64
	// Breaker configures the circuit breaker.
	Breaker httpclient.BreakerOptions

	Logger *slog.Logger     // default: no logging
	Now    func() time.Time // default: the system clock
	NewID  func() string    // creates ids of requests; default: random
}

// EventStage is the event name of a request.
const EventStage = "stage"

// Request is the body of a request to a stage.
type Request struct {
	Event     string           `json:"event"`
	Stage     string           `json:"stage"`
	RequestID string           `json:"request_id"`
	Deadline  time.Time        `json:"deadline"`
	Phase     session.Phase    `json:"phase"`
	Namespace string           `json:"namespace,omitempty"`
	UserID    string           `json:"user_id,omitempty"`
	SessionID string           `json:"session_id,omitempty"`
	Budget    Budget           `json:"budget"`
	Messages  []ragctx.Message `json:"messages"`
}

// Budget is the token budget of the call; 0 means unknown.
type Budget struct {
	Tokens int `json:"tokens"`
	Window int `json:"window"`
	Fixed  int `json:"fixed"`
}

// Answer is the body of an answer. Without messages they stay unchanged; an empty list removes all.
// A closed stage must answer status 204 to leave messages unchanged.
type Answer struct {
	Messages []ragctx.Message `json:"messages"`
}

// Stage is a stage behind a URL. It is safe for concurrent use.
type Stage struct {
	opts    Options
	client  *httpclient.Client
	breaker *httpclient.Breaker
}

var _ stage.Stage = (*Stage)(nil)

// New returns a stage. Invalid options are [ragctx.ErrInvalid]. New sends no request.
func New(o Options) (*Stage, error) {
	if err := remote.ValidName(o.Name); err != nil {
		return nil, err
	}
	u, err := httpclient.ParseEndpoint(o.URL, "")
	switch {
	case err != nil:
		return nil, ragctx.Invalid("url", "is not a URL without user and password; use one such as http://127.0.0.1:9000/stage")
	case o.Timeout < 0 || o.Timeout > MaxTimeout:
		return nil, ragctx.Invalid("timeout", "is %v; use up to %v", o.Timeout, MaxTimeout)
	case o.Secret != "" && len(o.Secret) < minSecret:
		return nil, ragctx.Invalid("secret", "has %d bytes, which can be guessed; use at least %d", len(o.Secret), minSecret)
	case o.MaxBytes < 0:
		return nil, ragctx.Invalid("max_bytes", "is %d; use 1 or more", o.MaxBytes)
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	o.Breaker.Now = o.Now
	s := &Stage{opts: o, breaker: httpclient.NewBreaker(o.Breaker)}
	s.client = httpclient.New(httpclient.Options{URL: u, Parallel: 4, Breaker: s.breaker, Now: o.Now})
	return s, nil
}

// Close closes idle connections.
func (s *Stage) Close() { s.client.Close() }

// Name implements [stage.Stage].
func (s *Stage) Name() string { return s.opts.Name }

// Priority implements [stage.Stage].
func (s *Stage) Priority() int { return s.opts.Priority }

// FailureMode implements [ragctx.FailurePolicy].
func (s *Stage) FailureMode() ragctx.FailureMode {
	if s.opts.Closed {
		return ragctx.FailClosed
	}
	return ragctx.BestEffort
}

// EstimateTokens implements [stage.Stage].
func (*Stage) EstimateTokens(context.Context, *stage.State) int { return 0 }

// Breaker returns the state of the circuit breaker, and the time until which it is open.
func (s *Stage) Breaker() (httpclient.State, time.Time) { return s.breaker.State() }

// Apply implements [stage.Stage]. A slow stage fails by its own timeout shortly before the deadline
// of the request, so that its breaker counts the failure.
func (s *Stage) Apply(ctx context.Context, st *stage.State, messages []ragctx.Message, b stage.Budget) ([]ragctx.Message, error) {
	id := s.opts.NewID()
	after, err := s.request(ctx, id, st, messages, b)
	if err != nil {
		return nil, s.publicError(ctx, id, err)
	}
	if after != nil && s.opts.Persist {
		st.Persist(after)
	}
	return after, nil
}

// request posts messages to the stage and checks its answer.
func (s *Stage) request(ctx context.Context, id string, st *stage.State, messages []ragctx.Message,
	b stage.Budget,
) ([]ragctx.Message, error) {
	timeout := s.opts.Timeout
	deadline := s.opts.Now().Add(timeout)
	if d, ok := ctx.Deadline(); ok && d.Add(-grace).Before(deadline) {
		deadline = d.Add(-grace)
		timeout = max(deadline.Sub(s.opts.Now()), time.Millisecond)
	}
	body, err := json.Marshal(Request{
		Event: EventStage, Stage: s.opts.Name, RequestID: id, Deadline: deadline.UTC(), Phase: cmp.Or(st.Phase, session.PhaseLoop),
		Namespace: st.Namespace, UserID: st.UserID, SessionID: st.SessionID, Budget: Budget(b), Messages: messages,
	})
	if err != nil {
		return nil, fmt.Errorf("encode messages: %w", err)
	}
	header := make(http.Header)
	if s.opts.Secret != "" {
		header.Set(remote.SignatureHeader, remote.Sign(s.opts.Secret, body, s.opts.Now()))
	}
	response, err := s.client.Post(ctx, httpclient.Request{
		Body: body, Header: header, MaxAnswer: s.opts.MaxBytes,
		AllowEmpty: true, Timeout: timeout, Total: timeout,
	})
	if err != nil {
		return nil, err
	}
	var answer Answer
	if len(response.Body) > 0 {
		if err := json.Unmarshal(response.Body, &answer); err != nil {
			return nil, rejectedAnswer{"the answer is not JSON with messages", err}
		}
	}
	switch {
	case answer.Messages != nil:
		return answer.Messages, checkAnswer(messages, answer.Messages)
	case s.opts.Closed && response.Status != http.StatusNoContent:
		return nil, rejectedAnswer{"the answer has no messages; a stage that changes nothing must answer status 204", nil}
	}
	return nil, nil
}

// rejectedAnswer is the error of a rejected answer. Its problem reveals nothing of the answer's
// content.
type rejectedAnswer struct {
	problem string
	err     error
}

// Error implements error.
func (u rejectedAnswer) Error() string {
	if u.err != nil {
		return u.problem + ": " + u.err.Error()
	}
	return u.problem
}

// publicError logs a failure and returns an error that is safe to show to clients, which have not
// configured the stage.
func (s *Stage) publicError(ctx context.Context, id string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, httpclient.ErrOpen):
		return httpclient.ErrOpen
	}
	s.opts.Logger.WarnContext(ctx, "stage's service failed", "stage", s.opts.Name, "stage_request", id, "error", err)
	if u, ok := errors.AsType[rejectedAnswer](err); ok {
		return fmt.Errorf("%w: its answer cannot be used: %s", ragctx.ErrUnavailable, u.problem)
	}
	return fmt.Errorf("%w: its service failed, or did not answer in time; the log has the cause", ragctx.ErrUnavailable)
}
