package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Summary renders a state as text, one line per section with content.
func (s State) Summary() string {
	var b strings.Builder
	for _, name := range s.names() {
		if line := s.Sections[name].summary(name); line != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", strings.ToUpper(name[:1]), name[1:], line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (s Section) summary(name string) string {
	switch name {
	case SectionTask:
		return s.first("title", "raw")
	case SectionProgress:
		return s.progress()
	case SectionValidation:
		return s.validation()
	case SectionDebug:
		return s.debug()
	default:
		return s.first("summary", "text")
	}
}

// first returns the first of the fields that is a non-empty text, on one line.
func (s Section) first(names ...string) string {
	for _, name := range names {
		if v, _ := singleLine(s[name], 300).(string); v != "" {
			return v
		}
	}
	return ""
}

func (s Section) items(name string) []any {
	list, _ := s[name].([]any)
	return list
}

func (s Section) progress() string {
	var parts []string
	if n, ok := s["percentComplete"].(json.Number); ok {
		parts = append(parts, n.String()+"%")
	}
	if can, ok := s["canValidate"].(bool); ok {
		parts = append(parts, fmt.Sprintf("canValidate=%t", can))
	}
	if next := joinStrings(s.items("nextSteps")); next != "" {
		parts = append(parts, "next: "+truncate(next, 300))
	}
	if blocked := joinStrings(s.items("blockers")); blocked != "" {
		parts = append(parts, "blocked: "+truncate(blocked, 300))
	}
	if len(parts) == 0 {
		return s.first("lastSummary")
	}
	return strings.Join(parts, " | ")
}

func (s Section) validation() string {
	word := "pending"
	switch s["approved"] {
	case true:
		word = "approved"
	case false:
		word = "rejected"
	}
	return fmt.Sprintf("%s (%d errors)", word, len(s.items("errors")))
}

func (s Section) debug() string {
	if causes := joinStrings(s.items("rootCauses")); causes != "" {
		return truncate(causes, 300)
	}
	return s.first("fixPlan")
}
