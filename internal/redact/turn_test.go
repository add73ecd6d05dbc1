package redact

import (
	"fmt"
	"strings"
	"testing"
)

// manySecrets returns n secrets that begin alike.
func manySecrets(n int) map[string]string {
	values := make(map[string]string)
	for i := range n {
		values[fmt.Sprintf("aB3d9x%d", i)] = Password
		values[fmt.Sprintf("the owl %d flies", i)] = Passphrase
	}
	return values
}

// repeatedTexts are texts of 1 MB in which secrets almost repeat at each step.
var repeatedTexts = map[string]string{
	"one word":  strings.Repeat("aB3d9x", 1<<20/6),
	"words":     strings.Repeat("aB3d9x7 ", 1<<20/8),
	"near miss": strings.Repeat("the owl ", 1<<20/8),
	"prose":     strings.Repeat("They said that nothing is left of it. ", 1<<20/38),
}

// TestRepeatsWork checks that the work grows with the text alone, not with text times secrets or with its square.
func TestRepeatsWork(t *testing.T) {
	for name, text := range repeatedTexts {
		r := NewRepeats(manySecrets(2000))
		_, found := r.Redact(text)
		if most := 2 * len(text); r.steps > most {
			t.Errorf("%s: %d bytes are compared; at most %d may be", name, r.steps, most)
		}
		if want := map[string]int{"words": 1 << 20 / 8}[name]; len(found) != want {
			t.Errorf("%s: %d findings, want %d", name, len(found), want)
		}
	}
}

// TestRepeats checks where a secret ends.
func TestRepeats(t *testing.T) {
	r := NewRepeats(map[string]string{"hibou": Password, "hibou vert": Passphrase, "vert gris": Password, "$x9!": Password, "abc": PIN})
	for text, want := range map[string]string{
		"hibou, éhibou, hiboué, xhibou hibous": "[redacted: password], éhibou, hiboué, xhibou hibous",
		"hibou vert, hibou verts":              "[redacted: passphrase], [redacted: password] verts",
		"hibou vert gris":                      "[redacted: passphrase]",
		"\xffhibou\xff, ($x9!) a$x9!, $x9!$x9!": "\xff[redacted: password]\xff, ([redacted: password]) a$x9!, " +
			"[redacted: password][redacted: password]",
		"abc is too short": "abc is too short",
	} {
		if got, _ := r.Redact(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func BenchmarkRepeats(b *testing.B) {
	r := NewRepeats(manySecrets(2000))
	for name, text := range repeatedTexts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Redact(text)
			}
		})
	}
}
