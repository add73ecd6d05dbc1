package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// chain returns an archive of messages that come after each other, with records of ranges
// that begin with the second one.
func chain(messages, records int) session.Archive {
	a := session.Archive{Sections: []string{session.SectionMessages}}
	for i := range messages {
		m := ragctx.Message{ID: fmt.Sprint("m", i), ParentID: a.Leaf, Role: ragctx.RoleUser, Content: ragctx.Text(fmt.Sprint("message ", i))}
		a.Entries, a.Leaf = append(a.Entries, session.Entry{Section: session.SectionMessages, Message: m}), m.ID
	}
	for i := range records {
		a.Compactions = append(a.Compactions, session.Compaction{ID: fmt.Sprint("r", i), From: "m1", To: fmt.Sprint("m", messages-1-i%10)})
	}
	return a
}

// A message is compared once when a session is saved, however many records are about it.
func TestManyRecordsCostLittle(t *testing.T) {
	saved := func(records int) float64 {
		before, after := chain(500, records), chain(500, 0).Store() // which shares nothing with it
		return testing.AllocsPerRun(1, func() {
			out, _, err := before.Replaced(t.Context(), after, session.Options{}.WithDefaults())
			if err != nil || len(out.Compactions) != records {
				t.Fatalf("%d records are left: %v", len(out.Compactions), err)
			}
		})
	}
	if one, many := saved(1), saved(200); many > 2*one {
		t.Errorf("%.0f allocations with one record, %.0f with 200", one, many)
	}
}

// stays walks a range message by message, by the rules of [session.Storage].
func stays(c session.Compaction, now, then map[string]session.Entry) bool {
	_, from := now[c.From]
	last, to := now[c.To]
	if !from && c.From != "" || !to {
		return false
	}
	one := true
	for id := c.To; ; {
		a, there := now[id]
		b, was := then[id]
		if !there && !was {
			return true
		}
		if there != was || a.Section != b.Section || a.Message.Content.String() != b.Message.Content.String() {
			return false
		}
		if one = one && a.Section == last.Section; one && id == c.From {
			return true
		}
		if a.Message.ParentID != b.Message.ParentID {
			return false
		}
		id = a.Message.ParentID
	}
}

// The records that stay are those that a walk along each range finds unchanged.
func TestRangesAreWalked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "messages")
		then, now := make(map[string]session.Entry), make(map[string]session.Entry)
		var before session.Archive
		var after []session.Entry
		for i := range n {
			id := fmt.Sprint("m", i)
			parent := rapid.Custom(func(t *rapid.T) string {
				last := fmt.Sprint("m", i-rapid.IntRange(1, 3).Draw(t, "back")) // or none that there is
				return rapid.SampledFrom([]string{"", "gone", last, last, last, last}).Draw(t, "parent")
			})
			section := rapid.SampledFrom([]string{"messages", "messages", "buffer"})
			e := session.Entry{Section: section.Draw(t, "section"), Message: ragctx.Message{ID: id, ParentID: parent.Draw(t, "comes after"), Role: ragctx.RoleUser, Content: ragctx.Text("x")}}
			then[id], before.Entries = e, append(before.Entries, e)
			switch rapid.IntRange(0, 15).Draw(t, "change") {
			case 0:
				e.Message.ParentID = parent.Draw(t, "another parent")
			case 1:
				e.Message.Content = ragctx.Text("y")
			case 2:
				e.Section = section.Draw(t, "another section")
			case 3:
				continue
			}
			now[id], after = e, append(after, e)
		}
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("m", rapid.IntRange(0, n-1).Draw(t, "id")) })
		var want []string
		for i := range 20 {
			c := session.Compaction{ID: fmt.Sprint(i), From: rapid.SampledFrom([]string{"", id.Draw(t, "from")}).Draw(t, "maybe"), To: id.Draw(t, "to")}
			if before.Compactions = append(before.Compactions, c); stays(c, now, then) {
				want = append(want, c.ID)
			}
		}
		linked := slices.ContainsFunc(after, func(e session.Entry) bool { return e.Message.ParentID != "" })
		if !linked {
			t.Skip("they would be linked in their order")
		}
		out, _, err := before.Replaced(t.Context(), session.StoreOf(after), session.Options{}.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range out.Compactions {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%v stay, want %v\nbefore %+v\nafter %+v", got, want, before, after)
		}
	})
}

// Saving messages with a cycle of parents terminates.
func TestRangesOfCircles(t *testing.T) {
	a := chain(5, 0)
	a.Entries[1].Message.ParentID = "m3"
	a.Compactions = []session.Compaction{{ID: "in", To: "m2"}, {ID: "behind", From: "m4", To: "m4"}}
	out, _, err := a.Replaced(t.Context(), a.Store(), session.Options{}.WithDefaults())
	if err != nil || len(out.Compactions) != 1 || out.Compactions[0].ID != "behind" {
		t.Errorf("%+v, %v", out.Compactions, err)
	}
}
