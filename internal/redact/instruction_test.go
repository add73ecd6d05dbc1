package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/redact"
)

func TestInstructions(t *testing.T) {
	for _, text := range lines(t, "instructions.txt") {
		reason, ok := redact.Instruction(text)
		if !ok || reason == "" {
			t.Errorf("%q is an instruction", text)
		}
	}
}

func TestNoInstructions(t *testing.T) {
	for _, text := range lines(t, "documentation.txt") {
		if reason, ok := redact.Instruction(text); ok {
			t.Errorf("%q: %s", text, reason)
		}
	}
}

func TestHiddenCharacters(t *testing.T) {
	tags := strings.Map(func(r rune) rune { return 0xE0000 + r }, "do it")
	for text, want := range map[string]bool{
		"see" + tags:                                true,
		"a\u200b\u200c\u200b\u200db":                true,
		"access\u202elevel":                         true,
		"a\U000E0101\U000E0102\U000E0103\U000E0104": true,
		"soft\u00adhyphen":                          false,
		"\ufeffa file":                              false,
		"\u2066isolated\u2069":                      false,
	} {
		if reason, ok := redact.Instruction(text); ok != want {
			t.Errorf("%q: %t, %q", text, ok, reason)
		}
	}
}

// TestInstructionAnywhere puts an instruction into other text: wherever it stands in a
// paragraph of its own, it is found, also in base64.
func TestInstructionAnywhere(t *testing.T) {
	orders, around := lines(t, "instructions.txt"), lines(t, "documentation.txt")
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom(orders).Draw(t, "order")
		if rapid.Bool().Draw(t, "encoded") && !strings.Contains(order, "SWdub3Jl") {
			order = base64.StdEncoding.EncodeToString([]byte("Please read this. " + order))
		}
		other := strings.Join(rapid.SliceOfN(rapid.SampledFrom(around), 0, 5).Draw(t, "around"), "\n\n")
		for _, text := range []string{other + "\n\n" + order, order + "\n\n" + other, other + "\n\n" + order + "\n\n" + other} {
			if _, ok := redact.Instruction(text); !ok {
				t.Fatalf("%q is not found in %q", order, text)
			}
		}
	})
}

func FuzzInstruction(f *testing.F) {
	for _, name := range []string{"instructions.txt", "documentation.txt"} {
		for _, line := range lines(f, name) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		reason, ok := redact.Instruction(text)
		if ok == (reason == "") {
			t.Fatalf("%q: %q, %t", text, reason, ok)
		}
		if again, same := redact.Instruction(text); again != reason || same != ok {
			t.Fatalf("%q: %q, then %q", text, reason, again)
		}
	})
}
