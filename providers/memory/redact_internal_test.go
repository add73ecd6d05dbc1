package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// TestRedactAcrossMessages redacts answers to questions, and repetitions of a secret.
func TestRedactAcrossMessages(t *testing.T) {
	turn := ragctx.Turn{Messages: []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "I can't get into the wiki"),
		ragctx.TextMessage(ragctx.RoleAssistant, "What is the password for it?"),
		ragctx.TextMessage(ragctx.RoleUser, "marmalade tiger"),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{
			{Type: ragctx.BlockToolUse, Input: []byte(`{"command":"login ada marmalade tiger","times":[1]}`)},
		}},
		ragctx.TextMessage(ragctx.RoleAssistant, "The wiki answers to marmalade tiger and not to marmalade tigers."),
	}}
	got, counts := RedactTurn(turn, "")
	text := fmt.Sprint(got.Messages[2].Content, string(got.Messages[3].Content[0].Input), got.Messages[4].Content)
	if strings.Contains(text, "marmalade tiger\"") || strings.Contains(text, "marmalade tiger and") || counts["password"] != 3 {
		t.Errorf("%s, %v", text, counts)
	}
	if !strings.Contains(text, "marmalade tigers") {
		t.Errorf("%s: a longer word is redacted", text)
	}
	for answer, before := range map[string]string{
		"four seven one one": "And the PIN of the card?",
		"It's hollowgrape":   "Sure. What's the wifi password?",
		"2580":               "Please tell me the door code.",
	} {
		got, counts := RedactTurn(ragctx.Turn{Prompt: answer}, before)
		if len(counts) != 1 || strings.Contains(got.Prompt, "one") || strings.Contains(got.Prompt, "grape") || strings.Contains(got.Prompt, "80") {
			t.Errorf("%q after %q: %q, %v", answer, before, got.Prompt, counts)
		}
	}
	for answer, before := range map[string]string{
		"no idea, ask Tom":       "What's the wifi password?",
		"yes, please":            "Shall I reset the password?",
		"the blue one":           "Which colour should the password field have?",
		"marmalade is my cat":    "Do you have a pet?",
		"I forgot it, sorry":     "What was the password?",
		"it is on the fridge":    "Where is the password?",
		"I don't remember":       "What's your PIN?",
		"twelve characters, ok?": "How long should the password be?",
		"Bitwarden":              "Which password manager do you use?",
		"Vaultwarden-9":          "And which server holds your passwords?",
		"the ticket is OPS-771":  "The wifi password is [redacted: password].",
		"8192":                   "How many tokens?",
		"my flight is LH1234":    "The gate code is [redacted: access code].",
		"The repo is github.com/acme/heron-web2 and the branch release-7x": "We rotate the token daily",
		"das Ticket ist OPS-4412": "Wir tauschen das Token jeden Tag",
	} {
		if got, counts := RedactTurn(ragctx.Turn{Prompt: answer}, before); len(counts) > 0 {
			t.Errorf("%q after %q: %q, %v", answer, before, got.Prompt, counts)
		}
	}
}
