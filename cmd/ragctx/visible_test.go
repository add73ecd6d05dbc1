package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestVisible: what a terminal would act on is shown, the rest stays as it is, and JSON
// means what it meant.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 漢 👩‍👩 ❤️\tx\n": "plain é 漢 👩‍👩 ❤️\tx\n", "\x1b]0;pwned\x07": `\u001b]0;pwned\u0007`, "a\rb\r\n": "a\\u000db\n", "\u009b31m": `\u009b31m`, "\x9b31m": `\x9b31m`,
		"\x1b[1mTitle\x1b[0m": "\x1b[1mTitle\x1b[0m", "\x1b[2J": `\u001b[2J`, "a\u202eb": `a\u202eb`, "x\U000E0041": `x\udb40\udc41`, "del\x7f\b": `del\u007f\u0008`,
		"a\u200bb\u2028c": `a\u200bb\u2028c`,
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q is shown as %q, not %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var again string
		if err := json.Unmarshal([]byte(escaped(string(b))), &again); err != nil || again != text {
			t.Fatalf("%q: %q, %v", text, again, err)
		}
	})
}

// TestVisibleWriter: writes may end within a character.
func TestVisibleWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\x1b", "")
		r, f, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w := &visibleWriter{terminal: f}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if wrote, err := w.Write([]byte(rest[:n])); err != nil || wrote != n {
				t.Fatal(wrote, err)
			}
			rest = rest[n:]
		}
		if _, err := io.WriteString(f, escaped(string(w.rest))); err != nil {
			t.Fatal(err)
		}
		f.Close()
		got, err := io.ReadAll(r)
		if err != nil || string(got) != escaped(text) {
			t.Fatalf("%q, not %q, %v", got, escaped(text), err)
		}
	})
}
