package wire_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

const mark = `,"cache_control":{"type":"ephemeral"}`

func TestCached(t *testing.T) {
	turn := func(marked bool, n string) string {
		at := ""
		if marked {
			at = mark
		}
		return `{"role":"user","content":[{"type":"text","text":"question ` + n + `"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c` + n + `","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c` + n + `","content":"ok"}]},{"role":"assistant","content":[{"type":"text","text":"answer ` + n + `"` + at + `}]}`
	}
	now := `{"role":"user","content":[{"type":"text","text":"context"},{"type":"text","text":"now?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"f","input":{}}]}`
	result := func(at string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"ok"` + at + `}]}`
	}
	before := raw(`[` + turn(false, "1") + `,` + turn(false, "2") + `,` + now + `,` + result("") + `]`)
	got := wire.Cached(wire.Conversation{System: []byte(`"Be brief."`), Messages: before})
	if want := raw(`[` + turn(true, "1") + `,` + turn(true, "2") + `,` + now + `,` + result(mark) + `]`); !equal(got.Messages, want) {
		t.Errorf("messages %s", text(got.Messages))
	}
	if want := `[{"text":"Be brief.","type":"text"` + mark + `}]`; string(got.System) != want {
		t.Errorf("system %s", got.System)
	}
	if err := pairing.CheckAnthropic(got.Messages); err != nil {
		t.Error(err)
	}
	if strings.Contains(text(before), "cache_control") {
		t.Error("the list that was given is changed")
	}
	if again := wire.Cached(got); text(again) != text(got) {
		t.Errorf("marked again: %s", text(again))
	}
}

func TestCachedParts(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"a text":                         {`"hi"`, `[{"text":"hi","type":"text"` + mark + `}]`},
		"what is thought cannot be":      {`[{"type":"text","text":"x"},{"type":"thinking","thinking":"y","signature":"s"}]`, `[{"type":"text","text":"x"` + mark + `},{"type":"thinking","thinking":"y","signature":"s"}]`},
		"thoughts alone":                 {`[{"type":"redacted_thinking","data":"y"}]`, `[{"type":"redacted_thinking","data":"y"}]`},
		"what only looks like a mark":    {`"say \"cache_control\": none"`, `[{"text":"say \"cache_control\": none","type":"text"` + mark + `}]`},
		"a mark of the caller is enough": {`[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y"}]`, `[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y"}]`},
	} {
		got := wire.Cached(wire.Conversation{Messages: raw(`[{"role":"user","content":` + c.content + `}]`)})
		if want := raw(`[{"role":"user","content":` + c.want + `}]`); !equal(got.Messages, want) {
			t.Errorf("%s: %s", name, text(got.Messages))
		}
	}
	if got := wire.Cached(wire.Conversation{}); got.System != nil || len(got.Messages) != 0 {
		t.Errorf("of nothing: %s", text(got))
	}
}
