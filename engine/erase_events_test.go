package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/store"
	convo "github.com/ragctx/ragctx/session"
)

// TestErasedTextIsInNoEvent: a subscriber that reconnects gets no events with erased text.
func TestErasedTextIsInNoEvent(t *testing.T) {
	for name, erase := range map[string]func(context.Context, *engine.Engine) error{
		"memory": func(ctx context.Context, e *engine.Engine) error {
			_, err := e.Memories().Erase(ctx, "", "m", "", true)
			return err
		},
		"session": func(ctx context.Context, e *engine.Engine) error {
			_, err := e.Sessions().Erase(ctx, "", "s", "", true, convo.Condition{})
			return err
		},
		"user": func(ctx context.Context, e *engine.Engine) error {
			_, err := e.Admin().EraseUser(ctx, "", "ada")
			return err
		},
		"namespace": func(ctx context.Context, e *engine.Engine) error {
			_, err := e.Admin().EraseNamespace(ctx, ragctx.DefaultNamespace)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := cached(t, spelling)
			from, err := f.Events().Last(t.Context(), events.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			f.remember(ragctx.Memory{ID: "m", UserID: "ada", SessionID: "s", Content: "The code of the narwhal is 5512.", Tags: []string{"narwhal"}})
			f.remember(ragctx.Memory{ID: "other", Namespace: "else", Content: "Elsewhere nothing is erased."})
			q := query("code of the narwhal").WithSessionID("s")
			q.UserID = "ada"
			if a := f.ask(q); !strings.Contains(a.XML, "5512") {
				t.Fatalf("answered %q", a.XML)
			}
			if err := erase(t.Context(), f.Engine); err != nil {
				t.Fatal(err)
			}
			f.Engine.Close()
			var left []string
			for ev, err := range f.Events().Follow(t.Context(), events.Filter{}, from) {
				if err != nil {
					break
				}
				told := fmt.Sprintf("%+v", ev)
				left = append(left, string(ev.Type)+" "+ev.Namespace)
				if strings.Contains(told, "5512") || strings.Contains(told, "narwhal") && name != "memory" {
					t.Errorf("told of what was erased: %s", told)
				}
			}
			if !strings.Contains(strings.Join(left, ", "), "memory_stored else") {
				t.Errorf("left are %v; those of another namespace stay", left)
			}
		})
	}
}

// TestDeletingAllMemoriesIsTold: how many went from each tier.
func TestDeletingAllMemoriesIsTold(t *testing.T) {
	f := open(t)
	for i := range 3 {
		f.remember(ragctx.Memory{ID: fmt.Sprint(i), UserID: "ada", Content: fmt.Sprintf("Number %d.", i)})
	}
	f.remember(ragctx.Memory{ID: "bobs", UserID: "bob", Content: "Something else."})
	heard := f.listen(t.Context())
	if err := f.Memories().DeleteAll(t.Context(), "", store.MemoryFilter{UserID: "ada", Own: true}); err != nil {
		t.Fatal(err)
	}
	if left, err := f.Memories().Count(t.Context(), "", store.MemoryFilter{AnyUser: true}); err != nil || left != 1 {
		t.Errorf("%d memories are left, %v", left, err)
	}
	var got []string
	for _, ev := range heard() {
		got = append(got, fmt.Sprintf("%s %s %+v", ev.Type, ev.UserID, ev.Data))
	}
	if diff := cmp.Diff([]string{"memory_cleared ada {Tier:long_term Count:3}", "memory_cleared ada {Tier:short_term Count:3}"}, got); diff != "" {
		t.Error(diff)
	}
}
