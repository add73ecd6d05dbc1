package session

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// MergeRoles joins consecutive messages of the same speaker with the same metadata. The joined
// message keeps the id and time of the first. Tool results are never joined.
func MergeRoles(messages []ragctx.Message) []ragctx.Message {
	var out []ragctx.Message
	for _, m := range messages {
		if n := len(out); n > 0 && mergeable(out[n-1], m) {
			last := &out[n-1]
			last.Content = slices.Concat(last.Content, m.Content)
			last.Reasoning = joined(last.Reasoning, m.Reasoning)
			continue
		}
		out = append(out, m)
	}
	return out
}

func mergeable(a, b ragctx.Message) bool {
	metadata := len(a.Metadata) == 0 && len(b.Metadata) == 0 || reflect.DeepEqual(a.Metadata, b.Metadata)
	same := a.Role == b.Role && a.Name == b.Name && metadata
	return same && a.Role != ragctx.RoleTool && len(a.ToolResults()) == 0 && len(b.ToolResults()) == 0
}

// joined joins two texts with a line break, or returns the one that is not empty.
func joined(a, b string) string {
	return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" }), "\n")
}

// Text returns the texts of messages, one per line. It returns an error for a message with other or
// several parts, which would be lost.
func Text(messages []ragctx.Message) (string, error) {
	var out []string
	for i, m := range messages {
		switch {
		case len(m.Content) == 0:
		case len(m.Content) == 1 && m.Content[0].Type == ragctx.BlockText:
			out = append(out, m.Content[0].Text)
		default:
			return "", ragctx.Invalid(fmt.Sprintf("messages[%d].content", i),
				"has %d parts and is not plain text; read its parts one by one", len(m.Content))
		}
	}
	return strings.Join(out, "\n"), nil
}
