package queryexpand

import (
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// history holds the truncated texts before a question, newest first.
type history struct {
	user            []string
	assistant, tool string
}

// maxMessages is the number of messages that are read, from the newest.
const maxMessages = 64

// readHistory reads the messages before a question. The question may be, or be part of, the last
// user message: an agent may have worked on it already.
func readHistory(question string, messages []ragctx.Message) (h history) {
	for i := range min(maxMessages, len(messages)) {
		m := &messages[len(messages)-1-i]
		if m.IsTrace() {
			continue
		}
		switch m.Role {
		case ragctx.RoleUser, "":
			text := messageText(m.Content, question)
			if text != "" {
				h.user = append(h.user, text)
			}
			if text != "" || messageText(m.Content, "") != "" {
				question = "" // older messages may repeat it
			}
			h.result(m.Content)
		case ragctx.RoleAssistant:
			if h.assistant == "" {
				h.assistant = messageText(m.Content, "")
			}
		case ragctx.RoleTool:
			h.result(m.Content)
			if h.tool == "" {
				h.tool = messageText(m.Content, "")
			}
		default: // system messages are not part of the conversation
		}
		if len(h.user) == userMessages {
			break
		}
	}
	return h
}

// lastBlocks returns the last blocks of a content.
func lastBlocks(c ragctx.Content) ragctx.Content { return c[max(0, len(c)-maxBlocks):] }

// result saves the first tool result of a message, if there is no newer one.
func (h *history) result(c ragctx.Content) {
	for _, b := range lastBlocks(c) {
		if b.Type == ragctx.BlockToolResult && h.tool == "" {
			h.tool = messageText(b.Content, "")
		}
	}
}

// The parts of a message that are read: the last blocks, and of each block the first and the last
// bytes.
const (
	maxBlocks = 16
	headBytes = 2000
	tailBytes = 1000
)

// messageText returns the truncated text of a message, without the question.
func messageText(c ragctx.Content, question string) string {
	var out strings.Builder
	for _, b := range lastBlocks(c) {
		if b.Type != ragctx.BlockText || out.Len() > headBytes+tailBytes {
			continue
		}
		text := b.Text
		if question != "" {
			text = withoutQuestion(ends(text, 2*ragctx.MaxQueryBytes, 2*ragctx.MaxQueryBytes), question)
		}
		if text = limitCode(strings.ToValidUTF8(ends(text, headBytes, tailBytes), " ")); text != "" {
			out.WriteString(text)
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// ends returns the first head and the last tail bytes of a longer text.
func ends(text string, head, tail int) string {
	if len(text) <= head+tail {
		return text
	}
	return clip(text, head) + "\n" + clipStart(text, tail)
}

// withoutQuestion removes the question from the beginning or end of a prompt.
func withoutQuestion(prompt, question string) string {
	bare := func(r rune) bool { return !inWord(r) }
	prompt, question = strings.TrimFunc(prompt, bare), strings.TrimFunc(question, bare)
	switch {
	case strings.EqualFold(prompt, question):
		return ""
	case strings.HasSuffix(prompt, question) && !splitsWord(prompt, len(prompt)-len(question)):
		return prompt[:len(prompt)-len(question)]
	case strings.HasPrefix(prompt, question) && !splitsWord(prompt, len(question)):
		return prompt[len(question):]
	}
	return prompt
}

// splitsWord reports whether the offset at lies within a word of s.
func splitsWord(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return inWord(before) && inWord(after)
}

// codeLines is the number of code lines of a message that are read.
const codeLines = 8

// limitCode returns a text with at most codeLines lines of code.
func limitCode(text string) string {
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
