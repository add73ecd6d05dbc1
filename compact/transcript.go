package compact

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/screen"
)

// Bounds of a transcript, in characters.
const (
	leastInput, mostInput = 512, 600_000
	charsPerToken         = 3
)

// entry is a message as a model is shown it.
type entry struct {
	Role    string       `json:"role"`
	Text    string       `json:"text,omitempty"`
	Calls   []entryCall  `json:"calls,omitempty"`
	Results []entryValue `json:"results,omitempty"`
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

// Transcript returns messages as lines of JSON, one for each, with the calls of tools and
// what they put out, and without secrets and context that an engine put there. No text
// can end its line. It has at most most characters, brought to 512 to 600,000: of longer
// ones the middle is left out, so that a third is from the beginning.
func Transcript(messages []ragctx.Message, most int) string {
	most = min(max(most, leastInput), mostInput)
	t := transcriber{each: max(most/8, 128)}
	var head, tail []string
	room := most - elisionRoom
	first, last := 0, len(messages)
	for ; first < last; first++ {
		l := t.line(messages[first])
		n := utf8.RuneCountInString(l) + 1
		if n > room/3 && first > 0 || n > room {
			break
		}
		if most-elisionRoom-room+n > (most-elisionRoom)/3 {
			break
		}
		head, room = append(head, l), room-n
	}
	for ; last > first; last-- {
		l := t.line(messages[last-1])
		n := utf8.RuneCountInString(l) + 1
		if n > room {
			break
		}
		tail, room = append(tail, l), room-n
	}
	var b bytes.Buffer
	for _, l := range head {
		b.WriteString(l + "\n")
	}
	if first < last {
		b.WriteString(elision(last-first) + "\n")
	}
	for _, l := range slices.Backward(tail) {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// elisionRoom is kept for the line that says how many messages are left out.
const elisionRoom = 64

func elision(n int) string {
	return encode(struct {
		N int `json:"messages_left_out"`
	}{n})
}

// transcriber writes lines of a transcript, each text of at most each characters.
type transcriber struct{ each int }

func (t transcriber) line(m ragctx.Message) string {
	e := entry{Role: string(m.Role)}
	if text, ok := SummaryText(m); ok {
		return t.bounded(entry{Role: "earlier summary", Text: t.clean(text)})
	}
	for _, b := range m.Content {
		switch b.Type {
		case ragctx.BlockToolUse:
			e.Calls = append(e.Calls, entryCall{Tool: t.clean(b.Name), Input: t.clean(string(b.Input))})
		case ragctx.BlockToolResult:
			e.Results = append(e.Results, entryValue{Output: t.clean(b.Content.String()), Failed: b.IsError})
		case ragctx.BlockImage:
			e.Images++
		default:
			e.Text = joined(e.Text, t.clean(b.Text))
		}
	}
	return t.bounded(e)
}

// bounded returns the line of an entry. One with so many parts that it is too long has
// only the first of them.
func (t transcriber) bounded(e entry) string {
	s := encode(e)
	for utf8.RuneCountInString(s) > 3*t.each && len(e.Calls)+len(e.Results) > 1 {
		e.Calls, e.Results = e.Calls[:(len(e.Calls)+1)/2], e.Results[:(len(e.Results)+1)/2]
		s = encode(e)
		if len(e.Calls) <= 1 && len(e.Results) <= 1 {
			break
		}
	}
	if utf8.RuneCountInString(s) > 3*t.each {
		e.Text = shorten(e.Text, t.each/2, cutMarker, 1, 3)
		s = encode(e)
	}
	return s
}

// clean returns a text that may be shown: bounded before it is screened, so that a file in
// a message costs no time.
func (t transcriber) clean(s string) string {
	if len(s) > t.each {
		s = shorten(s, t.each, cutMarker, 1, 3)
	}
	s, _ = screen.StripBlocks(s)
	s, _ = screen.Redact(s)
	return s
}

// encode returns v as JSON on one line.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "{}" // strings and numbers cannot fail
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
