package index_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// TestAround: what a question may see around a chunk is that of its session, by
// whole items, nearest first.
func TestAround(t *testing.T) {
	h, _, _ := open(t)
	b := index.Batch{}
	add := func(id uint64, p *index.Item, chunks int) {
		p.ID, p.Recorded = id, t0
		p.Occurred = t0.Add(time.Duration(id) * time.Minute)
		for i := range chunks {
			e := entry(10*id+uint64(i), id, p, "apple")
			e.Ordinal, e.Speaker = i, index.Speaker{Role: []ragctx.Role{ragctx.RoleUser, ragctx.RoleAssistant}[i%2]}
			b.Add = append(b.Add, e)
		}
		b.Seq = id
	}
	for id := uint64(1); id <= 9; id++ {
		p := &index.Item{User: "a", Session: "s"}
		switch id {
		case 3:
			p.User = "b"
		case 4:
			p.Expires = t0
		case 8:
			p.Session = ""
		}
		add(id, p, 3)
	}
	apply(t, h, b)
	q := index.Query{Scope: index.Scope{User: "a"}, Now: t0}
	got, err := h.Neighbors(t.Context(), q.Where(b.Seq), []uint64{51, 80, 999}, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []index.Neighbors{{Before: []uint64{2, 1}, After: []uint64{6, 7}}, {}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("around (-want +got):\n%s", diff)
	}
}
