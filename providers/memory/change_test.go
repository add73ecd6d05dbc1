package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
)

// changeTurn returns a turn, its findings, and n memories that are older.
func changeTurn(n int) (ragctx.Turn, []Finding, []ragctx.Memory) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	t := ragctx.Turn{
		ID: "new", SessionID: "s", Occurred: at,
		Messages: []ragctx.Message{{Role: ragctx.RoleUser, Content: ragctx.Text("I've relocated to Turin. We replaced Travis with Buildkite.")}},
	}
	var known []ragctx.Memory
	for i := range n {
		known = append(known, ragctx.Memory{
			ID: fmt.Sprint(i), Content: fmt.Sprintf("The user's server number %d runs on host%d.example.org, and Lena looks after it.", i, i),
			Recorded: at.Add(-time.Hour),
		})
	}
	return t, FindingsByRules(t), known
}

func TestChangeFinderForgets(t *testing.T) {
	turn, found, known := changeTurn(3)
	c := NewChangeFinder()
	list := func() ([]ragctx.Memory, error) { return known, nil }
	if _, err := c.Apply(turn, found, list); err != nil || c.known.Len() != 3 {
		t.Fatalf("%d contents, %v; want 3", c.known.Len(), err)
	}
	c.Forget()
	if n := c.known.Len(); n != 0 {
		t.Fatalf("%d contents after an erasure", n)
	}
	erased := func() ([]ragctx.Memory, error) {
		c.Forget()
		return known, nil
	}
	if _, err := c.Apply(turn, found, erased); err != nil || c.known.Len() != 0 {
		t.Errorf("%d contents that were listed before an erasure, %v", c.known.Len(), err)
	}
}

// BenchmarkLearnPrice compares a turn that names a price with 1,000 memories that have one, in other words.
func BenchmarkLearnPrice(b *testing.B) {
	turn, _, known := changeTurn(1000)
	turn.Messages[0].Content = ragctx.Text("The contract is 45 euros from August.")
	for i := range known {
		known[i].Content = fmt.Sprintf("The repair of machine%d at plant%d cost %d euros.", i, i, i)
	}
	c := NewChangeFinder()
	for b.Loop() {
		if _, err := c.Apply(turn, FindingsByRules(turn), func() ([]ragctx.Memory, error) { return known, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLearn extracts facts from a turn and compares them with 500 memories.
func BenchmarkLearn(b *testing.B) {
	for _, warm := range []bool{false, true} {
		b.Run(fmt.Sprintf("warm=%v", warm), func(b *testing.B) {
			turn, _, known := changeTurn(500)
			c := NewChangeFinder()
			for b.Loop() {
				if !warm {
					c.Forget()
				}
				list := func() ([]ragctx.Memory, error) { return known, nil }
				if _, err := c.Apply(turn, FindingsByRules(turn), list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLearnWish compares a wish with 500 known ones, of which most have a topic in common with it.
func BenchmarkLearnWish(b *testing.B) {
	turn, _, known := changeTurn(500)
	turn.Messages[0].Content = ragctx.Text("From now on, please answer in German and keep it short.")
	wishes := []string{
		"Answer questions about machine%d in French.", "Use Spanish for mails to team%d.",
		"Never start mails about plant%d in Dutch.", "Write comments of project%d in English.",
	}
	for i := range known {
		known[i].Content = fmt.Sprintf(wishes[i%len(wishes)], i)
		known[i].About = &ragctx.FactRecord{Kind: ragctx.FactInstruction}
	}
	c := NewChangeFinder()
	for b.Loop() {
		if _, err := c.Apply(turn, FindingsByRules(turn), func() ([]ragctx.Memory, error) { return known, nil }); err != nil {
			b.Fatal(err)
		}
	}
}
