package compact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
)

// spaces counts words.
type spaces struct{}

func (spaces) Name() string       { return "words" }
func (spaces) Count(s string) int { return len(strings.Fields(s)) }

func TestWeigh(t *testing.T) {
	for w, list := range map[weight][]string{
		ruled: {
			"You must never touch payments/legacy.", "Please don't use emojis.", "No emojis.", "Could you always run the linter?",
			"Use tabs.", "Only Dana may deploy.", "Fass das Modul nicht an.", "Ne modifie rien dans ce dossier.",
			"N'utilise pas de tabulations.", "No toques el esquema.", "Halte dich kurz.", "I'm allergic to nuts.",
		},
		decided: {"Let's go with Postgres.", "We decided on Kafka.", "Wir nehmen Kafka.", "On part sur Kafka.", "Vamos con Kafka."},
		dated: {
			"The deadline is 14 March.", "We ship on 2026-05-01.", "Die Abgabe ist am 3. Mai.", "La livraison est prévue le 3 mai.",
			"La entrega es el 3 de mayo.", "The demo moved to next Tuesday.",
		},
		remark: {
			"What must I do?", "Should I deploy?", "No problem.", "Run the tests.", "It failed yesterday.", "Thanks, that worked.",
			"Danke, das war gut.", "Fix the login bug.",
		},
	} {
		for _, s := range list {
			if got := weigh(s); got != w {
				t.Errorf("%q weighs %d, not %d", s, got, w)
			}
		}
	}
}

// Of two contradicting rules the newer one is in force; a merely similar one stays.
func TestOverrules(t *testing.T) {
	for _, c := range []struct {
		before, after string
		gone          bool
	}{
		{"You must never touch payments/legacy.", "You may touch payments/legacy now.", true},
		{"The deadline is Friday.", "The deadline moved to Monday.", true},
		{"The deadline for the audit is 12 June.", "The deadline for the audit is 19 June.", true},
		{"Reply in German.", "Reply in English.", true},
		{"Let's use Redis for the queue.", "Let's use Postgres instead of Redis for the queue.", true},
		{"Keep functions under 40 lines.", "Functions under 60 lines are fine now.", true},
		{"Die Abgabe ist am 3. Mai.", "Die Abgabe ist auf den 10. Mai verschoben.", true},
		{"Il faut toujours vouvoyer le client.", "Il ne faut plus vouvoyer le client.", true},
		{"Usa siempre la tabla nueva.", "Ya no uses la tabla nueva.", true},

		{"Never touch payments/legacy.", "From now on never touch payments/core.", false},
		{"The deadline for the audit is 12 June.", "The deadline for the migration is 20 June.", false},
		{"Rule 3: never edit file_3.txt.", "Rule 4: never edit file_4.txt.", false},
		{"Milestone 1 is due on 3 May.", "Milestone 2 is due on 7 June.", false},
		{"Keep functions under 40 lines.", "Keep files under 400 lines.", false},
		{"Requests time out after 30 seconds.", "Use httpx instead of requests.", false},
		{"Always run the linter.", "Never force push.", false},
	} {
		list := []statement{{text: c.before, weight: ruled, message: 1}, {text: c.after, weight: ruled, message: 2}}
		if out, _ := inForce(list); (len(out) == 1) != c.gone || out[len(out)-1].text != c.after {
			t.Errorf("%q and then %q: %v", c.before, c.after, out)
		}
	}
}

// Statements of the user survive any number of round trips through the text of a summary.
func TestRulesSurviveTheirText(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"must", "never", "14.", "June", "Juni", "1.", "2)", "-", "*", "**Note**:", "##", "Constraints", "Dates:", "Left out", "none", "N/A",
		"use", "payments/legacy", "\"quoted\"", "é", "\n", "\n- ", "Rules:", "> ", "`x`", "?", "…", "3 more",
	})
	rapid.Check(t, func(t *rapid.T) {
		var said []statement
		for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
			said = append(said, statementsOf(strings.Join(rapid.SliceOfN(words, 1, 10).Draw(t, "words"), " "), i)...)
		}
		said, _ = inForce(said)
		var d Digest
		d.setStatements(said, rapid.IntRange(0, 3).Draw(t, "left"))
		read, _ := ParseDigest(d.String())
		if diff := cmp.Diff(d, read); diff != "" {
			t.Fatalf("(-said +read):\n%s\nof\n%s", diff, d.String())
		}
	})
}

// With less room rules come before decisions before dates, the newest first, and how many are
// left out is said; no text is longer than its room.
func TestRoomForRules(t *testing.T) {
	d := Digest{
		Goal: "the release", Constraints: []string{"Never touch the first one.", "Never touch the second one."},
		Decisions: []string{"We decided on the third one."}, Dates: []string{"The fourth one is due on 3 May."}, Commands: []string{strings.Repeat("make all of it ", 12)},
	}
	seen := make(map[string]bool)
	for most := 400; most > 70; most-- {
		text := d.fit(most, spaces{})
		if n := (spaces{}).Count(text); n > most {
			t.Fatalf("%d words of %d", n, most)
		}
		read, _ := ParseDigest(text)
		if n := len(read.Rules()) + read.LeftOut; n != 4 {
			t.Fatalf("of %d words: %d of 4 are told:\n%s", most, n, text)
		}
		var have []string
		for _, r := range read.Rules() {
			have = append(have, r.Text)
		}
		seen[strings.Join(have, "|")] = true
	}
	for have := range seen {
		order := []string{"second", "first", "third", "fourth"}
		for i, one := range order[1:] {
			if strings.Contains(have, one) && !strings.Contains(have, order[i]) {
				t.Errorf("in the wrong order: %s", have)
			}
		}
	}
	if len(seen) < 2 {
		t.Error("nothing was ever left out")
	}
}

// A summary is made of the outputs before pruning, and the goal is the newest request.
func TestWhatASummaryIsMadeOf(t *testing.T) {
	output := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("error: " + PrunedMarker), IsError: true}
	use := ragctx.Block{Type: ragctx.BlockToolUse, ID: "1", Name: "bash", Input: []byte(`{"command":"make"}`)}
	messages := []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "Find out why the build of the shop fails."),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{use}},
		{Role: ragctx.RoleTool, Content: ragctx.Content{output}},
		ragctx.TextMessage(ragctx.RoleUser, "Now write the release notes for version two."),
		ragctx.TextMessage(ragctx.RoleUser, "Never mention the shop."), ragctx.TextMessage(ragctx.RoleUser, "go on"),
	}
	d := Extract(messages)
	if text := d.String(); strings.Contains(text, "pruned") {
		t.Errorf("the summary tells of pruning:\n%s", text)
	}
	if text := Transcript(messages, 10_000); strings.Contains(text, "pruned") {
		t.Errorf("the model is told of pruning:\n%s", text)
	}
	if d.Goal != "Now write the release notes for version two." {
		t.Errorf("the goal is %q", d.Goal)
	}
}
