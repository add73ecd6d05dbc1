package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/redact"
)

// isoTime formats Unix milliseconds as ISO 8601 in UTC.
func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// renderMessages renders messages under a heading, "" without messages.
func renderMessages(topic string, messages []Message) string {
	if len(messages) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Messages from topic: %s\n\n", oneLine(topic))
	for _, m := range messages {
		fmt.Fprintf(&b, "[%s] %s:\n", isoTime(m.Timestamp), oneLine(m.Sender))
		writeBody(&b, m.Text, m.Data)
		b.WriteByte('\n')
	}
	return b.String()
}

// writeBody writes the text and the data of a message if they are not empty. Data is indented
// unless deep nesting would make it mostly indentation.
func writeBody(b *strings.Builder, text string, data json.RawMessage) {
	if text != "" {
		fmt.Fprintln(b, visibleText(text))
	}
	data = visibleJSON(data)
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return
	}
	var indented bytes.Buffer
	if indentedSize(data) > maxIndent*len(data) {
		fmt.Fprintf(b, "Data: %s\n", data)
	} else if json.Indent(&indented, data, "", "  ") == nil {
		fmt.Fprintf(b, "Data: %s\n", indented.Bytes())
	}
}

// visibleText returns a message's text without invisible characters. It indents lines that could be
// mistaken for the framing between messages.
func visibleText(text string) string {
	text, _ = redact.Visible(text)
	lines := strings.Split(redact.Lines(text, ""), "\n")
	for i, line := range lines {
		if looksLikeFraming(line) {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// looksLikeFraming reports whether a line looks like a heading or like the framing of a message, its data or
// the trigger.
func looksLikeFraming(line string) bool {
	for _, start := range [...]string{"#", "[", "Data:", "Topic:", "Sender:"} {
		if len(line) >= len(start) && strings.EqualFold(line[:len(start)], start) {
			return true
		}
	}
	return false
}

// escapedEnds escapes the line separators that JSON strings may contain.
var escapedEnds = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// visibleJSON returns JSON without invisible characters and with escaped line separators.
func visibleJSON(data json.RawMessage) json.RawMessage {
	text, _ := redact.Visible(string(data))
	return json.RawMessage(escapedEnds.Replace(text))
}

// maxIndent bounds the growth of JSON by indentation: a deeply nested message could exhaust the
// memory otherwise.
const maxIndent = 16

// indentedSize returns an upper bound of the size of JSON indented by two.
func indentedSize(data []byte) int {
	size := len(data)
	for c, level := range structure(data) {
		switch c {
		case '{', '[', '}', ']', ',':
			size += 1 + 2*level
		case ':':
			size++
		}
	}
	return size
}

// oneLine puts a name on one line, so that it cannot start a line of its own.
func oneLine(s string) string {
	s, _ = redact.Visible(s)
	return strings.Join(strings.Fields(s), " ")
}

func renderRetrieved(k Kind, text string) string {
	name := string(k)
	return fmt.Sprintf("\n## %s%s\n\n%s\n", strings.ToUpper(name[:1]), name[1:], strings.TrimRight(text, "\n"))
}

// clipText returns the beginning of a text in at most limit bytes.
func clipText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// requiredPart returns a required candidate, or nothing without text.
func requiredPart(id, text string) []budget.Candidate {
	if text == "" {
		return nil
	}
	return []budget.Candidate{{ID: id, Section: id, Priority: budget.Required, Variants: []budget.Variant{budget.Fixed("full", text)}}}
}

// triggerPart returns the candidate that shows the trigger, the end of every context.
func (a *assembly) triggerPart() []budget.Candidate {
	t := a.Trigger
	if t.IsZero() {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Triggering Message\n\nTopic: %s\nSender: %s\n", oneLine(t.Topic), oneLine(t.Sender))
	if t.Text != "" || len(t.Data) > 0 {
		b.WriteByte('\n')
	}
	writeBody(&b, t.Text, t.Data)
	out := requiredPart("triggeringMessage", b.String())
	out[0].Preserve = true
	return out
}

// parts returns the candidates that precede the sources.
func (a *assembly) parts() []budget.Candidate {
	p := a.Parts
	schema := ""
	if len(p.JSONSchema) > 0 {
		var b strings.Builder
		writeBody(&b, "", p.JSONSchema)
		schema = "## Output Schema\n\n" + strings.TrimPrefix(b.String(), "Data: ")
	}
	guidance := ""
	if len(p.QueuedGuidance) > 0 {
		guidance = "## Queued Guidance\n\n" + strings.Join(p.QueuedGuidance, "\n\n")
	}
	return slices.Concat(
		requiredPart("header", paragraph(p.Header)),
		requiredPart("instructions", paragraph(p.Instructions)),
		requiredPart("repoTooling", paragraph(p.RepoTooling)),
		requiredPart("commandProofs", paragraph(p.CommandProofs)),
		requiredPart("queuedGuidance", paragraph(guidance)),
		requiredPart("legacyOutputSchema", paragraph(p.LegacyOutputSchema)),
		requiredPart("requiredQualityGates", paragraph(p.RequiredQualityGates)),
		requiredPart("jsonSchema", paragraph(schema)),
	)
}

// paragraph puts a text between line ends: the parts of a context are joined without separators.
func paragraph(s string) string {
	if s = strings.Trim(s, "\n"); s == "" {
		return ""
	}
	return "\n" + s + "\n"
}

// maxPartBytes bounds each of the [Parts].
const maxPartBytes = 1 << 20

func (p Parts) check() error {
	for _, f := range []struct{ name, text string }{
		{"header", p.Header},
		{"instructions", p.Instructions},
		{"repo_tooling", p.RepoTooling},
		{"command_proofs", p.CommandProofs},
		{"queued_guidance", strings.Join(p.QueuedGuidance, "")},
		{"legacy_output_schema", p.LegacyOutputSchema},
		{"required_quality_gates", p.RequiredQualityGates},
		{"json_schema", string(p.JSONSchema)},
	} {
		if len(f.text) > maxPartBytes {
			return ragctx.TooLarge("parts."+f.name, "is %d bytes long; the limit is %d", len(f.text), maxPartBytes)
		}
	}
	return nil
}
