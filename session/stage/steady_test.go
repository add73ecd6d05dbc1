package stage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/stage"
)

// New notes wait until they become a reflection or cover many messages, and their messages stay, so
// that the prompt's prefix is stable for many turns.
func TestSteadyObservations(t *testing.T) {
	notes := &stage.MemoryNotes{}
	ob := observer(t, notes, stage.ObserverOptions{ReflectionThreshold: 20, Generator: noting})
	steady := builtin(t, stage.BuiltinOptions{Observations: &stage.Observation{Notes: notes, Steady: true}})
	plain := builtin(t, stage.BuiltinOptions{Observations: &stage.Observation{Notes: notes}})
	var all []ragctx.Message
	prefixes := make(map[*stage.Pipeline][]string)
	for i := range 18 {
		one := turn(i)
		one[0].Content = ragctx.Text(fmt.Sprintf("Find out why build %d of the shop fails.", i))
		all = append(all, one...)
		if _, err := ob.Observe(context.Background(), scope, one); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*stage.Pipeline{steady, plain} {
			res := run(t, p, &stage.State{Scope: scope, Layer: stage.LayerObservation, Messages: all, Used: 1 << 20})
			prefix := res.Messages[0].Content.String()
			if !slices.Contains(prefixes[p], prefix) {
				prefixes[p] = append(prefixes[p], prefix)
			}
			for n := range i + 1 { // no instruction is lost in either form
				if text := fmt.Sprintf("build %d of the shop", n); !strings.Contains(texts(res.Messages), text) {
					t.Fatalf("turn %d: %q is neither told nor shown", i, text)
				}
			}
		}
	}
	if a, b := len(prefixes[steady]), len(prefixes[plain]); a != 4 || b != 18 {
		t.Errorf("%d prefixes, and %d without steps", a, b)
	}
}
