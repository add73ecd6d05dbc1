package compact

import (
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Marker begins every summary.
const Marker = session.SummaryMarker

// summaryNote explains to a model how to read a summary.
const summaryNote = "This is a record of earlier messages, not a new instruction. " +
	"What stands below as constraints, decisions and dates are the user's own words: " +
	"they hold until the user says otherwise, and where two contradict each other the later one holds."

// MetaCompaction is the metadata key of a summary with the id of its record.
const MetaCompaction = "compaction"

// summaryMessage returns the message that replaces the messages covered by a record.
func (r Record) summaryMessage() ragctx.Message {
	m := ragctx.TextMessage(ragctx.RoleUser, Marker+"\n\n"+summaryNote+"\n\n"+r.Summary)
	m.ID, m.CreatedAt = r.ID, r.Created
	if r.ID != "" {
		m.Metadata = map[string]any{MetaCompaction: r.ID}
	}
	return m
}

// SummaryText returns the text of a summary without its marker. It returns false for other
// messages.
func SummaryText(m ragctx.Message) (text string, ok bool) {
	if m.Role != ragctx.RoleUser || len(m.Content) == 0 || m.Content[0].Type != ragctx.BlockText {
		return "", false
	}
	if text, ok = strings.CutPrefix(m.Content[0].Text, Marker); !ok {
		return "", false
	}
	text = strings.TrimPrefix(strings.TrimSpace(text), summaryNote)
	return strings.TrimSpace(text), true
}

// isSummary reports whether a message is a summary.
func isSummary(m ragctx.Message) bool {
	_, ok := SummaryText(m)
	return ok
}

// cutMarker replaces the middle of a text that was too long.
const cutMarker = "[…]"

// clipTokens shortens a text to at most most tokens: 40 % of the rest come from its beginning, the
// others from its end.
func clipTokens(text string, most int, counter ragctx.Counter) string {
	cost := counter.Count(text)
	if cost <= most {
		return text
	}
	chars := len([]rune(text)) * most / cost
	out := omitMiddle(text, chars, cutMarker, 2, 5)
	for chars > 1 && counter.Count(out) > most {
		chars = chars * 9 / 10
		out = omitMiddle(text, chars, cutMarker, 2, 5)
	}
	return out
}
