package facts_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

// at is a Saturday.
var at = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)

func extract(messages ...ragctx.Message) []facts.Fact {
	return facts.Explain(ragctx.Turn{Messages: messages}, at).Facts
}

func user(s string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleUser, s) }

// TestNothing lists sentences without memorable facts.
func TestNothing(t *testing.T) {
	for _, s := range []string{
		"", " \n\t", "?", "ok", "thanks a lot!", "What's the capital of France?", "Can you write me a poem about Berlin?",
		"I'm tired.", "i'm stuck on this bug", "My code doesn't work.", "I got an error when I ran it yesterday.",
		"If I lived in Berlin, I would cycle to work.", "Imagine I am a nurse from Leeds. I live in York.",
		"Let's say my name is Bob and I work at Google.", "Pretend you are a pirate. I live on a ship.",
		"> I live in Paris\n\nwhat do you think of this quote?", "```\nname: I live in Oslo\n```",
		"Please summarise this article:\n\nMy name is Jane Miller. I live in Leeds and I work as a nurse.",
		"Translate into German: I live in London and I love tea.",
		"<context source=\"memory\">\n- The user lives in Rome. I live in Rome.\n</context>\nwhat time is it?",
		"From: Bob <bob@example.com>\nSubject: Move\n\nI live in Vienna now. We decided to sell the house.",
		"my password is hunter2, always use it", "my api key is sk-abc123", "Do I like coffee?", "I'd like a coffee",
		"Oh sure, I love Mondays, said no one ever.", "just kidding, i hate my sister", "People say they love the sea.",
		"2026-11-20 10:00:01 INFO I live in a log file", "Keep it short this time, I prefer short answers for this email",
		"In my novel the hero says: I live in Prague.", "Could you remind me what my favourite colour is?",
		"Schreib mir bitte eine Mail an meinen Chef", "¿Puedes ayudarme con esto?", "Peux-tu m'aider ?", "Wie geht's?",
	} {
		if got := extract(user(s)); len(got) > 0 {
			t.Errorf("%q: %s: %s", s, got[0].Rule, got[0].Content)
		}
	}
}

// TestTrust checks which speakers count.
func TestTrust(t *testing.T) {
	const s = "I live in Berlin."
	named := func(role ragctx.Role, name string) ragctx.Message {
		m := ragctx.TextMessage(role, s)
		m.Name = name
		return m
	}
	for name, c := range map[string]struct {
		m    ragctx.Message
		want string
	}{
		"user":          {user(s), "user"},
		"named user":    {named(ragctx.RoleUser, "Caroline"), "Caroline"},
		"named partner": {named(ragctx.RoleAssistant, "Melanie"), "Melanie"},
		"assistant":     {named(ragctx.RoleAssistant, ""), ""},
		"named machine": {named(ragctx.RoleAssistant, "Research Assistant"), ""},
		"named model":   {named(ragctx.RoleAssistant, "gpt-4o"), ""},
		"system":        {named(ragctx.RoleSystem, "Caroline"), ""},
		"developer":     {named(ragctx.RoleDeveloper, ""), ""},
		"tool":          {named(ragctx.RoleTool, "Caroline"), ""},
		"internal step": {ragctx.Message{
			Role: ragctx.RoleUser, Content: ragctx.Text(s),
			Metadata: map[string]any{ragctx.MetaIsTrace: true},
		}, ""},
		"result of a tool": {ragctx.Message{
			Role:    ragctx.RoleUser,
			Content: ragctx.Content{{Type: ragctx.BlockToolResult, Content: ragctx.Text(s)}},
		}, ""},
	} {
		got := extract(c.m)
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Subject != c.want || got[0].Attribute != "home" || got[0].Value != "Berlin" {
			t.Errorf("%s: %+v, want the home of %q", name, got, c.want)
		}
	}
}

// TestContent checks that contents are self-contained, and their subjects.
func TestContent(t *testing.T) {
	for s, want := range map[string]facts.Fact{
		"hi! my name is tom i live in berlin and i work as a nurse": {
			Content: "The user's name is tom.",
			Subject: "user", Attribute: "name", Value: "tom",
		},
		"I have moved to Lisbon last month.": {Content: "The user has moved to Lisbon last " +
			"month.", Subject: "user", Attribute: "home", Value: "Lisbon"},
		"I don't live in Berlin any more.": {
			Content: "The user doesn't live in Berlin.",
			Subject: "user", Attribute: "home", Value: "not Berlin",
		},
		"My favourite editor is now Helix": {Content: "The user's favourite editor is now " +
			"Helix.", Subject: "user", Attribute: "favourite editor", Value: "Helix"},
		"I hate cilantro.": {
			Content: "The user hates cilantro.",
			Subject: "user", Attribute: "opinion of cilantro", Value: "dislike",
		},
		"Our staging cluster is called heron.": {Content: "The user's staging cluster is " +
			"called heron.", Subject: "staging cluster", Attribute: "name", Value: "heron"},
		"From now on, answer in French": {Content: "The user says: “From now on, " +
			"answer in French”", Subject: "user", Attribute: "instruction", Value: "answer in French"},
		"I no longer have Streamello since May.": {Content: "The user no longer has Streamello since May.", Subject: "user"},
		"mein zahnarzttermin ist am 12. um 10 uhr": {
			Content: "Der Nutzer sagt: „mein zahnarzttermin ist am 12. um 10 uhr“", Subject: "user",
			Attribute: "event", Value: "mein zahnarzttermin ist am 12. um 10 uhr",
		},
		"ich heiße Jürgen": {
			Content: "Der Nutzer heißt Jürgen.",
			Subject: "user", Attribute: "name", Value: "Jürgen",
		},
	} {
		got := extract(user(s))
		if len(got) == 0 {
			t.Errorf("%q: nothing", s)
			continue
		}
		g := facts.Fact{Content: got[0].Content, Subject: got[0].Subject, Attribute: got[0].Attribute, Value: got[0].Value}
		if !reflect.DeepEqual(g, want) {
			t.Errorf("%q:\n got %+v\nwant %+v", s, g, want)
		}
	}
}

// TestOccurred resolves times against the time of the turn and keeps the words.
func TestOccurred(t *testing.T) {
	for s, want := range map[string][2]string{
		"Last Friday I broke my arm.":               {"Last Friday", "2026-11-20"},
		"We're flying to Oslo next Tuesday.":        {"next Tuesday", "2026-11-24"},
		"I'm starting a new job in three weeks.":    {"in three weeks", "2026-12-12"},
		"The deadline for the grant is 12 December": {"12 December", "2026-12-12"},
		"We got married on 3 May.":                  {"on 3 May", "2026-05-03"},
		"I have a dentist appointment tomorrow":     {"tomorrow", "2026-11-22"},
		"morgen fliege ich nach Oslo":               {"morgen", "2026-11-22"},
		"Hier je me suis cassé le bras.":            {"Hier", "2026-11-20"},
	} {
		got := extract(user(s))
		if len(got) != 1 || got[0].When != want[0] || got[0].Occurred.Format(time.DateOnly) != want[1] {
			t.Errorf("%q: %+v, want %q on %s", s, got, want[0], want[1])
		}
	}
}

// TestSeveral finds all facts of one message.
func TestSeveral(t *testing.T) {
	s := "ok so long story: the tests are red again, i've been at it for hours. anyway my sister Anna lives in Lyon, she's a doctor, " +
		"and i'm allergic to peanuts so no satay please. can you fix the test?\nAlso we switched from Jenkins to GitHub Actions."
	var contents []string
	for _, f := range extract(user(s)) {
		contents = append(contents, f.Content)
	}
	want := []string{
		"The user has a sister called Anna.", "The user's sister Anna lives in Lyon.",
		"The user's sister Anna is a doctor.", "The user is allergic to peanuts.",
		"The user says: “we switched from Jenkins to GitHub Actions”",
	}
	if !reflect.DeepEqual(contents, want) {
		t.Errorf("got  %q\nwant %q", contents, want)
	}
}

func call(id, name, input string) ragctx.Block {
	return ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: name, Input: json.RawMessage(input)}
}

func answer(id, text string, failed bool) ragctx.Message {
	return ragctx.Message{
		Role:    ragctx.RoleTool,
		Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: id, Content: ragctx.Text(text), IsError: failed}},
	}
}

func TestOutcomes(t *testing.T) {
	found := facts.Explain(ragctx.Turn{Messages: []ragctx.Message{
		user("build it"),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{call("1", "shell", `{"command":"go build ./..."}`)}},
		answer("1", "error: cgo: C compiler not found", true),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{call("2", "shell", `{"command":"CGO_ENABLED=0 go build ./..."}`)}},
		answer("2", "ok", false),
		ragctx.TextMessage(ragctx.RoleAssistant, "I always build without cgo."),
	}}, at)
	got := found.Below // seen, and not sure enough: people hardly ever want it kept
	if len(got) != 1 || got[0].Kind != ragctx.FactOutcome || got[0].Span.Message != 4 {
		t.Fatalf("%+v", got)
	}
	want := "The tool shell failed for go build ./... (error: cgo: C compiler not found) and succeeded with CGO_ENABLED=0 go build ./..."
	if !strings.HasPrefix(got[0].Content, want) {
		t.Errorf("content %q", got[0].Content)
	}
}

// TestExplain checks the rejected facts and their reasons.
func TestExplain(t *testing.T) {
	got := facts.Explain(ragctx.Turn{Prompt: "If I moved to Rome I'd be happy. Maybe I prefer tea?"}, at)
	if len(got.Facts) > 0 || len(got.Below) == 0 {
		t.Fatalf("%+v", got)
	}
	for _, f := range got.Below {
		if f.Confidence >= facts.Gate || !strings.Contains(f.Reason, ";") {
			t.Errorf("%+v", f)
		}
	}
}

// check verifies the invariants of facts.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, turn ragctx.Turn,
) {
	t.Helper()
	found := facts.Explain(turn, at)
	if again := facts.Explain(turn, at); !reflect.DeepEqual(found, again) {
		t.Fatalf("%+v and then %+v", found, again)
	}
	messages := turn.Transcript()
	for i, f := range append(append([]facts.Fact{}, found.Facts...), found.Below...) {
		if (f.Confidence >= facts.Gate) != (i < len(found.Facts)) || f.Confidence > 1 || f.Confidence < 0 ||
			f.Importance <= 0 || f.Importance > 1 {
			t.Fatalf("confidence %v, importance %v: %+v", f.Confidence, f.Importance, f)
		}
		if _, err := facts.ParseKind(string(f.Kind)); err != nil || f.Rule == "" || f.Reason == "" || f.Content == "" {
			t.Fatalf("%+v", f)
		}
		if f.Kind == ragctx.FactOutcome && f.Span.Start == f.Span.End {
			continue
		}
		text := []rune(messages[f.Span.Message].Content.String())
		if f.Span.Start < 0 || f.Span.End <= f.Span.Start || f.Span.End > len(text) {
			t.Fatalf("span %+v of %d characters: %+v", f.Span, len(text), f)
		}
		words := string(text[f.Span.Start:f.Span.End])
		for w := range strings.FieldsSeq(analysis.StatementKey(f.Value)) {
			if !strings.Contains(analysis.StatementKey(words), w) && !ours[w] {
				t.Fatalf("value %q is not of the words %q", f.Value, words)
			}
		}
		if f.When != "" && f.Occurred.IsZero() {
			t.Fatalf("%q is no time: %+v", f.When, f)
		}
		if utf8.ValidString(string(text)) && !utf8.ValidString(f.Content) {
			t.Fatalf("%q is not UTF-8", f.Content)
		}
	}
}

// ours are the words of values that the rules add.
var ours = map[string]bool{"not": true, "no": true, "longer": true, "like": true, "dislike": true, "prefer": true}

func TestProperties(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"I", "my", "name", "is", "live", "in", "Berlin", "always", "never", "remember that", "we", "decided to",
		"switched", "from", "to", ",", ".", "?", "\n",
		"if", "and", "sister", "Anna", "she", "tomorrow", "last Friday", "on 3 May", "ich", "wohne", "j'ai",
		"vivo en", "é", "’", "“", "```", "> ", "<context>", "\xff", "日本",
		"the server", "port 8080", "love", "hate", "the", "plan to", "favourite", "color", "é́", "i'm",
		"allergic to", "nuts", "from now on", "please",
	})
	rapid.Check(t, func(t *rapid.T) {
		check(t, ragctx.Turn{Prompt: strings.Join(rapid.SliceOfN(words, 0, 30).Draw(t, "words"), " ")})
	})
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		"My name is Tom, I live in Berlin and I’m allergic to “nuts”.",
		"last Friday we moved to Lisbon\n> quoted\n```\ncode", "ich heiße Jürgen ß", "\xff\xfe I like \xf0",
		"<context source=\"x\">I like tea", strings.Repeat("i like ", 300), strings.Repeat("my sister Anna, ", 50),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 2_000 {
			check(t, ragctx.Turn{Prompt: s})
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	turn := ragctx.Turn{Prompt: strings.Repeat("My sister Anna lives in Lyon, and last Friday we moved to Lisbon "+
		"because I like the sea. Can you fix the test? ", 20)}
	b.SetBytes(int64(len(turn.Prompt)))
	for b.Loop() {
		facts.Explain(turn, at)
	}
}

// TestForeignTickets checks that a pasted ticket states nothing of the user, and that verbs in -ly are inflected.
func TestForeignTickets(t *testing.T) {
	found := func(s string) (out []string) {
		turn := ragctx.Turn{Messages: []ragctx.Message{{Role: ragctx.RoleUser, Content: ragctx.Text(s)}}}
		for _, f := range facts.Explain(turn, at).Facts {
			out = append(out, f.Content)
		}
		return out
	}
	if got := found("Triage this pls:\n\nTicket #12\nReporter: j.kovac\nI use Windows 8. My office is in Split."); len(got) > 0 {
		t.Errorf("a ticket states %q", got)
	}
	if got := found("I fly to Oslo on 3 March."); len(got) != 1 || got[0] != "The user flies to Oslo on 3 March." {
		t.Errorf("got %q", got)
	}
}

// TestChatterOfPeople checks that what people say to each other is not taken for wishes for the assistant, and that praise
// and greetings by name state nothing.
func TestChatterOfPeople(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, s := range []string{
		"You got this, Jon!", "Thanks, Mel!", "Totally agree, Tim. Keep going!", "Tim, great to see you!", "Bye, Caroline! Have fun and stay safe!",
		"Always believe in yourself, Ana.", "Never give up on your dreams!",
	} {
		m := ragctx.TextMessage(ragctx.RoleUser, s)
		m.Name = "Gina"
		for _, f := range facts.Explain(ragctx.Turn{Messages: []ragctx.Message{m}}, at).Facts {
			t.Errorf("%q states %s %q (%.2f)", s, f.Kind, f.Content, f.Confidence)
		}
	}
	named := ragctx.TextMessage(ragctx.RoleUser, "From now on, answer in French.")
	named.Name = "Gina"
	answer := ragctx.TextMessage(ragctx.RoleAssistant, "D'accord.")
	if got := facts.Explain(ragctx.Turn{Messages: []ragctx.Message{named, answer}}, at).Facts; len(got) != 1 || got[0].Kind != ragctx.FactInstruction {
		t.Errorf("a wish of a named user states %+v", got)
	}
	for _, wish := range []string{"Please always answer in German.", "Never use emojis in your answers.", "Keep your replies short from now on."} {
		m := ragctx.TextMessage(ragctx.RoleUser, wish)
		m.Name = "Gina"
		if got := facts.Explain(ragctx.Turn{Messages: []ragctx.Message{m}}, at).Facts; len(got) != 1 || got[0].Kind != ragctx.FactInstruction {
			t.Errorf("%q without an answer states %+v", wish, got)
		}
	}
}

// TestFactsLikeWishes checks that facts with the words of wishes are no instructions, and that a word for costs makes no fact of a wish.
func TestFactsLikeWishes(t *testing.T) {
	for s, want := range map[string]bool{
		"Vale, responde siempre en español": true, "Nenne immer die Kosten zuerst": true, "Recipes for two please": true,
		"Rezepte für zwei Personen bitte": true, "prices in euros please": true,
		"Rezepte für zwei Personen gibt es bei Chefkoch": false, "Preise in Franken waren früher niedriger": false,
		"prices in dollars were lower last year": false, "Mails from my bank arrive at 9": false,
		"Temperatures in Celsius: 12, 14, 19": false, "The deposit is 2,300 euros": false, "Mein neuer Chef siezt alle": false,
	} {
		got := slices.ContainsFunc(extract(user(s)), func(f facts.Fact) bool {
			return f.Kind == ragctx.FactInstruction && f.Confidence >= facts.Gate
		})
		if got != want {
			t.Errorf("%q is an instruction: %v, want %v", s, got, want)
		}
	}
}
