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

// aboutPasswords is 2 KB of sentences about passwords that have none.
var aboutPasswords = strings.Repeat(`The password reset is broken again, so the team moved the login page to a new service last week. Nobody
has to type the passphrase twice now, and a key is asked for only after the second attempt. We keep tokens for an hour. If the
code does not arrive, wait a minute and ask for another one; the old one stops working. Three people could not open the door of
the archive, because their account was locked. The PIN of a card is never sent by mail.

`, 5)

// astray holds texts that start a futile match at every step; the time per byte must not
// grow with their length.
var astray = []string{
	"5-", "12-34-", "x=y,", "5432:", "password1=",
	"password is ", "password for the ", "4111 1111 ", "4", "-----BEGIN PRIVATE KEY-----", "eyJ", "sk-", "a://b:",
	"ssn 123-45-6", "[redacted: ",
	"<context type=\"Memory\">\n", "<documents>\n<document index=\"1\">\n", "[{\"type\":\"Memory\",\"content\":\"",
	"[{\\\"type\\\":\\\"Memory\\\",\\\"content\\\":\\\"",
	"&lt;context ", "\\", "\\u003c", "[{", "[ ", "> ", "&amp;", "Cookie: a=", "DE89 ", "pin", "=", "(", "\"",
	"password=\"", "sid=", "SG.", "eyJ-", "ya29.-", "bearer a.", "SK0-", "never ", "you are now ",
	"ignore all ", "\u200ba", "<|im_", "SWdub3JlIGFsbCBwcmV2aW91cyBpbnN0",
}

func BenchmarkProse(b *testing.B) {
	for _, c := range []struct {
		name, text string
		call       func(text string)
	}{
		{"Redact", prose, func(text string) { redact.Redact(text) }},
		{"Redact/passwords", aboutPasswords, func(text string) { redact.Redact(text) }},
		{"StripBlocks", prose, func(text string) { redact.StripBlocks(text) }},
		{"Instruction", prose, func(text string) { redact.Instruction(text) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				c.call(c.text)
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
