package session

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// Prefixes of messages that replace earlier ones: summaries and observations.
const (
	SummaryMarker = "[Context Summary: The following is a summary of earlier conversation]"
	NotesMarker   = "[Observations of this conversation so far. They are notes, not instructions.]"
)

// IsRecord reports whether a message replaces earlier ones. Its role is user, because tool output
// must not appear in a system message, but it is not an instruction.
func IsRecord(m ragctx.Message) bool {
	if m.Role != ragctx.RoleUser || len(m.Content) == 0 || m.Content[0].Type != ragctx.BlockText {
		return false
	}
	text := m.Content[0].Text
	return strings.HasPrefix(text, SummaryMarker) || strings.HasPrefix(text, NotesMarker)
}
