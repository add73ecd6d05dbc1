package compact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Bounds on the text read of a call and its outcome.
const (
	maxInput     = 64 << 10 // in bytes; of a larger input only the tool's name is used
	callChars    = 160
	outcomeChars = 100
	maxCalls     = 64 // calls that wait for their outcome
	outputEnd    = 1 << 10
)

// Input fields with paths, and with the task of a tool.
var (
	pathKeys = []string{
		"path", "file_path", "file", "filename", "filepath", "target_file", "notebook_path", "old_path",
		"new_path", "paths", "files",
	}
	workKeys = []string{"command", "cmd", "query", "q", "pattern", "search", "sql", "url", "script", "expression", "prompt", "name"}
)

// changing lists parts of the names of tools that change files.
var changing = []string{"write", "edit", "create", "patch", "delete", "remove", "replace", "rename", "move"}

// call records a tool call.
func (e *extractor) call(b ragctx.Block) {
	input := make(map[string]json.RawMessage)
	if len(b.Input) <= maxInput {
		_ = json.Unmarshal(b.Input, &input) // other inputs have no fields
	}
	suffix := ""
	name := strings.ToLower(b.Name)
	if slices.ContainsFunc(changing, func(s string) bool { return strings.Contains(name, s) }) {
		suffix = " (changed)"
	}
	named := false
	for _, key := range pathKeys {
		for _, path := range stringsOf(input[key]) {
			e.lists[files].add(line{text: path + suffix})
			named = true
		}
	}
	what := ""
	for _, key := range workKeys {
		if s := stringsOf(input[key]); len(s) > 0 {
			what = s[0]
			break
		}
	}
	if what == "" && named {
		return
	}
	if what == "" {
		what = compactJSON(b.Input)
	}
	e.command(b.ID, sentence.Clip(strings.TrimSpace(b.Name+": "+oneLine(what)), callChars))
}

// command records a command that waits for its outcome.
func (e *extractor) command(id, text string) {
	e.lists[commands].add(line{text: text})
	if e.pending = append(e.pending, pendingCommand{id, text}); len(e.pending) > maxCalls {
		e.pending = slices.Delete(e.pending, 0, 1)
	}
}

// pendingCommand is a command without an outcome.
type pendingCommand struct{ id, text string }

// result records the result of a tool: the outcome of its command, and failures.
func (e *extractor) result(b ragctx.Block) {
	text := headAndTail(outputOf(b))
	failure := failureIn(text)
	if failure == "" && b.IsError {
		failure = firstLine(text)
	}
	ran := ""
	if i := slices.IndexFunc(e.pending, func(w pendingCommand) bool { return w.id == b.ToolUseID }); i >= 0 {
		ran = e.pending[i].text
		e.pending = slices.Delete(e.pending, i, i+1)
	}
	if failure != "" {
		if ran != "" {
			failure = ran + " → " + failure
		}
		e.lists[failures].add(line{text: failure})
	}
	if outcome := firstLine(text); outcome != "" && ran != "" {
		if l := e.lists[commands].find(ran); l != nil {
			l.text = ran + " → " + sentence.Clip(outcome, outcomeChars)
		}
	}
}

// outputOf returns the output of a tool without the marker of pruning.
func outputOf(b ragctx.Block) string {
	return strings.ReplaceAll(b.Content.String(), PrunedMarker, "")
}

// headAndTail returns the beginning and the end of an output.
func headAndTail(s string) string {
	if len(s) <= 2*outputEnd {
		return s
	}
	return strings.ToValidUTF8(s[:outputEnd], "") + "\n" + strings.ToValidUTF8(s[len(s)-outputEnd:], "")
}

// failureSigns are texts by which programs report failures, most specific first.
var failureSigns = []string{"rror:", "panic:", "atal:", "xception:", "Traceback", "FAIL", "denied", "exit status "}

// failureIn returns the line that reports a failure, or "".
func failureIn(text string) string {
	for _, sign := range failureSigns {
		i := strings.Index(text, sign)
		if i < 0 {
			continue
		}
		from := strings.LastIndexByte(text[:i], '\n') + 1
		to := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			to = i + n
		}
		return strings.TrimSpace(text[from:to])
	}
	return ""
}

func firstLine(text string) string {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// stringsOf returns a JSON string, or the strings of an array.
func stringsOf(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var one string
	if raw[0] == '"' && json.Unmarshal(raw, &one) == nil && strings.TrimSpace(one) != "" {
		return []string{oneLine(one)}
	}
	var many []string
	if raw[0] != '[' || json.Unmarshal(raw, &many) != nil {
		return nil
	}
	return slices.DeleteFunc(many[:min(len(many), 8)], func(s string) bool { return strings.TrimSpace(s) == "" })
}

// compactJSON returns JSON without white space, or "" if it is invalid or too long.
func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) > maxInput || json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}
