package memory

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// Outcome is the result of an agent's task: the prompt, the tools used, and either the result or
// the error.
type Outcome struct {
	Prompt string
	Tools  []string
	Result string
	Error  string
}

// MaxOutcomeBytes bounds the prompt, the error and the tool names, each, of an outcome; they are
// copied to its metadata.
const MaxOutcomeBytes = 16 << 10

// Importance of outcomes: a failure is more valuable than a success.
const (
	successImportance = 0.8
	failureImportance = 0.9
)

// Memory returns the memory of an outcome: for a success the procedure ([ragctx.MemoryProcedural]), for a
// failure the error ([ragctx.MemoryEpisodic]). The caller sets the owner.
func (o Outcome) Memory() (ragctx.Memory, error) {
	for _, f := range [...]struct{ name, value string }{{"prompt", o.Prompt}, {"error", o.Error}, {"tools", o.tools()}} {
		if len(f.value) > MaxOutcomeBytes {
			return ragctx.Memory{}, ragctx.TooLarge(f.name, "is %d bytes long; the limit is %d: send the gist of it",
				len(f.value), MaxOutcomeBytes)
		}
	}
	switch {
	case strings.TrimSpace(o.Prompt) == "":
		return ragctx.Memory{}, ragctx.Invalid("prompt", "is empty; say what was to be done")
	case o.Result != "" && o.Error != "":
		return ragctx.Memory{}, ragctx.Invalid("error", "must not be combined with result; send the result of a "+
			"success or the error of a failure")
	case o.Error != "":
		return o.failure(), nil
	case o.Result != "":
		return o.success(), nil
	}
	return ragctx.Memory{}, ragctx.Invalid("result", "is empty, and so is error; send the result of a success or the error of a failure")
}

func (o Outcome) success() ragctx.Memory {
	return ragctx.Memory{
		Type: ragctx.MemoryProcedural, Importance: successImportance, Tags: []string{"success", "pattern"},
		Content:  lines("Success", o.Prompt, "Tools", o.tools(), "Result", o.Result),
		Metadata: map[string]any{"prompt": o.Prompt, "tools": o.list()},
	}
}

func (o Outcome) failure() ragctx.Memory {
	return ragctx.Memory{
		Type: ragctx.MemoryEpisodic, Importance: failureImportance, Tags: []string{"failure", "avoid"},
		Content:  lines("Failure", o.Prompt, "Error", o.Error, "Attempted tools", o.tools()),
		Metadata: map[string]any{"prompt": o.Prompt, "error": o.Error},
	}
}

func (o Outcome) tools() string { return strings.Join(o.Tools, ", ") }

// list returns the tools as a JSON array.
func (o Outcome) list() []any {
	tools := make([]any, len(o.Tools))
	for i, t := range o.Tools {
		tools[i] = t
	}
	return tools
}

// lines returns pairs of names and values, one per line.
func lines(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(pairs[i]+": "+pairs[i+1], " "))
	}
	return b.String()
}
