package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/storetest"
)

// TestErasedNamespaceLeavesNoTrace checks that the files contain nothing of an erased namespace.
func TestErasedNamespaceLeavesNoTrace(t *testing.T) {
	const token = "Zqspace"
	f := fresh(t)
	l := f.Ledger(ledger.Options{})
	defer l.Close()
	p := storetest.Prepare(t, token, token)
	m := ragctx.Memory{ID: token, UserID: token, Type: ragctx.MemorySemantic, Content: token}
	_, document := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
	_, _, _, memory := f.PutMemory(t.Context(), f.ns, m, f.content(token, nil), store.Tier{})
	_, _, _, turn := f.PutTurn(t.Context(), f.ns, ragctx.Turn{ID: token + "2", Prompt: token},
		&ragctx.Memory{ID: token + "2", Type: ragctx.MemoryEpisodic, Content: token}, f.content(token, nil), true)
	m.ID = token + "3"
	quarantined := f.PutInQuarantine(t.Context(), f.ns, m, token)
	_, provider := f.AddSessionProvider(t.Context(), store.SessionKey{Namespace: f.ns, Session: token}, token, 3)
	_, message := l.Append(t.Context(), words(token, 30))
	setting := f.SetSetting(t.Context(), fmt.Sprintf("ranking/%d/documents", f.ns), token)
	job := f.CreateJob(t.Context(), &store.Job{
		ID: token, Kind: token, Namespace: "default",
		State: store.JobQueued, Request: []byte(`"` + token + `"`),
	})
	if err := errors.Join(document, memory, turn, quarantined, provider, message, setting, job); err != nil {
		t.Fatal(err)
	}
	e, err := f.EraseNamespace(t.Context(), "default", func(note func() error) error { return note() })
	if err != nil || e.Messages != 30 {
		t.Errorf("%+v, %v", e, err)
	}
	f.scrub(t, e.Pending)
	if n := traces(t, f.path, token); n != 0 {
		t.Errorf("%d traces", n)
	}
	if _, err := l.Append(t.Context(), words("c", 1)); err != nil { // makes a new namespace
		t.Fatal(err)
	}
	if again, err := f.Namespace(t.Context(), "default", false); err != nil || again == f.ns {
		t.Errorf("namespace %d, %v", again, err)
	}
}

// TestEraseNamespaceResumes checks that the next opening completes a recorded erasure.
func TestEraseNamespaceResumes(t *testing.T) {
	f := fresh(t)
	const tokens = 5
	f.populate(t, rand.New(rand.NewPCG(1, 2)), tokens)
	cut := errors.New("cut off")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.EraseNamespace(ctx, "default", func(note func() error) error {
		defer cancel()
		return errors.Join(note(), cut)
	})
	if !errors.Is(err, cut) {
		t.Fatal(err)
	}
	if _, err := f.Namespace(t.Context(), "default", false); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, f.path)
	if err := f.AwaitCollection(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.scrub(t, 1)
	for i := range tokens { // "Zq" alone is also found in random bytes, such as those of salts
		if n := traces(t, f.path, fmt.Sprintf("Zq%dX", i)); n != 0 {
			t.Errorf("%d traces of token %d", n, i)
		}
	}
}
