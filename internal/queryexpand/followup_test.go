package queryexpand_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/queryexpand"
)

func user(s string) ragctx.Message      { return ragctx.TextMessage(ragctx.RoleUser, s) }
func assistant(s string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleAssistant, s) }

// talk is about a ferry; no question below shares a word with it.
var talk = []ragctx.Message{
	user("Which ferry goes to Heligoland in winter?"),
	assistant("The Helgoland sails from Cuxhaven, also in January. Tickets are sold aboard."),
}

// TestDependent: a question depends on the conversation if it refers to something, marks a
// continuation, or has hardly a content word.
func TestDependent(t *testing.T) {
	for _, q := range []string{
		"how long does it take?",
		"What does it cost?",
		"who runs them",
		"is that expensive?",
		"Can I take a bike on those?",
		"is there a faster one?",
		"How do I get there by train?",
		"are its cabins heated?",
		"and in summer?",
		"But what about dogs?",
		"So no reservation needed, right?",
		"what about cars",
		"do I need a passport too?",
		"Is breakfast included as well as that?",
		"what else?",
		"Why?",
		"how much?",
		"which harbour?",
		"ok thanks. and back?",
		"yes. when does she leave",
		"Und im Sommer?",
		"Wie lange dauert das?",
		"Darf mein Hund darauf mitfahren?",
		"Was kostet es für Kinder?",
		"Braucht man dafür einen Ausweis?",
		"warum?",
		"Wo bekomme ich sie?",
		"et en été ?",
		"combien coûte-t-elle ?",
		"On peut y emmener un chien ?",
		"où est-ce qu'on les achète ?",
		"Ça prend combien de temps ?",
		"pourquoi ?",
		"¿y en verano?",
		"¿Cuánto cuesta eso?", //nolint:misspell // Spanish
		"¿puedo reservarlo por teléfono?",
		"¿dónde la compro?",
		"¿por qué?",
	} {
		if more, dependence := queryexpand.FollowUp(q, talk); dependence <= 0 || dependence > 1 || len(more) == 0 {
			t.Errorf("%q stands by itself", q)
		}
	}
}

// TestIndependent: an independent question is not expanded.
func TestIndependent(t *testing.T) {
	for _, q := range []string{
		"",
		"?!",
		"How do I renew my library card?",
		"library card renewal",
		"opening hours",
		"What is the difference between a mutex and a semaphore?",
		"Is it possible to renew a library card by post?",
		"is there a limit on the number of books per reader?",
		"Which books that were lent in May are overdue?",
		"If a book is lost, who pays for it?",
		"When the library closes, do readers keep their books?",
		"does the library keep its old newspapers?",
		"I am sure that the library opens at nine, which entrance is used?",
		"One of the shelves broke, which carpenter do we call?",
		"New topic: how do I renew it?",
		"By the way, who repairs shelves here, and does he do it on Sundays?",
		"Wie verlängere ich meinen Büchereiausweis?",
		"Gibt es eine Grenze für die Zahl der Bücher?",
		"Wenn ein Buch verloren geht, wer bezahlt es?",
		"Wo finden Sie alte Zeitungen im Archiv?",
		"Neues Thema: wo bekomme ich das?",
		"Comment renouveler une carte de bibliothèque ?",
		"Il y a une limite au nombre de livres par lecteur ?",
		"Quand un livre est perdu, qui le remplace ?",
		"¿Cómo se renueva el carné de la biblioteca?",
		"Si se pierde un libro, ¿quién lo paga?",
		"как продлить читательский билет",
		"如何更新图书馆借书证并且查询逾期图书的罚款金额",
	} {
		if more, dependence := queryexpand.FollowUp(q, talk); dependence != 0 || len(more) != 0 {
			t.Errorf("%q: dependence %.2f, wordings %v; want none", q, dependence, more)
		}
	}
}

// TestContentReducesDependence: the more content words a question has, the less it depends on the
// conversation.
func TestContentReducesDependence(t *testing.T) {
	last := 2.0
	for _, q := range []string{
		"what does it cost?",
		"what does it cost for families with children, dogs and bicycles?",
		"what does it cost for families with children, dogs, bicycles, trailers, caravans, canoes, surfboards, tents, kites, blankets and sledges?",
	} {
		_, dependence := queryexpand.FollowUp(q, talk)
		if dependence >= last {
			t.Errorf("%q: dependence %v is not below that of a shorter question", q, dependence)
		}
		last = dependence
	}
	if last != 0 {
		t.Errorf("the longest: dependence %v, want 0", last)
	}
}

// texts returns the texts of wordings.
func texts(more []queryexpand.Wording) (out []string) {
	for _, w := range more {
		out = append(out, w.Text)
	}
	return out
}

// TestTerms: content words are taken, most from the user's last message.
func TestTerms(t *testing.T) {
	messages := []ragctx.Message{
		user("I live in Bremen."),
		assistant("A fine town."),
		user("Which ferry goes to Heligoland in winter?"),
		{Role: ragctx.RoleTool, Content: ragctx.Text("timetable: MS_Helgoland daily 10:30")},
		assistant("It is the Helgoland. She sails from Cuxhaven."),
	}
	more, _ := queryexpand.FollowUp("how long does it take?", messages)
	want := []string{"ferry Heligoland winter", "live Bremen", "Helgoland sails Cuxhaven", "timetable MS_Helgoland daily 10:30"}
	if d := cmp.Diff(want, texts(more)); d != "" {
		t.Error(d)
	}
	if !slices.IsSortedFunc(more[:2], func(a, b queryexpand.Wording) int { return int(math.Copysign(1, b.Weight-a.Weight)) }) {
		t.Errorf("weights %v", more)
	}
	for _, w := range more[1:] {
		if w.Weight >= more[0].Weight || w.Weight <= 0 {
			t.Errorf("%q weighs %v, the user's last message %v", w.Text, w.Weight, more[0].Weight)
		}
	}
}

// TestPromptInMessages: a question that is also in the messages is not counted twice.
func TestPromptInMessages(t *testing.T) {
	const ask = "how long does it take?"
	want, _ := queryexpand.FollowUp(ask, talk)
	for _, prompt := range []string{ask, "  How long does it take", "how long does it take?\n\n"} {
		got, _ := queryexpand.FollowUp(ask, append(slices.Clip(talk), user(prompt)))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", prompt, d)
		}
	}
	got, _ := queryexpand.FollowUp(ask, append(slices.Clip(talk), user("<file>kayak.md</file>\n"+ask)))
	if len(got) == 0 || !strings.Contains(got[0].Text, "kayak") || strings.Contains(got[0].Text, "take") {
		t.Errorf("what came with the prompt: %v", got)
	}
	worked := append(slices.Clip(talk), user(ask), assistant("Let me look."), ragctx.TextMessage(ragctx.RoleTool, "no timetable"))
	if got, _ := queryexpand.FollowUp(ask, worked); len(got) == 0 || got[0].Text != want[0].Text {
		t.Errorf("a prompt that was worked on: %v, want %v first", got, want[0])
	}
	if got, dependence := queryexpand.FollowUp(ask, []ragctx.Message{user(ask)}); len(got) != 0 || dependence != 0 {
		t.Errorf("a prompt alone is a follow-up to itself: %v", got)
	}
}

// TestIgnoredBlocks: system messages, reasoning, traces, tool calls and images are not part of the
// conversation.
func TestIgnoredBlocks(t *testing.T) {
	trace := assistant("walrus")
	trace.Metadata = map[string]any{ragctx.MetaIsTrace: true}
	thought := assistant("")
	thought.Reasoning = "walrus"
	for _, m := range []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleSystem, "walrus"),
		ragctx.TextMessage(ragctx.RoleDeveloper, "walrus"),
		trace, thought,
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{
			{Type: ragctx.BlockToolUse, Name: "walrus", Input: []byte(`"walrus"`)},
			{Type: ragctx.BlockImage, Data: []byte("walrus")},
		}},
	} {
		more, _ := queryexpand.FollowUp("why?", append(slices.Clip(talk), m))
		if strings.Contains(fmt.Sprint(more), "walrus") {
			t.Errorf("%+v was heard: %v", m, more)
		}
	}
	result := ragctx.Message{Role: ragctx.RoleUser, Content: ragctx.Content{
		{Type: ragctx.BlockToolResult, Content: ragctx.Text("connection refused by walrus")},
	}}
	if more, _ := queryexpand.FollowUp("why?", append(slices.Clip(talk), result)); !strings.Contains(fmt.Sprint(more), "walrus") {
		t.Errorf("a tool result was not heard: %v", more)
	}
}

// TestCodeIsBounded: only the first lines of code count.
func TestCodeIsBounded(t *testing.T) {
	code := "```go\n" + strings.Repeat("filler := 1\n", 20) + "walrus()\n```\n"
	more, _ := queryexpand.FollowUp("why?", []ragctx.Message{user("Explain this:\n" + code + "It is the seal that fails.")})
	if got := fmt.Sprint(more); strings.Contains(got, "walrus") || !strings.Contains(got, "seal") || !strings.Contains(got, "filler") {
		t.Error(got)
	}
}

// hostile draws messages of any kind.
func hostile(t *rapid.T) []ragctx.Message {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune(" .?'\n`-_/日本ب\u0301aé"))),
		rapid.Custom(func(t *rapid.T) string {
			piece := rapid.SampledFrom([]string{"a", " x1", "é", "```\n", "\xff", "日", "it ", "\u0301"}).Draw(t, "piece")
			return strings.Repeat(piece, rapid.IntRange(0, 9000).Draw(t, "times"))
		}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ragctx.Message {
		role := rapid.SampledFrom([]ragctx.Role{
			ragctx.RoleUser, ragctx.RoleAssistant, ragctx.RoleTool, ragctx.RoleSystem, "", "x",
		}).Draw(t, "role")
		return ragctx.TextMessage(role, text.Draw(t, "text"))
	}), 0, 8).Draw(t, "messages")
}

// TestBounds: for any conversation, few words are taken, and they are valid text.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"why?", "and it?", "how do they work?"})).Draw(t, "question")
		bounded(t, q, hostile(t))
	})
}

type failer interface {
	Errorf(format string, args ...any)
}

func bounded(t failer, q string, messages []ragctx.Message) {
	more, dependence := queryexpand.FollowUp(q, messages)
	if dependence < 0 || dependence > 1 || (dependence == 0) != (len(more) == 0) || len(more) > 6 {
		t.Errorf("%q: dependence %v with %d wordings", q, dependence, len(more))
	}
	bytes := 0
	for _, w := range more {
		bytes += len(w.Text)
		if !(w.Weight > 0 && w.Weight < 1) {
			t.Errorf("%q: weight %v", w.Text, w.Weight)
		}
		if w.Text == "" || strings.ContainsAny(w.Text, "\n\t") {
			t.Errorf("wording %q", w.Text)
		}
	}
	if bytes > 10_000 {
		t.Errorf("%d bytes of wordings", bytes)
	}
}

func FuzzFollowUp(f *testing.F) {
	f.Add("and how do I turn it off?", "what is the cache?", "It keeps answers.", "")
	f.Add("pourquoi l'on y va ?", "où est-ce ?", "```\ncode", "\xff\xfe")
	f.Add("¿reservarlo?", "日本語のテキスト", "’s ’ '", "a'b'c")
	f.Fuzz(func(t *testing.T, q, first, second, result string) {
		m := []ragctx.Message{user(first), assistant(second), ragctx.TextMessage(ragctx.RoleTool, result), user(q)}
		bounded(t, q, m)
		again, _ := queryexpand.FollowUp(q, m)
		if more, _ := queryexpand.FollowUp(q, m); !cmp.Equal(more, again) {
			t.Error("the same conversation was read in two ways")
		}
		queryexpand.Feedback(q, []string{first, second}, queryexpand.FeedbackOptions{})
	})
}

// TestExpand: other wordings and the conversation are combined, and each can be switched off.
func TestExpand(t *testing.T) {
	q := ragctx.NewQuery("how long does it take?")
	q.Queries, q.Messages = []string{"duration of the crossing"}, talk
	both := queryexpand.Expand(q)
	if both.Dependence == 0 || len(both.Wordings) < 2 || both.Wordings[0].Text != q.Queries[0] {
		t.Errorf("%+v", both)
	}
	if got := queryexpand.Expand(q.WithParam(queryexpand.ParamFollowUp, false)); got.Dependence != 0 || len(got.Wordings) != 1 {
		t.Errorf("switched off: %+v", got)
	}
	want := "how long does it take? (ferry Heligoland winter; Helgoland sails Cuxhaven January Tickets sold aboard)"
	if got := queryexpand.Question(q); got != want {
		t.Errorf("for a reader: %q, want %q", got, want)
	}
	q.Queries, q.Messages = nil, nil
	if got := queryexpand.Question(q); got != q.Query {
		t.Errorf("for a reader: %q", got)
	}
	if got := queryexpand.Expand(q); len(got.Wordings) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	wants := func(value any) bool { return queryexpand.WantsFeedback(q.WithParam(queryexpand.ParamFeedback, value)) }
	if queryexpand.WantsFeedback(q) || !wants(true) || wants("yes") {
		t.Error("feedback is not off by default, or not on where it is asked for")
	}
}

func BenchmarkFollowUp(b *testing.B) {
	large := user(strings.Repeat("The ferry to Heligoland sails in winter, too. ", 1<<20/46))
	for name, messages := range map[string][]ragctx.Message{
		"short": talk,
		"large": {large, assistant(large.Content.String()), large, large},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				queryexpand.FollowUp("how long does it take?", messages)
			}
		})
	}
}
