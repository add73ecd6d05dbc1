package redact_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/redact"
)

// prose is ordinary text: sentences, a list, code, a table.
var prose = strings.Repeat(`## Rolling back

A rollout can be undone with one command. The release before becomes the current one, and
what was deployed since 12 March 2024 stays in the history (up to 10 revisions). Tokens of
the service account are renewed every 3600 seconds; nobody has to enter a password for that.

- *Check* the state first: kubectl rollout status deployment/web --timeout=90s
- Ask in #operations, or call +49 170 1234567.

    for i := range 10 { fmt.Println(i, "of", len(items), items[i].Name) } // see [1] <https://example.com/a?b=c>

| name | port | since |
|------|------|-------|
| web  | 8080 | 2021  |

"Was the key in the lock?" she said. "You always say that, and then it is in your pocket."

`, 40)

// astray holds texts that start a futile match at every step; the time per byte must not
// grow with their length.
var astray = []string{
	"password is ", "password for the ", "4111 1111 ", "4", "-----BEGIN PRIVATE KEY-----", "eyJ", "sk-", "a://b:",
	"ssn 123-45-6", "[redacted: ",
	"<context type=\"Memory\">\n", "<documents>\n<document index=\"1\">\n", "[{\"type\":\"Memory\",\"content\":\"",
	"[{\\\"type\\\":\\\"Memory\\\",\\\"content\\\":\\\"",
	"&lt;context ", "\\", "\\u003c", "[{", "[ ", "> ", "&amp;", "Cookie: a=", "DE89 ", "pin", "=", "(", "\"",
	"password=\"", "sid=", "SG.", "eyJ-", "ya29.-", "bearer a.", "SK0-", "never ", "you are now ",
	"ignore all ", "\u200ba", "<|im_", "SWdub3JlIGFsbCBwcmV2aW91cyBpbnN0",
}

func BenchmarkProse(b *testing.B) {
	for name, f := range map[string]func(){
		"Redact":      func() { redact.Redact(prose) },
		"StripBlocks": func() { redact.StripBlocks(prose) },
		"Instruction": func() { redact.Instruction(prose) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(prose)))
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkAstray(b *testing.B) {
	for _, unit := range astray {
		for _, size := range []int{20_000, 200_000} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(strings.ReplaceAll(unit, "\n", " ")+map[int]string{20_000: "/20k", 200_000: "/200k"}[size], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					redact.Redact(text)
					redact.StripBlocks(text)
					redact.Instruction(text)
				}
			})
		}
	}
}
