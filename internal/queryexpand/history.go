package queryexpand

import (
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// history is what was said before a question, newest first, without what is too
// much of it.
type history struct {
	user            []string
	assistant, tool string
}

// mostMessages is how many messages are looked at, from the newest.
const mostMessages = 64

// recall reads the messages before a question, which may be, or be part of, the
// last of the user's: an agent may have worked on it already.
func recall(question string, messages []ragctx.Message) (h history) {
	for i := range min(mostMessages, len(messages)) {
		m := &messages[len(messages)-1-i]
		if m.IsTrace() {
			continue
		}
		switch m.Role {
		case ragctx.RoleUser, "":
			text := spoken(m.Content, question)
			if text != "" {
				h.user = append(h.user, text)
			}
			if text != "" || spoken(m.Content, "") != "" {
				question = "" // what is older may repeat it
			}
			h.result(m.Content)
		case ragctx.RoleAssistant:
			if h.assistant == "" {
				h.assistant = spoken(m.Content, "")
			}
		case ragctx.RoleTool:
			h.result(m.Content)
			if h.tool == "" {
				h.tool = spoken(m.Content, "")
			}
		default: // what a system message says is nobody's topic
		}
		if len(h.user) == userMessages {
			break
		}
	}
	return h
}

// last returns the last blocks of a content.
func last(c ragctx.Content) ragctx.Content { return c[max(0, len(c)-mostBlocks):] }

// result takes over the first tool result of a message, if it is the newest.
func (h *history) result(c ragctx.Content) {
	for _, b := range last(c) {
		if b.Type == ragctx.BlockToolResult && h.tool == "" {
			h.tool = spoken(b.Content, "")
		}
	}
}

// How much of a message is looked at: of the last blocks, the first and the last
// bytes of each.
const (
	mostBlocks = 16
	headBytes  = 2000
	tailBytes  = 1000
)

// spoken returns the text of a message without the question, if it holds that,
// and without what is too much of it.
func spoken(c ragctx.Content, question string) string {
	var out strings.Builder
	for _, b := range last(c) {
		if b.Type != ragctx.BlockText || out.Len() > headBytes+tailBytes {
			continue
		}
		text := b.Text
		if question != "" {
			text = without(ends(text, 2*ragctx.MaxQueryBytes, 2*ragctx.MaxQueryBytes), question)
		}
		if text = uncoded(strings.ToValidUTF8(ends(text, headBytes, tailBytes), " ")); text != "" {
			out.WriteString(text)
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// ends returns the first and the last bytes of a text that is longer than both.
func ends(text string, head, tail int) string {
	if len(text) <= head+tail {
		return text
	}
	return clip(text, head) + "\n" + clipStart(text, tail)
}

// without returns a prompt without the question that it begins or ends with.
func without(prompt, question string) string {
	bare := func(r rune) bool { return !inWord(r) }
	prompt, question = strings.TrimFunc(prompt, bare), strings.TrimFunc(question, bare)
	switch {
	case strings.EqualFold(prompt, question):
		return ""
	case strings.HasSuffix(prompt, question) && !joined(prompt, len(prompt)-len(question)):
		return prompt[:len(prompt)-len(question)]
	case strings.HasPrefix(prompt, question) && !joined(prompt, len(question)):
		return prompt[len(question):]
	}
	return prompt
}

// joined reports whether a word goes on over a place in s.
func joined(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return inWord(before) && inWord(after)
}

// codeLines is how many lines of code in a message are looked at.
const codeLines = 8

// uncoded returns a text with no more than a few lines of its code.
func uncoded(text string) string {
	if !strings.Contains(text, "```") {
		return text
	}
	var out strings.Builder
	code, n := false, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			if n++; n > codeLines {
				continue
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
