package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/resolve"
	convo "github.com/ragctx/ragctx/session"
)

func TestAModelThatHangs(t *testing.T) {
	f := open(t, func(o *engine.Options) {
		o.FactExtraction.Model, o.FactExtraction.Wait = forever{}, 20*time.Millisecond
	})
	f.tell("t", "ada", "s", "I'm allergic to peanuts.")
	if all := f.facts("ada"); holds(all, "peanuts") == nil {
		t.Errorf("rules did not find it: %q", contents(all))
	}
}

func TestCleanRestartsAreNobodysFailure(t *testing.T) {
	t.Parallel() // closing waits a moment for the model
	thinking := make(chan struct{}, 1)
	f := open(t, func(o *engine.Options) { o.FactExtraction.Model = thinker(thinking) })
	f.turn(ragctx.Turn{ID: "t", UserID: "ada", SessionID: "s", Prompt: "I'm allergic to peanuts."})
	for range 5 {
		<-thinking
		f.reopen()
	}
	<-thinking
	f.opts.FactExtraction.Model = nil
	f.reopen()
	f.settle()
	if all := f.facts("ada"); holds(all, "peanuts") == nil {
		t.Errorf("learnt %q", contents(all))
	}
}

// late is a provider that runs out of time.
type late struct {
	listener

	told atomic.Int32
}

func (*late) Name() string { return "late" }

func (l *late) OnTurnComplete(context.Context, ragctx.Turn) error {
	l.told.Add(1)
	return fmt.Errorf("ask a service: %w", context.DeadlineExceeded)
}

func TestAProviderThatIsLateIsToldAgain(t *testing.T) {
	slow, other := new(late), new(listener)
	f := open(t, func(o *engine.Options) { o.Providers = []resolve.Registered{{Provider: slow}, {Provider: other}} })
	f.turn(ragctx.Turn{ID: "t", SessionID: "s", Prompt: "x"})
	f.settle()
	for range 5 {
		f.reopen()
		f.settle()
	}
	if n := slow.told.Load(); n != 3 {
		t.Errorf("told %d times, want as often as it may fail", n)
	}
	if len(other.turns) != 1 {
		t.Errorf("the other provider was told %d times", len(other.turns))
	}
}

// TestErasingInAShortCommand leaves extracting facts again to the next long-running process.
func TestErasingInAShortCommand(t *testing.T) {
	t.Parallel() // closing waits a moment for the model
	thinking := make(chan struct{}, 1)
	f := open(t, func(o *engine.Options) { o.FactExtraction.Model = thinker(thinking) })
	f.turn(ragctx.Turn{ID: "t1", UserID: "ada", SessionID: "s", Prompt: "I'm allergic to peanuts."})
	<-thinking
	f.opts.PauseJobs = true
	f.reopen()
	if _, err := f.Memories().Erase(t.Context(), "", "none", "ada", false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sessions().Erase(t.Context(), "", "other", "ada", false, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	f.settle() // at once: nothing is at work
	f.opts.FactExtraction.Model, f.opts.PauseJobs = nil, false
	f.reopen()
	f.settle()
	if all := f.facts("ada"); holds(all, "peanuts") == nil {
		t.Errorf("learnt %q", contents(all))
	}
}

// thinker is a model that says when it was asked, and never answers.
func thinker(asked chan<- struct{}) llm.Generator {
	return llm.GeneratorFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	})
}

// teachesNothing is a model that finds nothing, and counts how often it was asked.
func teachesNothing(asked *atomic.Int32) llm.Generator {
	return llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
		asked.Add(1)
		return llm.Response{Text: "[]"}, nil
	})
}

// Acknowledgements are batched for a moment. A closing engine does not wait for that moment, and
// leaves no turn to be delivered again.
func TestClosingNotesWhatWasTold(t *testing.T) {
	var asked atomic.Int32
	f := open(t, func(o *engine.Options) { o.FactExtraction.Model = teachesNothing(&asked) })
	for i := range int32(3) {
		f.turn(ragctx.Turn{ID: fmt.Sprint(i), UserID: "ada", SessionID: "s", Prompt: "I'm allergic to peanuts."})
		f.reopen()
		f.settle()
		if n := asked.Load(); n != i+1 {
			t.Errorf("after %d turns the model was asked %d times", i+1, n)
		}
	}
}

// A caller that waits for extraction and goes away does not cause another delivery.
func TestToldOnceThoughNobodyWaits(t *testing.T) {
	var asked atomic.Int32
	f := open(t, func(o *engine.Options) { o.FactExtraction.Model = teachesNothing(&asked) })
	f.turn(ragctx.Turn{ID: "t", UserID: "ada", SessionID: "s", Prompt: "I'm allergic to peanuts."})
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_ = f.Sessions().SettleAll(gone) // whatever it says
	f.reopen()
	f.settle()
	if n := asked.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// held is a provider that is not done with one turn until it may be.
type held struct {
	listener

	mu    sync.Mutex
	told  map[string]int
	heard chan struct{} // of another turn
	done  chan struct{}
}

func (*held) Name() string { return "held" }

func (h *held) OnTurnComplete(_ context.Context, t ragctx.Turn) error {
	h.mu.Lock()
	h.told[t.ID]++
	h.mu.Unlock()
	if t.ID == "slow" {
		<-h.done
	} else {
		h.heard <- struct{}{}
	}
	return nil
}

// A delivered turn with a pending acknowledgement is not delivered again when an erasure causes other
// turns to be.
func TestToldOnce(t *testing.T) {
	p := &held{told: make(map[string]int), heard: make(chan struct{}, 10), done: make(chan struct{})}
	f := open(t, func(o *engine.Options) { o.Providers = []resolve.Registered{{Provider: p}} })
	for i, id := range []string{"slow", "quick", "other"} {
		f.turn(ragctx.Turn{ID: id, UserID: fmt.Sprint(i), SessionID: fmt.Sprint(i), Prompt: "x"})
	}
	<-p.heard
	<-p.heard
	if _, err := f.Sessions().Erase(t.Context(), "", "2", "2", true, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.heard:
	case <-time.After(300 * time.Millisecond): // none is heard
	}
	close(p.done)
	f.settle()
	f.reopen()
	f.settle()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, n := range p.told {
		if n != 1 {
			t.Errorf("%s was told %d times", id, n)
		}
	}
}
