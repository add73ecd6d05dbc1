package retrieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestAskedTogether has many ask the same question while it is being embedded, and
// the first of them go away.
func TestAskedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a queryVectors
		var made atomic.Int32
		gate := make(chan struct{})
		embed := func(ctx context.Context, text string) ([]float32, error) {
			made.Add(1)
			select {
			case <-gate:
				return []float32{float32(len(text))}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := a.vector(first, "abc", embed); !errors.Is(err, context.Canceled) {
				t.Errorf("who went away got %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			wg.Go(func() {
				if v, err := a.vector(t.Context(), "abc", embed); err != nil || len(v) != 1 || v[0] != 3 {
					t.Errorf("got %v, %v", v, err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(gate)
		wg.Wait()
		if n := made.Load(); n != 2 {
			t.Errorf("embedded %d times, want once for who went away and once for the others", n)
		}
	})
}

func TestAskedKeepsTheLast(t *testing.T) {
	var a queryVectors
	made := 0
	ask := func(text string, fail error) error {
		_, err := a.vector(t.Context(), text, func(context.Context, string) ([]float32, error) {
			made++
			return nil, fail
		})
		return err
	}
	for range 2 {
		for i := range maxQueryVectors {
			if err := ask(fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != maxQueryVectors || len(a.entries) != maxQueryVectors {
		t.Errorf("%d questions were embedded %d times", len(a.entries), made)
	}
	boom := errors.New("boom")
	if err := ask("new", boom); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if err := ask("new", nil); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
	if len(a.entries) > maxQueryVectors {
		t.Errorf("%d questions are kept", len(a.entries))
	}
}
