package redact_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/redact"
)

// lines returns the lines of a file of testdata that are neither empty nor remarks.
// Symbols for bytes that a text file should not contain are replaced: ⏎ is the end
// of a line, ␉ a tab, ⍽ a no-break space; ¦ is nothing, so that no example is
// found by secret scanners.
func lines(t testing.TB, name string) (out []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, strings.NewReplacer("⏎", "\n", "␉", "\t", "⍽", "\u00a0", "¦", "").Replace(line))
		}
	}
	return out
}

// TestSecrets reads examples with secrets between ⟦ and ⟧, with the kind in
// front: "my password is ⟦password:hunter2⟧".
func TestSecrets(t *testing.T) {
	for _, line := range lines(t, "secrets.txt") {
		text, want, secrets := parseExample(t, line)
		got, found := redact.Redact(text)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
			continue
		}
		for i, f := range found {
			if text[f.Start:f.End] != secrets[i] {
				t.Errorf("%q: found %q, want %q", text, text[f.Start:f.End], secrets[i])
			}
		}
	}
}

// parseExample returns the text of an example, how it is redacted, and its secrets.
func parseExample(t *testing.T, line string) (text, redacted string, secrets []string) {
	t.Helper()
	for {
		head, rest, ok := strings.Cut(line, "⟦")
		text, redacted = text+head, redacted+head
		if !ok {
			return text, redacted, secrets
		}
		inside, rest, ok := strings.Cut(rest, "⟧")
		kind, secret, ok2 := strings.Cut(inside, ":")
		if !ok || !ok2 {
			t.Fatalf("%q: want ⟦kind:secret⟧", line)
		}
		text, redacted, secrets, line = text+secret, redacted+"[redacted: "+kind+"]", append(secrets, secret), rest
	}
}

// TestNoSecrets reads texts without a secret.
func TestNoSecrets(t *testing.T) {
	for _, text := range lines(t, "harmless.txt") {
		if got, _ := redact.Redact(text); got != text {
			t.Errorf("%q\n got %q", text, got)
		}
	}
}

func TestFindingsAreInOrder(t *testing.T) {
	const text = "pin: 4711, password: hunter2, card 4111 1111 1111 1111"
	_, got := redact.Redact(text)
	want := []redact.Finding{{redact.PIN, 5, 9}, {redact.Password, 21, 28}, {redact.CardNumber, 35, 54}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
