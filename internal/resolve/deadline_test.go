package resolve_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

func sleep(d time.Duration) func(context.Context) {
	return func(context.Context) { time.Sleep(d) }
}

func one(id string) []ragctx.ContextItem {
	return []ragctx.ContextItem{item(id, .5, id)}
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context) { <-ctx.Done() }
		r := newResolver(t, resolve.Options{Providers: []resolve.Registered{
			{Provider: fake{name: "deaf", items: one("deaf"), query: sleep(time.Hour)}},
			{Provider: fake{name: "polite", err: context.DeadlineExceeded, query: wait}, Timeout: time.Second},
			{Provider: fake{name: "fine", items: one("fine"), query: sleep(1900 * time.Millisecond)}},
			{Provider: fake{name: "patient", items: one("patient"), query: sleep(3 * time.Second)}, Timeout: 4 * time.Second},
			{Provider: fake{name: "broken", err: ragctx.ErrUnavailable}},
			{Provider: fake{name: "late", items: one("late"), query: sleep(1500 * time.Millisecond)}, Timeout: time.Second},
		}})
		start := time.Now()
		a := mustResolve(t, r, ragctx.NewQuery("q"))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v, want the slowest answer's 3s: the providers run in parallel", took)
		}
		want := []resolve.ProviderReport{
			{Name: "deaf", TookMS: 2000, Error: "timed out after 2s"},
			{Name: "polite", TookMS: 1000, Error: "timed out after 1s"},
			{Name: "fine", TookMS: 1900, Returned: 1, Used: 1, Tokens: 1},
			{Name: "patient", TookMS: 3000, Returned: 1, Used: 1, Tokens: 1},
			{Name: "broken", TookMS: 0, Error: ragctx.ErrUnavailable.Error()},
			{Name: "late", TookMS: 1000, Error: "timed out after 1s"},
		}
		if diff := cmp.Diff(want, a.Providers); diff != "" {
			t.Errorf("each has what it took itself, and its own deadline, whoever else is waited for: %s", diff)
		}
		time.Sleep(time.Hour) // let the deaf one finish; it must not touch the answer
		if got := shown(a); got != "fine patient" {
			t.Errorf("shown: %s", got)
		}
	})
}

func TestFailClosedByDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResolver(t, resolve.Options{}, fake{name: "policy", mode: ragctx.FailClosed, query: sleep(time.Minute)})
		_, err := r.Resolve(t.Context(), ragctx.NewQuery("q"))
		if !errors.Is(err, ragctx.ErrProvider) {
			t.Errorf("error is %v", err)
		}
		time.Sleep(time.Minute)
	})
}

func TestCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResolver(t, resolve.Options{}, fake{name: "slow", query: sleep(time.Minute)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := r.Resolve(ctx, ragctx.NewQuery("q"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
		time.Sleep(time.Minute)
	})
}

// TestStuckProvider: a provider that never returns costs a bounded number of goroutines, and is called
// again once its calls have ended.
func TestStuckProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResolver(t, resolve.Options{Timeout: time.Second}, fake{name: "stuck", items: one("a"), query: sleep(time.Hour)})
		for range 32 {
			mustResolve(t, r, ragctx.NewQuery("q"))
		}
		start := time.Now()
		a := mustResolve(t, r, ragctx.NewQuery("q"))
		if got := a.Providers[0].Error; got != "has too many calls that did not return in time" || time.Since(start) != 0 {
			t.Errorf("error is %q after %v", got, time.Since(start))
		}
		time.Sleep(time.Hour)
		if got := mustResolve(t, r, ragctx.NewQuery("q")).Providers[0].Error; got != "timed out after 1s" {
			t.Errorf("error is %q: the provider was not asked again", got)
		}
		time.Sleep(time.Hour)
	})
}

// TestArrivalDoesNotMatter: the answer does not depend on the order in which results arrive. Trap 3.
func TestArrivalDoesNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resolveWith := func(delays ...time.Duration) resolve.Answer {
			var providers []ragctx.ContextProvider
			for i, d := range delays {
				name := string(rune('a' + i))
				providers = append(providers, fake{name: name, query: sleep(d), items: append(one(name), item("same", .5, "same"))})
			}
			return mustResolve(t, newResolver(t, resolve.Options{}, providers...), ragctx.NewQuery("q"))
		}
		want := resolveWith(1, 2, 3)
		for _, delays := range [][]time.Duration{{3, 2, 1}, {2, 1, 3}, {1, 1, 1}} {
			got := resolveWith(delays...)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(resolve.ProviderReport{}, "TookMS")); diff != "" {
				t.Errorf("delays %v: %s", delays, diff)
			}
		}
	})
}
