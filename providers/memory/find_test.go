package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// TestRequestsToRemember: what the user asks to remember is stored with a model, too, whether or not the
// model finds something else in the turn. It is stored once.
func TestRequestsToRemember(t *testing.T) {
	for _, said := range []string{
		"Please remember that the spare key hangs in the shed.", "Merk dir: der Zählerstand liegt im blauen Ordner.",
		"Recuerda que la llave del trastero está en la cocina.", "N'oublie pas que le code postal du dépôt est 69003.",
		"Save this for later: the plumber comes at noon.", "Kannst du dir merken, dass Oma keine Nüsse isst?",
	} {
		turn := ragctx.Turn{
			ID: "1", UserID: "ada", Occurred: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC),
			Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, said)},
		}
		home := memory.LLMItem{Content: "The user lives in the town of Bergen.", From: memory.SpeakerUser}
		for name, items := range map[string][]memory.LLMItem{
			"nothing": nil, "something else": {home}, "the same": {home, {Content: "The user says: " + said, From: memory.SpeakerUser}},
		} {
			n := 0
			for _, f := range memory.FindingsByModel(turn, memory.Extraction{Items: items}) {
				if f.Verdict == memory.Store && !strings.Contains(f.Content, "Bergen") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%q, the model finds %s: stored %d times", said, name, n)
			}
		}
	}
}
