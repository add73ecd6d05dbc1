// Package remote asks stages of a pipeline that are programs of their own, over HTTP.
//
// The messages are posted to the stage's URL as JSON (see [Request]) and answered with
// what the stage makes of them (see [Answer]); without messages they stay as they are.
//
// A stage that is down is left out, and after some failures in a row it is left alone for
// a while (package outbound); with Options.Closed nothing is shown then, which is for stages
// that hide something. What comes back is not trusted: it is read up to limits, and taken
// only if the messages at the start of operators, the newest instruction of the user, the
// order of messages, pairs of calls and results, the newest exchange, and calls that wait
// for their results are still there, and nothing new claims to be a summary or an
// observation. All that these say may be another text.
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
	"github.com/ragctx/ragctx/session/stage"
)

// The defaults and limits of [Options].
const (
	DefaultTimeout  = 2 * time.Second
	DefaultMaxBytes = 16 << 20
	MaxTimeout      = time.Minute
	MaxMessages     = 10_000
	minSecret       = 16

	grace = 250 * time.Millisecond // see Stage.Apply
)

// Options says which stage to ask and how. Name and URL are required.
type Options struct {
	// Name names the stage: at most 64 small letters, digits, hyphens, underscores, dots.
	Name string
	// Priority says when it runs; what it adds is made to fit below 30 only.
	Priority int
	// URL is where messages are posted to.
	URL string
	// Persist has the next run begin with what the stage returns.
	Persist bool
	// Closed has nothing shown where the stage fails, or does not answer with messages: for
	// one that hides something. Otherwise it is left out then.
	Closed bool
	// Timeout bounds an answer; 0 is [DefaultTimeout].
	Timeout time.Duration
	// Secret signs requests, as those to providers; empty does not.
	Secret string
	// MaxBytes bounds an answer; 0 is [DefaultMaxBytes].
	MaxBytes int64
	// Breaker says when the stage is left alone.
	Breaker httpclient.BreakerOptions

	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // the clock; nil is the system's
	NewID  func() string    // makes ids of requests; nil is a random one
}

// EventStage is the event of a request.
const EventStage = "stage"

// Request is what a stage is asked.
type Request struct {
	Event     string           `json:"event"`
	Stage     string           `json:"stage"`
	RequestID string           `json:"request_id"`
	Deadline  time.Time        `json:"deadline"`
	Phase     stage.Phase      `json:"phase"`
	Namespace string           `json:"namespace,omitempty"`
	UserID    string           `json:"user_id,omitempty"`
	SessionID string           `json:"session_id,omitempty"`
	Budget    Budget           `json:"budget"`
	Messages  []ragctx.Message `json:"messages"`
}

// Budget is what the call may cost, in tokens; 0 is not known.
type Budget struct {
	Tokens int `json:"tokens"`
	Window int `json:"window"`
	Fixed  int `json:"fixed"`
}

// Answer is what a stage answers, or status 204. Without messages they stay as they are,
// which a stage that is closed has to say with that status; an empty list is one.
type Answer struct {
	Messages []ragctx.Message `json:"messages"`
}

// Stage is a stage behind a URL. It is safe for concurrent use.
type Stage struct {
	opts    Options
	ask     *httpclient.Client
	breaker *httpclient.Breaker
}

var _ stage.Stage = (*Stage)(nil)

// New returns a stage. Options that cannot work are [ragctx.ErrInvalid]; nothing is asked.
func New(o Options) (*Stage, error) {
	if err := remote.ValidName(o.Name); err != nil {
		return nil, err
	}
	u, err := httpclient.ParseEndpoint(o.URL, "")
	switch {
	case err != nil:
		return nil, ragctx.Invalid("url", "is not a URL without user and password, such as http://127.0.0.1:9000/stage")
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
	s.ask = httpclient.New(httpclient.Options{URL: u, Parallel: 4, Breaker: s.breaker, Now: o.Now})
	return s, nil
}

// Close closes idle connections.
func (s *Stage) Close() { s.ask.Close() }

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

// Breaker returns the state of the circuit breaker, and until when it is open if it is.
func (s *Stage) Breaker() (httpclient.State, time.Time) { return s.breaker.State() }

// Apply implements [stage.Stage]. A stage that is too slow fails by its own timeout,
// which its breaker counts, and not by the end of the request.
func (s *Stage) Apply(ctx context.Context, st *stage.State, messages []ragctx.Message, b stage.Budget) ([]ragctx.Message, error) {
	id := s.opts.NewID()
	after, err := s.changed(ctx, id, st, messages, b)
	if err != nil {
		return nil, s.failed(ctx, id, err)
	}
	if after != nil && s.opts.Persist {
		st.Persist(after)
	}
	return after, nil
}

// changed asks the stage and checks what it answers.
func (s *Stage) changed(ctx context.Context, id string, st *stage.State, messages []ragctx.Message, b stage.Budget) ([]ragctx.Message, error) {
	timeout := s.opts.Timeout
	deadline := s.opts.Now().Add(timeout)
	if d, ok := ctx.Deadline(); ok && d.Add(-grace).Before(deadline) {
		deadline = d.Add(-grace)
		timeout = max(deadline.Sub(s.opts.Now()), time.Millisecond)
	}
	body, err := json.Marshal(Request{
		Event: EventStage, Stage: s.opts.Name, RequestID: id, Deadline: deadline.UTC(), Phase: cmp.Or(st.Phase, stage.Loop),
		Namespace: st.Namespace, UserID: st.UserID, SessionID: st.SessionID, Budget: Budget(b), Messages: messages,
	})
	if err != nil {
		return nil, fmt.Errorf("encode messages: %w", err)
	}
	header := make(http.Header)
	if s.opts.Secret != "" {
		header.Set(remote.SignatureHeader, remote.Sign(s.opts.Secret, body, s.opts.Now()))
	}
	said, err := s.ask.Post(ctx, httpclient.Request{Body: body, Header: header, MaxAnswer: s.opts.MaxBytes, AllowEmpty: true, Timeout: timeout, Total: timeout})
	if err != nil {
		return nil, err
	}
	var answer Answer
	if len(said.Body) > 0 {
		if err := json.Unmarshal(said.Body, &answer); err != nil {
			return nil, unusable{"it is no JSON of messages", err}
		}
	}
	switch {
	case answer.Messages != nil:
		return answer.Messages, check(messages, answer.Messages)
	case s.opts.Closed && said.Status != http.StatusNoContent:
		return nil, unusable{"it has no messages; a stage that changes nothing answers status 204", nil}
	}
	return nil, nil
}

// unusable is the error of an answer that is not taken. Its problem tells nothing of what the
// answer says.
type unusable struct {
	problem string
	err     error
}

// Error implements error.
func (u unusable) Error() string {
	if u.err != nil {
		return u.problem + ": " + u.err.Error()
	}
	return u.problem
}

// failed logs why a stage failed and returns what callers may read of it: they have not
// configured it.
func (s *Stage) failed(ctx context.Context, id string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, httpclient.ErrOpen):
		return httpclient.ErrOpen
	}
	s.opts.Logger.WarnContext(ctx, "stage's service failed", "stage", s.opts.Name, "stage_request", id, "error", err)
	if u, ok := errors.AsType[unusable](err); ok {
		return fmt.Errorf("%w: its answer cannot be used: %s", ragctx.ErrUnavailable, u.problem)
	}
	return fmt.Errorf("%w: its service failed, or did not answer in time; the log has the cause", ragctx.ErrUnavailable)
}
