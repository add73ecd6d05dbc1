package httpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a client of a fake service, with a clock that only sleeping moves.
type bench struct {
	*Client

	now    time.Time
	slept  []time.Duration
	over   time.Duration // how much too long it sleeps
	served atomic.Int64
}

func newBench(t *testing.T, breaker *Breaker, h func(b *bench, w http.ResponseWriter, n int)) *bench {
	t.Helper()
	b := &bench{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h(b, w, int(b.served.Add(1)))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = New(Options{
		URL: u, Breaker: breaker, Now: func() time.Time { return b.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.slept, b.now = append(b.slept, d), b.now.Add(d+b.over)
			return ctx.Err()
		},
	})
	t.Cleanup(b.Close)
	return b
}

func request() Request {
	return Request{Body: []byte("{}"), MaxAnswer: 100, Retries: 3, Backoff: 100 * time.Millisecond, MaxWait: time.Minute}
}

// TestRetries: what may succeed later is asked again, after growing pauses.
func TestRetries(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503, 504, 529} {
		b := newBench(t, nil, func(_ *bench, w http.ResponseWriter, n int) {
			if n < 4 {
				w.WriteHeader(status)
			}
			io.WriteString(w, "{}")
		})
		a, err := b.Post(t.Context(), request())
		if err != nil || a.Attempts != 4 || string(a.Body) != "{}" {
			t.Errorf("%d: %+v, %v", status, a, err)
		}
		least := 50 * time.Millisecond
		for i, d := range b.slept {
			if d < least || d > 2*least+1 {
				t.Errorf("%d: pause %d was %v", status, i, d)
			}
			least *= 2
		}
	}
	for _, status := range []int{400, 401, 403, 404, 413, 422, 501} {
		b := newBench(t, nil, func(_ *bench, w http.ResponseWriter, _ int) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"message":"no"}}`)
		})
		a, err := b.Post(t.Context(), request())
		var s *StatusError
		if a.Attempts != 1 || !errors.As(err, &s) || s.Status != status || s.Message != "no" {
			t.Errorf("%d: %+v, %v", status, a, err)
		}
	}
}

// TestLimits: every bound of a request ends it.
func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(*Request)
		status   int
		after    func(now time.Time) string
		attempts int
		slept    time.Duration // at least
	}{
		"retries":               {func(*Request) {}, 503, nil, 4, 350 * time.Millisecond},
		"none":                  {func(r *Request) { r.Retries = 0 }, 503, nil, 1, 0},
		"server errors":         {func(r *Request) { r.ServerErrorRetries = 1 }, 500, nil, 2, 0},
		"server errors, others": {func(r *Request) { r.ServerErrorRetries = 1 }, 503, nil, 4, 0},
		"a budget":              {func(r *Request) { n := 0; r.MayRetry = func() bool { n++; return n < 3 } }, 503, nil, 3, 0},
		"in all":                {func(r *Request) { r.Total = time.Second; r.Backoff = 800 * time.Millisecond; r.Retries = 9 }, 503, nil, 2, 400 * time.Millisecond},
		"seconds":               {func(*Request) {}, 429, func(time.Time) string { return "20" }, 4, time.Minute},
		"a date":                {func(*Request) {}, 503, func(now time.Time) string { return now.Add(30 * time.Second).Format(http.TimeFormat) }, 4, 90 * time.Second},
		"a date that is over":   {func(*Request) {}, 503, func(now time.Time) string { return now.Add(-time.Hour).Format(http.TimeFormat) }, 4, 0},
		"too long a wait":       {func(*Request) {}, 429, func(time.Time) string { return "61" }, 1, 0},
		"nonsense":              {func(*Request) {}, 429, func(time.Time) string { return "-1e9" }, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, func(b *bench, w http.ResponseWriter, _ int) {
				if tt.after != nil {
					w.Header().Set("Retry-After", tt.after(b.now))
				}
				w.WriteHeader(tt.status)
			})
			r := request()
			tt.change(&r)
			a, err := b.Post(t.Context(), r)
			if !errors.Is(err, ragctx.ErrUnavailable) || a.Attempts != tt.attempts {
				t.Errorf("%d attempts, want %d: %v", a.Attempts, tt.attempts, err)
			}
			var slept time.Duration
			for _, d := range b.slept {
				slept += d
			}
			if slept < tt.slept || slept > 2*tt.slept+time.Second {
				t.Errorf("slept %v, want about %v", b.slept, tt.slept)
			}
		})
	}
}

// TestBreakerStopsRetries: a call stops retrying when the breaker opens, and the next call is not
// sent.
func TestBreakerStopsRetries(t *testing.T) {
	var now func() time.Time
	breaker := NewBreaker(BreakerOptions{After: 2, Now: func() time.Time { return now() }})
	up := false
	b := newBench(t, breaker, func(_ *bench, w http.ResponseWriter, _ int) {
		if !up {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	now = func() time.Time { return b.now }
	a, err := b.Post(t.Context(), request())
	if !errors.Is(err, ErrOpen) || a.Attempts != 2 || !strings.Contains(err.Error(), "status 503") {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = b.Post(t.Context(), request()); !errors.Is(err, ErrOpen) || a.Attempts != 0 || b.served.Load() != 2 {
		t.Errorf("%+v, %v, served %d", a, err, b.served.Load())
	}
	up, b.now = true, b.now.Add(5*time.Second)
	if a, err = b.Post(t.Context(), request()); err != nil || a.Attempts != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if s, _ := breaker.State(); s != Closed {
		t.Errorf("it is %s", s)
	}
}

// TestBreakerVerdicts: a request that the caller ends says nothing about the service, a
// service that refuses a request works, one that is too slow does not.
func TestBreakerVerdicts(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var answers atomic.Int64 // with this status; 0 is never
	breaker := NewBreaker(BreakerOptions{After: 1})
	b := newBench(t, breaker, func(_ *bench, w http.ResponseWriter, _ int) {
		status := int(answers.Load())
		if status == 0 {
			<-release
			return
		}
		w.WriteHeader(status)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Post(ctx, request()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
	for _, status := range []int{400, 413, 422} {
		answers.Store(int64(status))
		if a, err := b.Post(t.Context(), request()); a.Attempts != 1 || !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%d: %+v, %v", status, a, err)
		}
	}
	if s, _ := breaker.State(); s != Closed {
		t.Fatalf("it is %s", s)
	}
	answers.Store(0)
	r := request()
	r.Total, r.Retries = 20*time.Millisecond, 0
	if _, err := b.Post(t.Context(), r); !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the request's own deadline: %v", err)
	}
	if s, _ := breaker.State(); s != Open {
		t.Errorf("it is %s", s)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	for size, ok := range map[int]bool{100: true, 101: false} {
		b := newBench(t, nil, func(_ *bench, w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Length", strconv.Itoa(size))
			io.WriteString(w, strings.Repeat("x", size))
		})
		if _, err := b.Post(t.Context(), request()); (err == nil) != ok {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestOverslept: a machine under load can wake later than was asked for, which must
// not leave the next attempt without a limit.
func TestOverslept(t *testing.T) {
	for _, over := range []time.Duration{time.Second, time.Minute} {
		b := newBench(t, nil, func(_ *bench, w http.ResponseWriter, _ int) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		b.over = over
		r := request()
		r.Total = 2 * time.Second
		if a, err := b.Post(t.Context(), r); !errors.Is(err, ragctx.ErrUnavailable) || a.Attempts != 1 {
			t.Errorf("%v: %d attempts, %v", over, a.Attempts, err)
		}
	}
}
