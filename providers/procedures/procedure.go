// Package procedures stores successful ways of doing a task for reuse. A procedure is extracted
// from a turn with many tool calls, or written by hand. It is a draft until a person publishes it.
// Agents then see its name and trigger, about 50 tokens whatever its length, and fetch the body on
// demand. It is guidance, not a script.
//
// Published versions are immutable. A newer version replaces an older one; a rollback supersedes
// the newer ones. The version that agents see is the canonical one.
package procedures

import (
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/redact"
)

// Limits of a procedure.
const (
	MaxNameRunes    = 64
	MaxTriggerRunes = 200
	MaxEntries      = 50   // of each list
	MaxEntryRunes   = 1000 // of a step, a pitfall or a check
	MaxToolBytes    = 128  // of a tool's name
)

// ProcedurePreview is a procedure as an agent sees it.
type ProcedurePreview struct {
	ID string `json:"id,omitempty"`
	// Line is included in every matching context. Body is returned on demand.
	Line string `json:"line"`
	Body string `json:"body"`
}

// MaxLineBytes bounds a procedure's line in a context to about 50 tokens.
const MaxLineBytes = 220

// Line returns the line of a procedure in a context.
func Line(name, trigger string) string {
	return clip(name+": "+strings.Join(strings.Fields(trigger), " "), MaxLineBytes)
}

// clip shortens s to at most n bytes, at a nearby word boundary if there is one.
func clip(s string, n int) string {
	const sign = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(sign)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	if i := strings.LastIndexByte(s[:cut], ' '); i > cut*3/4 {
		cut = i
	}
	return s[:cut] + sign
}

// TrimBody returns b with trimmed entries and without empty ones. Lists are never nil.
func TrimBody(b ragctx.ProcedureBody) ragctx.ProcedureBody {
	b.Trigger = strings.Join(strings.Fields(b.Trigger), " ")
	for _, list := range []*[]string{&b.Steps, &b.Tools, &b.Pitfalls, &b.Verification} {
		out := make([]string, 0, len(*list))
		for _, s := range *list {
			if s = trimLines(s); s != "" {
				out = append(out, s)
			}
		}
		*list = out
	}
	return b
}

// trimLines removes space around a text and at the ends of its lines.
func trimLines(s string) string {
	lines := strings.Split(redact.Lines(s, ""), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r\f\v\u00a0")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// ValidateBody checks a trimmed body against the documented limits.
func ValidateBody(b ragctx.ProcedureBody) error {
	if b.Trigger == "" {
		return ragctx.Invalid("trigger", "is empty; say when to use the procedure")
	}
	if err := entry("trigger", b.Trigger, MaxTriggerRunes); err != nil {
		return err
	}
	if len(b.Steps) == 0 {
		return ragctx.Invalid("steps", "are missing; say what to do, step by step")
	}
	for _, f := range [...]struct {
		field string
		list  []string
	}{{"steps", b.Steps}, {"pitfalls", b.Pitfalls}, {"verification", b.Verification}} {
		if err := entries(f.field, f.list); err != nil {
			return err
		}
	}
	if len(b.Tools) > MaxEntries {
		return ragctx.Invalid("tools", "has %d entries; the limit is %d", len(b.Tools), MaxEntries)
	}
	for _, t := range b.Tools {
		if err := ragctx.ValidText("tools", t); err != nil {
			return err
		}
		if len(t) > MaxToolBytes || strings.ContainsAny(t, "\n`") {
			return ragctx.Invalid("tools", "name %q; use the name alone, at most %d bytes on one line", ragctx.Clip(t), MaxToolBytes)
		}
	}
	return nil
}
