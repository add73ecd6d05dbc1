package memory_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/providers/memory"
)

func TestVoices(t *testing.T) {
	turn := ragctx.Turn{Messages: []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleSystem, "You are helpful."),
		{Role: ragctx.RoleUser, Name: "Ada", Content: ragctx.Text("I moved in May 2021.")},
		ragctx.TextMessage(ragctx.RoleAssistant, "Where to?"),
		{Name: "Bob", Content: ragctx.Text("See you on Monday.")},
	}}
	_, _, got, err := memory.Episode(turn)
	if err != nil {
		t.Fatal(err)
	}
	want := []index.Speaker{{Role: "user", Name: "Ada", Timed: true}, {Role: "assistant"}, {Role: "user", Name: "Bob", Timed: true}}
	if !slices.Equal(got, want) {
		t.Errorf("voices %v, want %v", got, want)
	}
}

// TestEveryChunkHasItsSpeaker: every chunk of a message has the message's speaker.
func TestEveryChunkHasItsSpeaker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var turn ragctx.Turn
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab .\n\né語😀")), 0, 900, -1)
		for i := range rapid.IntRange(1, 6).Draw(t, "messages") {
			m := ragctx.TextMessage(ragctx.RoleUser, text.Draw(t, "text"))
			m.Name = strings.Repeat("x", i+1)
			turn.Messages = append(turn.Messages, m)
		}
		m, units, voices, err := memory.Episode(turn)
		if err != nil {
			t.Fatal(err)
		}
		if len(voices) != len(units) {
			t.Fatalf("%d voices of %d units", len(voices), len(units))
		}
		for i, u := range units {
			before := m.Content[:u.End.Byte]
			if i := strings.LastIndex(before, "\nx"); i >= 0 {
				before = before[i+1:]
			}
			if name, _, _ := strings.Cut(before, ":"); name != voices[i].Name {
				t.Fatalf("unit %d of %q is said by %q", i, name, voices[i].Name)
			}
		}
	})
}

func TestPlan(t *testing.T) {
	now := time.Date(2023, 7, 15, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		question          string
		when, timed, list bool
	}{
		{"Where does Ada live?", false, false, false},
		{"When did Ada move?", true, false, false},
		{"Since when does she play?", true, false, false},
		{"Seit wann spielt Ada?", true, false, false},
		{"¿Cuándo se mudó Ada?", true, false, false},
		{"Quand a-t-elle déménagé ?", true, false, false},
		{"Когда Анна переехала?", true, false, false},
		{"她什么时候搬家的", true, false, false},
		{"In which month did she move?", true, false, false},
		{"Whenever you like", false, false, false},
		{"What did Ada cook on July 3rd?", false, true, false},
		{"What did we talk about last week?", false, true, true},
		{"Worüber haben wir letzte Woche gesprochen?", false, true, true},
	} {
		q := ragctx.NewQuery(c.question)
		q.Now = now
		p := memory.Plan(q)
		if p.Conversation.AsksWhen != c.when || (p.Time != nil) != c.timed || p.Time != nil && p.Time.List != c.list {
			t.Errorf("%q: asks when %v, time %+v", c.question, p.Conversation.AsksWhen, p.Time)
		}
	}
	q := ragctx.NewQuery("When did we talk last week?").WithParam("dialogue", false).WithParam("time", false)
	if p := memory.Plan(q); p.Conversation != nil || p.Time != nil {
		t.Errorf("switched off, and yet %+v, %+v", p.Conversation, p.Time)
	}
}
