package queryexpand_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/queryexpand"
)

// TestAsking: in each language the sentences that ask are found among those that tell.
func TestAsking(t *testing.T) {
	for _, c := range []struct {
		message string
		want    []string
	}{
		{"How do I rotate the signing keys?", nil},
		{"We had a long week. How do I rotate the signing keys? Thanks!", []string{"How do I rotate the signing keys?"}},
		{
			"Morning, coffee number two. Please write a short note on the refund policy for riders. No emojis.",
			[]string{"Please write a short note on the refund policy for riders."},
		},
		{
			"I moved the service to Go last month and my boss is happy. Which port does the gateway use? And who owns the billing queue?",
			[]string{"Which port does the gateway use?", "And who owns the billing queue?"},
		},
		{"12:01 worker connected\n12:02 retry 1/3\nI need the limit of uploads per hour", []string{"I need the limit of uploads per hour"}},
		{"The build failed again. Any ideas?", nil},
		{"What are webhooks? Give me a short answer with three bullet points.", nil},
		{"It fails. Can you help?", nil},
		{"See the log.\nWHERE id = ? AND x\na?.b.c\ncould not find module\nGET https://a.example/y?id=3", nil},
		{
			"We are stuck.\nWhich port does the gateway\nuse for its health checks in\nthe staging cluster?",
			[]string{"Which port does the gateway use for its health checks in the staging cluster?"},
		},
		{"How do I rotate keys?\n```\nwrite tcp 10.0.0.1: broken pipe?\n```", []string{"How do I rotate keys?"}},
		{"Who owns the queue? Who owns the queue? Thanks.", []string{"Who owns the queue?"}},
		{
			"How do I rotate keys? List red things. List blue things. List green things. List grey things. List white things. List black things.",
			[]string{
				"How do I rotate keys?", "List blue things.", "List green things.", "List grey things.", "List white things.", "List black things.",
			},
		},
		{"Wir ziehen gerade um. Wie lange dauert die Zustellung nach Bergen? Danke.", []string{"Wie lange dauert die Zustellung nach Bergen?"}},
		{"Es ist spät geworden. Bitte erkläre den Ablauf der Rückgabe.", []string{"Bitte erkläre den Ablauf der Rückgabe."}},
		{"On a eu une panne hier. Quelle équipe gère les sauvegardes ? Merci.", []string{"Quelle équipe gère les sauvegardes ?"}},
		{"Bonjour à tous, je prépare une note. J'ai besoin du plafond des remboursements.", []string{"J'ai besoin du plafond des remboursements."}},
		{"Ayer falló la entrega. ¿Quién aprueba los reembolsos grandes? Gracias.", []string{"¿Quién aprueba los reembolsos grandes?"}},
		{"Estoy escribiendo un informe. Necesito el límite de subidas por hora.", []string{"Necesito el límite de subidas por hora."}},
	} {
		if got := queryexpand.Asking(c.message); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.message, got, c.want)
		}
	}
}

// FuzzAsking: what asks is part of the message, and never more than six sentences.
func FuzzAsking(f *testing.F) {
	f.Add("We had a long week. How do I rotate the signing keys? Thanks!")
	f.Add(strings.Repeat("who owns the queue?\n", 50))
	f.Fuzz(func(t *testing.T, message string) {
		got := queryexpand.Asking(message)
		if len(got) > 6 {
			t.Errorf("%d sentences", len(got))
		}
		for _, s := range got {
			if strings.TrimSpace(s) == "" || len(s) > len(message) {
				t.Errorf("%q is no part of %q", s, message)
			}
		}
	})
}
