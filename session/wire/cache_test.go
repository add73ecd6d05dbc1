package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

const markContent = `,"cache_control":{"type":"ephemeral"}`

func TestCached(t *testing.T) {
	turn := func(marked bool, n string) string {
		at := ""
		if marked {
			at = markContent
		}
		return `{"role":"user","content":[{"type":"text","text":"question ` + n + `"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c` + n + `","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c` + n + `","content":"ok"}]},{"role":"assistant","content":[{"type":"text","text":"answer ` + n + `"` + at + `}]}`
	}
	now := `{"role":"user","content":[{"type":"text","text":"context"},{"type":"text","text":"now?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"f","input":{}}]}`
	result := func(at string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"ok"` + at + `}]}`
	}
	before := raw(`[` + turn(false, "1") + `,` + turn(false, "2") + `,` + now + `,` + result("") + `]`)
	got := wire.WithCacheMarks(wire.Conversation{System: []byte(`"Be brief."`), Messages: before}, true, nil)
	if want := raw(`[` + turn(true, "1") + `,` + turn(true, "2") + `,` + now + `,` + result(markContent) + `]`); !equal(got.Messages, want) {
		t.Errorf("messages %s", text(got.Messages))
	}
	if want := `[{"text":"Be brief.","type":"text"` + markContent + `}]`; !equal(got.System, json.RawMessage(want)) {
		t.Errorf("system %s", got.System)
	}
	if err := pairing.CheckAnthropic(got.Messages); err != nil {
		t.Error(err)
	}
	if strings.Contains(text(before), "cache_control") {
		t.Error("the list that was given is changed")
	}
	if again := wire.WithCacheMarks(got, true, nil); text(again) != text(got) {
		t.Errorf("marked again: %s", text(again))
	}
}

func TestCachedParts(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"a text":                         {`"hi"`, `[{"text":"hi","type":"text"` + markContent + `}]`},
		"what is thought cannot be":      {`[{"type":"text","text":"x"},{"type":"thinking","thinking":"y","signature":"s"}]`, `[{"type":"text","text":"x"` + markContent + `},{"type":"thinking","thinking":"y","signature":"s"}]`},
		"thoughts alone":                 {`[{"type":"redacted_thinking","data":"y"}]`, `[{"type":"redacted_thinking","data":"y"}]`},
		"what only looks like a mark":    {`"say \"cache_control\": none"`, `[{"text":"say \"cache_control\": none","type":"text"` + markContent + `}]`},
		"a mark of the caller is enough": {`[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y"}]`, `[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y"}]`},
	} {
		got := wire.WithCacheMarks(wire.Conversation{Messages: raw(`[{"role":"user","content":` + c.content + `}]`)}, true, nil)
		if want := raw(`[{"role":"user","content":` + c.want + `}]`); !equal(got.Messages, want) {
			t.Errorf("%s: %s", name, text(got.Messages))
		}
	}
	if got := wire.WithCacheMarks(wire.Conversation{}, true, nil); got.System != nil || len(got.Messages) != 0 {
		t.Errorf("of nothing: %s", text(got))
	}
}

// A call has at most four marks, including those in tools and the system prompt, and the newest
// messages keep theirs.
func TestCacheMarks(t *testing.T) {
	const part = `{"type":"text","text":"x"` + markContent + `}`
	tool := json.RawMessage(`{"name":"f","input_schema":{"properties":{"cache_control":{"type":"string"}}}` + markContent + `}`)
	nested := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[` + part + `,` + part + `]` + markContent + `}]}`
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"cache_control":"no mark"}}]}`
	plain := `{"role":"user","content":"hi"}`
	for name, c := range map[string]struct {
		system, messages string
		tools            int
		add              bool
		want             int // marks outside the tools
		newest           bool
	}{
		"a tool with a mark leaves three":          {`"s"`, `[` + plain + `,` + call + `,` + plain + `,` + call + `]`, 1, true, 3, true},
		"two tools leave two":                      {`"s"`, `[` + plain + `,` + call + `,` + plain + `,` + call + `]`, 2, true, 2, true},
		"four leave none":                          {`"s"`, `[` + plain + `]`, 4, true, 0, false},
		"an argument of that name is none":         {`"s"`, `[` + plain + `,` + call + `]`, 0, true, 2, true},
		"those of the caller are enough":           {`[` + part + `]`, `[` + plain + `,` + nested + `]`, 0, true, 4, true},
		"surplus ones go from the oldest on":       {`[` + part + `]`, `[` + nested + `,` + call + `,` + nested + `]`, 1, true, 3, true},
		"also where none are to be added":          {`[` + part + `]`, `[` + nested + `,` + nested + `]`, 0, false, 4, true},
		"tools that have all leave nobody's":       {`[` + part + `]`, `[` + nested + `]`, 5, true, 0, false},
		"without marks, none where none are asked": {`"s"`, `[` + plain + `]`, 0, false, 0, false},
	} {
		tools := make([]json.RawMessage, c.tools)
		for i := range tools {
			tools[i] = tool
		}
		before := wire.Conversation{System: json.RawMessage(c.system), Messages: raw(c.messages)}
		was := text(before)
		got := wire.WithCacheMarks(before, c.add, tools)
		all := text(got.System) + text(got.Messages)
		if n := strings.Count(all, markContent[1:]); n != c.want || strings.Contains(text(got.Messages[len(got.Messages)-1]), markContent[1:]) != c.newest {
			t.Errorf("%s: %d marks, want %d: %s", name, n, c.want, all)
		}
		if text(before) != was {
			t.Errorf("%s: the list that was given is changed", name)
		}
	}
}
