package compact

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// Bounds of a transcript, in characters.
const (
	leastInput, mostInput = 512, 600_000
	charsPerToken         = 3
)

// entry is a message in a transcript.
type entry struct {
	Role    string       `json:"role"`
	Text    string       `json:"text,omitempty"`
	Calls   []entryCall  `json:"calls,omitempty"`
	Results []entryValue `json:"results,omitempty"`
	LeftOut int          `json:"left_out,omitempty"` // omitted calls and results
	Images  int          `json:"images,omitempty"`
}

type entryCall struct {
	Tool  string `json:"tool"`
	Input string `json:"input,omitempty"`
}

type entryValue struct {
	Output string `json:"output"`
	Failed bool   `json:"failed,omitempty"`
}

// omissionChars is reserved for the line with the number of omitted messages.
const omissionChars = 64

// Transcript returns messages as JSON lines, one per message, with tool calls and outputs, and
// without secrets and injected context. No text can break out of its line. most, clamped to 512 to
// 600,000, limits its characters. Longer transcripts omit messages in the middle: a third comes
// from the beginning, and the newest message is always included.
func Transcript(messages []ragctx.Message, most int) string {
	room := min(max(most, leastInput), mostInput) - omissionChars
	head, n := lines(slices.All(messages), room/3, room/2)
	tail, m := lines(slices.Backward(messages[n:]), room-size(head), room/2)
	slices.Reverse(tail)
	if out := len(messages) - n - m; out > 0 {
		head = append(head, encode(struct {
			N int `json:"messages_left_out"`
		}{out}))
	}
	var b strings.Builder
	for _, l := range append(head, tail...) {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// lines returns the lines of messages that fit room characters, each of at most most, and their
// number.
func lines(messages iter.Seq2[int, ragctx.Message], room, most int) (out []string, n int) {
	for _, m := range messages {
		l := transcriptLine(m, most)
		if room -= utf8.RuneCountInString(l) + 1; room < 0 {
			break
		}
		out = append(out, l)
	}
	return out, len(out)
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += utf8.RuneCountInString(l) + 1
	}
	return n
}

// transcriptLine returns the line of a message in less than most characters.
func transcriptLine(m ragctx.Message, most int) string {
	for each, parts := most/4, 64; ; each, parts = each/2, parts/2 {
		s := encode(entryOf(m, each, parts))
		if utf8.RuneCountInString(s) < most || parts == 1 {
			return s
		}
	}
}

// entryOf returns the entry of a message with texts of at most each characters, and at most parts
// calls and results.
func entryOf(m ragctx.Message, each, parts int) entry {
	if text, ok := SummaryText(m); ok {
		return entry{Role: "earlier summary", Text: screenText(text, each)}
	}
	e := entry{Role: string(m.Role)}
	for _, b := range m.Content {
		switch b.Type {
		case ragctx.BlockToolUse:
			if parts--; parts < 0 {
				e.LeftOut++
				continue
			}
			e.Calls = append(e.Calls, entryCall{Tool: screenText(b.Name, min(each, callChars)), Input: screenText(string(b.Input), each)})
		case ragctx.BlockToolResult:
			if parts--; parts < 0 {
				e.LeftOut++
				continue
			}
			e.Results = append(e.Results, entryValue{Output: screenText(outputOf(b), each), Failed: b.IsError})
		case ragctx.BlockImage:
			e.Images++
		default:
			e.Text = joined(e.Text, b.Text)
		}
	}
	e.Text = screenText(e.Text, each)
	return e
}

// screenText returns a text as shown to a model: without secrets and injected context. It bounds
// the text first, so that a large file costs no time.
func screenText(s string, chars int) string {
	if len(s) > chars {
		s = omitMiddle(s, chars, cutMarker, 1, 3)
	}
	s, _ = redact.Visible(redact.Lines(s, ""))
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, s)
	s, _ = redact.StripBlocks(s)
	s, _ = redact.Redact(s)
	return s
}

// encode returns v as one line of JSON.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "{}" // cannot fail for strings and numbers
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
