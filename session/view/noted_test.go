package view_test

import (
	"context"
	"testing"

	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/view"
)

// between lets another client change a session right after its replacement.
type between struct {
	session.Storage

	on bool
}

func (b *between) Replace(ctx context.Context, k session.Key, at session.Version, s session.Store) (session.Result, error) {
	r, err := b.Storage.Replace(ctx, k, at, s)
	if err == nil && b.on {
		err = b.Storage.Annotate(context.WithoutCancel(session.WithVersionReport(ctx, new(session.Version))), k, map[string]any{"another": true})
	}
	return r, err
}

// The reported version is that of the change itself, even if the change takes two steps and another
// client intervenes.
func TestNotedVersion(t *testing.T) {
	for name, other := range map[string]bool{"Alone": false, "AnotherBetween": true} {
		t.Run(name, func(t *testing.T) {
			b := &between{Storage: session.NewMemory(session.Options{})}
			w := newWorld(t, view.Options{Storage: b})
			w.append(talk(0, 4, 10)...)
			_, err := w.Append(t.Context(), key, "tail", session.Step{}, talk(0, 1, 5)...)
			w.must(err)
			var noted session.Version
			b.on = other
			w.must(w.Remove(session.WithVersionReport(t.Context(), &noted), key, "tail"))
			now, err := b.Version(t.Context(), key)
			w.must(err)
			if noted == (session.Version{}) || (noted == now) == other {
				t.Errorf("noted %+v, now it is %+v", noted, now)
			}
		})
	}
}
