package webhook

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/providers/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brokerSource is a broker as a source.
type brokerSource struct{ *events.Broker }

func (b brokerSource) Last(ctx context.Context, _ events.Filter) (uint64, error) {
	return b.Broker.Last(ctx)
}

func newBroker(first uint64, keep int) brokerSource {
	return brokerSource{events.New(events.Options{Keep: keep, StartSeq: func(context.Context) (uint64, error) { return first, nil }})}
}

func (b brokerSource) stored(id string) {
	b.Publish(ragctx.Event{Type: ragctx.EventMemoryStored, UserID: "ann", Data: ragctx.MemoryStored{MemoryID: id}})
}

// receiver is an HTTP server that records events, and answers as it should.
type receiver struct {
	*httptest.Server

	mu     sync.Mutex
	got    []string // types or ids of memories
	tries  int
	answer func(try int, w http.ResponseWriter, r *http.Request) bool // false refuses
}

func newReceiver(t *testing.T, answer func(try int, w http.ResponseWriter, r *http.Request) bool) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if err := remote.Verify("hush", req.Header.Get(remote.SignatureHeader), body, time.Now()); err != nil {
			t.Error(err)
		}
		var ev struct {
			Type string
			Data struct {
				MemoryID string `json:"memory_id"`
			}
		}
		if err := json.Unmarshal(body, &ev); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.tries++
		try := r.tries
		r.mu.Unlock()
		if r.answer != nil && !r.answer(try, w, req) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if ev.Type != string(ragctx.EventMemoryStored) {
			ev.Data.MemoryID = ev.Type
		}
		r.got = append(r.got, ev.Data.MemoryID)
	}))
	t.Cleanup(r.Close)
	return r
}

// patience is how long a test waits for an event, and a sender for its receiver.
const patience = 2 * time.Minute

// wait waits until the receiver has n events.
func (r *receiver) wait(t *testing.T, n int) []string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
	}
	t.Fatalf("%d events did not come", n)
	return nil
}

func (r *receiver) want(t *testing.T, want ...string) {
	t.Helper()
	if got := r.wait(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func options(url string) Options {
	return Options{
		Name: "audit", URL: url, Secret: "hush", AllowPrivate: true, Timeout: patience,
		Filter: events.Filter{Types: []ragctx.EventType{ragctx.EventMemoryStored}, Reader: access.FullGrant()},
		Sleep:  func(ctx context.Context, _ time.Duration) error { return httpclient.Sleep(ctx, time.Millisecond) },
	}
}

func start(t *testing.T, b brokerSource, file string, o Options) *Sender {
	t.Helper()
	s, err := Start(t.Context(), b, file, slog.New(slog.DiscardHandler), []Options{o})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReceiverFailsHangsAndReturns sends each event once and in order, whatever the receiver does, and a
// writer of events never waits for it.
func TestReceiverFailsHangsAndReturns(t *testing.T) {
	release := make(chan struct{})
	r := newReceiver(t, func(try int, w http.ResponseWriter, req *http.Request) bool {
		switch try {
		case 2, 3:
			w.WriteHeader(http.StatusInternalServerError)
		case 4:
			http.Redirect(w, req, "http://example.com/", http.StatusFound)
		case 5:
			<-release
		case 6:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusCreated)
			return true
		}
		return false
	})
	b := newBroker(100, 0)
	o := options(r.URL)
	o.Timeout = 2 * time.Second // of the receiver that hangs; the others answer sooner
	s := start(t, b, filepath.Join(t.TempDir(), "webhooks.json"), o)
	began := time.Now()
	for _, id := range []string{"a", "b", "c"} {
		b.stored(id)
		b.Publish(ragctx.Event{Type: ragctx.EventContextResolved, Data: ragctx.ContextResolved{}}) // of another type
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("publishing took %v", took)
	}
	r.want(t, "a", "b", "c")
	close(release)
	s.Close()
}

// TestGivesUp skips an event that the receiver refuses too often, and goes on with the next.
func TestGivesUp(t *testing.T) {
	r := newReceiver(t, func(try int, w http.ResponseWriter, _ *http.Request) bool {
		if try <= MaxAttempts {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		return true
	})
	b := newBroker(100, 0)
	s := start(t, b, filepath.Join(t.TempDir(), "webhooks.json"), options(r.URL))
	b.stored("poison")
	b.stored("fine")
	r.want(t, "fine")
	r.mu.Lock()
	tries := r.tries // an event whose answer is on its way is sent again by Close
	r.mu.Unlock()
	s.Close()
	if tries != MaxAttempts+1 {
		t.Errorf("%d requests", tries)
	}
}

// TestRestart tells the receiver after a restart whether it may have missed events.
func TestRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "webhooks.json")
	var fails atomic.Bool
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		if fails.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return !fails.Load()
	})
	b := newBroker(100, 0)
	b.stored("before the first start")
	s := start(t, b, file, options(r.URL))
	b.stored("a")
	b.stored("b")
	s.Close() // sends both
	r.want(t, "a", "b")

	b = newBroker(200, 0) // a new process
	s = start(t, b, file, options(r.URL))
	b.stored("c")
	r.want(t, "a", "b", "c") // nothing was missed, so no events_lost
	fails.Store(true)
	b.stored("lost with the process")
	s.Close()

	fails.Store(false)
	b = newBroker(300, 0)
	s = start(t, b, file, options(r.URL))
	b.stored("d")
	r.want(t, "a", "b", "c", "events_lost", "d")
	s.Close()
}

// TestErasedWhileWaiting does not send an event that is erased before the receiver returns.
func TestErasedWhileWaiting(t *testing.T) {
	up := make(chan struct{})
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		select {
		case <-up:
			return true
		default:
			w.WriteHeader(http.StatusBadGateway)
			return false
		}
	})
	b := newBroker(100, 0)
	o := options(r.URL)
	failed := make(chan struct{}, 1)
	o.Sleep = func(ctx context.Context, _ time.Duration) error {
		select {
		case failed <- struct{}{}:
		default:
		}
		return httpclient.Sleep(ctx, 10*time.Millisecond)
	}
	s := start(t, b, filepath.Join(t.TempDir(), "webhooks.json"), o)
	b.stored("erased")
	<-failed
	b.Forget(func(ev ragctx.Event) bool { return ev.Data.(ragctx.MemoryStored).MemoryID == "erased" })
	b.stored("next")
	close(up)
	r.want(t, "next")
	s.Close()
}

// TestPrivateAddresses refuses addresses that are not public. A name is checked when it is resolved, see
// TestOnlyPublic of package httpclient.
func TestPrivateAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:1/":         "not on the public Internet",
		"http://[::1]:1/":             "not on the public Internet",
		"http://[::ffff:10.0.0.1]/":   "not on the public Internet",
		"http://169.254.169.254/meta": "not on the public Internet",
		"http://localhost:1/":         "not on the public Internet",
		"ftp://example.com/":          "is not a URL",
		"https://a:b@example.com/":    "holds a user",
	} {
		o := options(url)
		o.AllowPrivate = false
		_, err := Start(t.Context(), newBroker(1, 0), filepath.Join(t.TempDir(), "w.json"), slog.New(slog.DiscardHandler), []Options{o})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
