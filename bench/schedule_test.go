package bench

import (
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stalling responds at once, except during one stall: requests that arrive then wait for its end.
type stalling struct {
	mu       sync.Mutex
	asked    int
	from, to time.Time // of the stall
	after    int       // requests
	stall    time.Duration
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	s.asked++
	if s.asked == s.after {
		s.from = time.Now()
		time.Sleep(s.stall) // with the lock: all others wait for it
		s.to = time.Now()
	}
	s.mu.Unlock()
	io.WriteString(w, `{"items": [{}], "total_tokens": 1}`)
}

// TestOpenLoopSeesAStall: every request that is due during a stall waits for its end, and the
// latencies show it, even if one connection hides the requests from the server. A generator that
// counts from sending would show one slow request.
func TestOpenLoopSeesAStall(t *testing.T) {
	for _, limit := range []int{1, 100} {
		s := &stalling{after: 20, stall: 200 * time.Millisecond}
		client := newClient(limit, DefaultTimeout)
		defer client.CloseIdleConnections()
		a, err := newAsker(Options{URL: serve(t, s), Queries: queries("a")}, client)
		if err != nil {
			t.Fatal(err)
		}
		due := schedule(Load{Rate: 200, Constant: true}, 0, time.Second, 1)
		start := time.Now()
		samples, gen, _ := a.openLoop(t.Context(), Load{Clients: limit}, start, due)
		if len(samples) != 200 || len(due) != 200 {
			t.Fatalf("%d of %d requests", len(samples), len(due))
		}
		waited := 0
		for _, q := range samples {
			at := start.Add(q.at)
			if q.err != nil {
				t.Fatal(q.err)
			}
			if at.Before(s.from) || !at.Before(s.to) {
				continue
			}
			waited++
			if least := s.to.Sub(at); q.took < least {
				t.Errorf("limit %d: due %v before the end of the stall, it is said to have taken %v", limit, least, q.took)
			}
		}
		if waited == 0 {
			t.Errorf("limit %d: nothing was due in the stall", limit)
		}
		if limit == 1 && gen.waited < waited {
			t.Errorf("%d were due while the only connection was in use, and %d found no place", waited, gen.waited)
		}
	}
}

func TestSchedule(t *testing.T) {
	even := schedule(Load{Rate: 100, Constant: true}, 0, 50*time.Millisecond, 1)
	if d := cmp.Diff([]time.Duration{
		0, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond,
		40 * time.Millisecond,
	}, even); d != "" {
		t.Error(d)
	}
	if n := len(schedule(Load{Rate: 10}, 7, 0, 1)); n != 7 {
		t.Errorf("%d of 7", n)
	}
	l := Load{Rate: 1000}
	a, b, c := schedule(l, 10_000, 0, 1), schedule(l, 10_000, 0, 1), schedule(l, 10_000, 0, 2)
	if !slices.Equal(a, b) || slices.Equal(a, c) || !slices.IsSorted(a) {
		t.Error("the seed does not decide")
	}
	// The gaps of a Poisson process have a standard deviation equal to their mean.
	var sum, squares float64
	for i := 1; i < len(a); i++ {
		gap := millis(a[i] - a[i-1])
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(a) - 1)
	mean := sum / n
	if dev := math.Sqrt(squares/n - mean*mean); math.Abs(mean-1) > 0.05 || math.Abs(dev-1) > 0.05 {
		t.Errorf("gaps of %v ± %v ms, want 1 ± 1", mean, dev)
	}
}
