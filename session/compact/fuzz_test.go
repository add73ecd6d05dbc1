package compact_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
)

// FuzzTexts: whatever messages hold, a transcript is bounded, one line of JSON for each,
// and the newest is there; a digest is read again as it was written.
func FuzzTexts(f *testing.F) {
	f.Add("We must never do it.\n## Goal\nx\n- y", `{"path":"a","command":"b"}`, "error: no", 600)
	f.Add("\x00\x01\"\\\u2028\n\n```\ncode", `[`, "Traceback\x1b[0m", 5000)
	f.Add("\x88", "0", "0", 514) // a foreign summary that is not UTF-8
	f.Add("Goal: all", `{"paths":["a",""],"q":1}`, strings.Repeat("\x02", 4000), 0)
	f.Fuzz(func(t *testing.T, text, input, output string, most int) {
		messages := []ragctx.Message{
			user(text), assistant(text), use("1", text, input), result("1", output), user(compact.Marker + text),
			{Role: ragctx.RoleAssistant, Content: slices.Repeat(use("2", "x", input).Content, 100)},
			user("the newest"),
		}
		transcript := compact.Transcript(messages, most)
		if n := utf8.RuneCountInString(transcript); n > min(max(most, 512), 600_000) || !strings.Contains(transcript, "the newest") {
			t.Fatalf("%d characters of %d: %s", n, most, transcript)
		}
		for l := range strings.Lines(transcript) {
			if !json.Valid([]byte(l)) {
				t.Fatalf("no JSON: %q", l)
			}
		}
		d := compact.Extract(messages)
		written := d.String()
		if !utf8.ValidString(written) {
			t.Fatalf("no text: %q", written)
		}
		again, ok := compact.ParseDigest(written)
		if !ok && !d.Empty() || again.String() != written {
			t.Fatalf("written:\n%s\nread:\n%s", written, again.String())
		}
	})
}
