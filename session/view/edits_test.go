package view_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/view"
)

// between lets another client change a session before some replacements of it.
type between struct {
	session.Storage

	times int
}

func (b *between) Replace(
	ctx context.Context, k session.Key, at session.Version, a session.Archive,
) (session.Version, error) {
	if b.times--; b.times >= 0 {
		u := session.Update{Parameters: map[string]any{"another": true}}
		if _, err := b.Update(ctx, k, u, session.Condition{}); err != nil {
			return session.Version{}, err
		}
	}
	return b.Storage.Replace(ctx, k, at, a)
}

// A change of a section is computed again if another client changes the session in between, and meets
// its condition or is a conflict.
func TestEditsAtTheSameTime(t *testing.T) {
	b := &between{Storage: session.NewMemory(session.Options{})}
	w := newWorld(t, view.Options{Storage: b})
	w.append(talk(0, 4, 10)...)
	_, at, err := w.Append(t.Context(), key, view.AppendOptions{Section: "tail"}, talk(0, 1, 5)...)
	w.must(err)
	b.times = 1
	_, err = w.Remove(t.Context(), key, "tail", session.Condition{Revisions: []string{at.Revision()}})
	if !errors.Is(err, ragctx.ErrPrecondition) {
		t.Errorf("another version: %v", err)
	}
	b.times = 2
	w.edited(w.Remove(t.Context(), key, "tail", session.Condition{Any: true}))
	b.times = 3
	if _, err = w.Edit(t.Context(), key, "tail", nil, session.Condition{}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("changed again and again: %v", err)
	}
}
