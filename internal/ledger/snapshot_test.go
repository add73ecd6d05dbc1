package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

func newLog() *ledger.MemoryLog {
	return ledger.NewMemoryLog(ledger.Options{Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) }})
}

func snapshotter(t interface{ Cleanup(func()) }, log ledger.Log, f *ledger.Folder) *ledger.Snapshotter {
	s := ledger.NewSnapshotter(log, f, slog.New(slog.DiscardHandler))
	t.Cleanup(s.Close)
	return s
}

func publish(t rapid.TB, log ledger.Log, messages ...ledger.Message) []ledger.Message {
	t.Helper()
	for i := range messages {
		m := &messages[i]
		m.ID, m.Sequence, m.Timestamp = "", 0, 0
		m.Namespace, m.Cluster, m.Sender = "default", "c", or(m.Sender, "agent")
	}
	out, err := log.Append(context.Background(), messages)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func stored(t rapid.TB, log ledger.Log, topics ...string) []ledger.Message {
	t.Helper()
	out, err := log.Query(context.Background(), ledger.Query{Filter: ledger.Filter{Namespace: "default", Cluster: "c", Topics: topics}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// folded is the state by folding everything from the beginning.
func folded(t rapid.TB, log ledger.Log, f *ledger.Folder) string {
	t.Helper()
	var s ledger.State
	for _, m := range stored(t, log) {
		s = f.Apply(s, m)
	}
	raw, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func stateJSON(t rapid.TB, s ledger.State, err error) string {
	t.Helper()
	raw, merr := s.MarshalJSON()
	if err := errors.Join(err, merr); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A snapshot is published on PLAN_READY and on VALIDATION_RESULT, by itself.
func TestSnapshotIsPublished(t *testing.T) {
	log := newLog()
	s := snapshotter(t, log, folder(t, nil))
	sub, err := log.Subscribe(ledger.Filter{Namespace: "default", Cluster: "c", Topics: []string{ledger.TopicStateSnapshot}})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{"PLAN_READY", "VALIDATION_RESULT"} {
		m := publish(t, log, ledger.Message{Topic: topic, Text: "text"})
		s.Notify(m)
		got := <-sub.C()
		if got.Sender != "state-snapshotter" || got.Receiver != "broadcast" || got.Cluster != "c" {
			t.Errorf("published %+v", got)
		}
		if want := folded(t, log, folder(t, nil)); string(got.Data) != want {
			t.Errorf("after %s: %s, want %s", topic, got.Data, want)
		}
	}
	if got := stored(t, log, ledger.TopicStateSnapshot)[1]; got.Text != "Plan: text\nValidation: pending (0 errors)" {
		t.Errorf("text %q", got.Text)
	}
}

// Loading a stopped cluster writes nothing; what did not change is not published again.
func TestSnapshotWritesNothingWithoutChange(t *testing.T) {
	log := newLog()
	publish(t, log, ledger.Message{Topic: "ISSUE_OPENED", Text: "x"}, ledger.Message{Topic: "CHAT", Text: "y"})
	if _, err := snapshotter(t, log, folder(t, nil)).State(t.Context(), "default", "c"); err != nil {
		t.Fatal(err)
	}
	if n := len(stored(t, log)); n != 2 {
		t.Fatalf("asking for the state wrote: %d messages", n)
	}
	for range 3 { // each is a restart
		s := snapshotter(t, log, folder(t, nil))
		for range 2 {
			if _, err := s.Publish(t.Context(), "default", "c"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(stored(t, log, ledger.TopicStateSnapshot)); n != 1 {
		t.Errorf("%d snapshots of one state", n)
	}
	if _, err := snapshotter(t, log, folder(t, nil)).Publish(t.Context(), "default", "other"); err != nil {
		t.Error(err)
	}
	if n, err := log.Count(t.Context(), ledger.Query{Filter: ledger.Filter{Namespace: "default", Cluster: "other"}}); n != 0 || err != nil {
		t.Errorf("a cluster without messages has %d, %v", n, err)
	}
}

// Messages newer than the stored snapshot are taken in after a restart, also
// those that came between its source and itself.
func TestSnapshotReplaysLaterMessages(t *testing.T) {
	log, f := newLog(), folder(t, nil)
	publish(t, log, ledger.Message{Topic: "ISSUE_OPENED", Text: "x"})
	if _, err := snapshotter(t, late{log}, f).Publish(t.Context(), "default", "c"); err != nil {
		t.Fatal(err)
	}
	publish(t, log, ledger.Message{Topic: "WORKER_PROGRESS", Data: json.RawMessage(`{"percentComplete":5}`)})
	s, err := snapshotter(t, log, f).State(t.Context(), "default", "c")
	if got, want := stateJSON(t, s, err), folded(t, log, f); got != want || s.Sections["plan"] == nil || s.Sections["progress"] == nil {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// late is a log in which a plan comes right before every snapshot.
type late struct{ *ledger.MemoryLog }

func (l late) Append(ctx context.Context, m []ledger.Message) ([]ledger.Message, error) {
	if _, err := l.MemoryLog.Append(ctx, []ledger.Message{{
		Namespace: "default", Cluster: "c", Topic: "PLAN_READY",
		Sender: "p", Text: "in between",
	}}); err != nil {
		return nil, err
	}
	return l.MemoryLog.Append(ctx, m)
}

// A foreign snapshot, or one of other rules or another log, is ignored.
func TestSnapshotOfOthers(t *testing.T) {
	for name, m := range map[string]ledger.Message{
		"no JSON of a state": {Data: json.RawMessage(`[1]`), Metadata: json.RawMessage(`{"source":"1"}`)},
		"no origin":          {Data: json.RawMessage(`{"version":1,"clusterId":"c","sourceMessageId":"x"}`)},
		"source unknown": {
			Data:     json.RawMessage(`{"version":1,"updatedAt":1,"clusterId":"c","sourceMessageId":"x"}`),
			Metadata: json.RawMessage(`{"fold":"F","source":"1"}`),
		},
		"other rules": {
			Data:     json.RawMessage(`{"version":1,"updatedAt":1,"clusterId":"c","sourceMessageId":"x"}`),
			Metadata: json.RawMessage(`{"fold":"x","source":"1"}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, f := newLog(), folder(t, nil)
			m.Topic, m.Sender = ledger.TopicStateSnapshot, ledger.SnapshotSender
			publish(t, log, ledger.Message{Topic: "ISSUE_OPENED", Text: "x"}, m, ledger.Message{Topic: "PLAN_READY", Text: "p"})
			s, err := snapshotter(t, log, f).Publish(t.Context(), "default", "c")
			if got, want := stateJSON(t, s, err), folded(t, log, f); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// A property: whatever is published, touched, settled and restarted in whatever
// order, the state is that of a fold from the beginning, and so is the newest snapshot.
func TestSnapshotIsAFold(t *testing.T) {
	f := folder(t, map[string]string{"DEPLOYED": "deployment"})
	topics := append(f.Topics(), "CHAT", "AGENT_OUTPUT")
	datas := []string{
		"", `{"canValidate":true,"percentComplete":3}`, `{"approved":false,"errors":["a"]}`, `{"note":1}`,
		`{"completionStatus":{"nextSteps":["n"]}}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		log := newLog()
		s := ledger.NewSnapshotter(log, f, slog.New(slog.DiscardHandler))
		defer func() { s.Close() }()
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				s.Close()
				s = ledger.NewSnapshotter(log, f, slog.New(slog.DiscardHandler))
			case 1:
				_, _ = s.Publish(context.Background(), "default", "c")
			default:
				var batch []ledger.Message
				for range rapid.IntRange(1, 3).Draw(t, "messages") {
					m := ledger.Message{Topic: rapid.SampledFrom(topics).Draw(t, "topic"), Text: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text")}
					if d := rapid.SampledFrom(datas).Draw(t, "data"); d != "" {
						m.Data = json.RawMessage(d)
					}
					batch = append(batch, m)
				}
				if out := publish(t, log, batch...); rapid.Bool().Draw(t, "told") {
					s.Notify(out)
				}
			}
		}
		state, err := s.Publish(context.Background(), "default", "c")
		want := folded(t, log, f)
		if got := stateJSON(t, state, err); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
		if all := stored(t, log, ledger.TopicStateSnapshot); !state.IsZero() && string(all[len(all)-1].Data) != want {
			t.Fatalf("the newest snapshot is %s\nwant %s", all[len(all)-1].Data, want)
		}
	})
}

// Writers, settlers and readers at once: no state is published twice, none is lost.
func TestSnapshotConcurrently(t *testing.T) {
	log, f := newLog(), folder(t, nil)
	s := snapshotter(t, log, f)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				m := ledger.Message{Namespace: "default", Cluster: "c", Topic: "PLAN_READY", Sender: "w", Text: fmt.Sprint(w, i)}
				out, err := log.Append(context.Background(), []ledger.Message{m})
				if err != nil {
					t.Error(err)
				}
				s.Notify(out)
				if _, err := s.Publish(context.Background(), "default", "c"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var seen []string
	for _, m := range stored(t, log, ledger.TopicStateSnapshot) {
		seen = append(seen, string(m.Data))
	}
	if want := folded(t, log, f); seen[len(seen)-1] != want {
		t.Errorf("the last is %s, want %s", seen[len(seen)-1], want)
	}
	slices.Sort(seen)
	if n := len(seen); len(slices.Compact(seen)) != n {
		t.Error("a state was published twice")
	}
}

// Closing publishes what is due.
func TestSnapshotOnClose(t *testing.T) {
	for range 20 {
		log := newLog()
		s := ledger.NewSnapshotter(log, folder(t, nil), slog.New(slog.DiscardHandler))
		s.Notify(publish(t, log, ledger.Message{Topic: "PLAN_READY", Text: "p"}))
		s.Close()
		s.Close()
		if n := len(stored(t, log, ledger.TopicStateSnapshot)); n != 1 {
			t.Fatalf("%d snapshots after the end", n)
		}
	}
}

// A log that fails costs a snapshot, not the next one.
func TestSnapshotAfterFailure(t *testing.T) {
	log := &failing{MemoryLog: newLog(), fail: true}
	s := snapshotter(t, log, folder(t, nil))
	publish(t, log.MemoryLog, ledger.Message{Topic: "PLAN_READY", Text: "p"})
	if _, err := s.Publish(t.Context(), "default", "c"); !errors.Is(err, ragctx.ErrNoSpace) {
		t.Fatalf("got %v", err)
	}
	log.fail = false
	if _, err := s.Publish(t.Context(), "default", "c"); err != nil || len(stored(t, log, ledger.TopicStateSnapshot)) != 1 {
		t.Errorf("%v, %d snapshots", err, len(stored(t, log, ledger.TopicStateSnapshot)))
	}
}

type failing struct {
	*ledger.MemoryLog

	fail bool
}

func (l *failing) Append(ctx context.Context, m []ledger.Message) ([]ledger.Message, error) {
	if l.fail {
		return nil, ragctx.ErrNoSpace
	}
	return l.MemoryLog.Append(ctx, m)
}
