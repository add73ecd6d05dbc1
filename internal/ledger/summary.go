package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Summary writes a state as text: a line for each section that says something.
func (s State) Summary() string {
	var b strings.Builder
	for _, name := range s.names() {
		if says := s.Sections[name].summary(name); says != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", strings.ToUpper(name[:1]), name[1:], says)
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

// first returns the first of these fields that is a text, on one line.
func (s Section) first(names ...string) string {
	for _, name := range names {
		if v, _ := oneText(s[name], 300).(string); v != "" {
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
	if next := joined(s.items("nextSteps")); next != "" {
		parts = append(parts, "next: "+cut(next, 300))
	}
	if blocked := joined(s.items("blockers")); blocked != "" {
		parts = append(parts, "blocked: "+cut(blocked, 300))
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
	if causes := joined(s.items("rootCauses")); causes != "" {
		return cut(causes, 300)
	}
	return s.first("fixPlan")
}
