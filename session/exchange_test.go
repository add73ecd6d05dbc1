package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
)

func TestNewestExchange(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "[]",
		"uhi ahello":                       "[]",
		"udo a!1 t?1":                      "[1 2]",
		"udo a!1 t?1 a!2 t?2":              "[3 4]",
		"udo a!1+!2 t?2 t?1":               "[1 2 3]",
		"udo a!1 a!2 t?2 t?1":              "[1 2 3 4]",
		"udo a!1+!2 t?1":                   "[1 2]",
		"udo a!1 u?1":                      "[1 2]",
		"udo a!1 t?1 sremember":            "[1 2 3]",
		"udo a!1 t?1 aso":                  "[]", // the assistant has answered
		"udo a!1 t?1 uthanks":              "[]",
		"udo a!1 u?1+thanks":               "[]", // which is an instruction
		"udo a!1 ahm t?1":                  "[1 3]",
		"udo a!1 t?1 a!2":                  "[]", // which is pending
		"udo a!1 sone a!2 t?2 t?1":         "[1 2 3 4 5]",
		"udo a!1 t?1 a!2 t?2 a!3+!4 t?4 ":  "[5 6]",
		"sa udo a!1 t?1 a!2 sb t?2 sc u?9": "[4 5 6 7]", // an orphan belongs to nothing
	} {
		if got := fmt.Sprint(session.NewestExchange(talk(t, in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// exchange draws calls at the end of a conversation, with results of any size and kind.
func exchange(t *rapid.T, name string) []ragctx.Message {
	size := rapid.SampledFrom([]int{0, 3, 40, 200, 1000})
	text := func() string {
		return strings.Repeat(rapid.SampledFrom([]string{"word ", "漢字", "a\n", "<&>\"", "[x left out to fit]", "🙂 "}).Draw(t, "text"), size.Draw(t, "size"))
	}
	image := func() []byte { return bytes.Repeat([]byte{1}, size.Draw(t, "bytes")) }
	part := func() json.RawMessage {
		b, err := json.Marshal(map[string]any{
			"type": "document", "title": text(), "n": json.Number("12345678901234567890"),
			"source": map[string]any{"media_type": rapid.SampledFrom([]string{"text/plain", "application/pdf"}).Draw(t, "media"), "data": text()},
			"bytes":  image(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	n := rapid.IntRange(1, 4).Draw(t, "calls")
	calls := ragctx.Message{Role: ragctx.RoleAssistant}
	var results []ragctx.Block
	for i := range n {
		id := fmt.Sprint(name, i)
		input, err := json.Marshal(map[string]any{"path": text(), "list": []any{text(), 1, nil}})
		if err != nil {
			t.Fatal(err)
		}
		calls.Content = append(calls.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: id, Name: "f", Input: input})
		r := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: id}
		for range rapid.SampledFrom([]int{0, 1, 2, 3, 12}).Draw(t, "blocks") {
			var b ragctx.Block
			switch b.Type = rapid.SampledFrom([]ragctx.BlockType{ragctx.BlockText, ragctx.BlockImage, ragctx.BlockVendor, ragctx.BlockToolResult}).Draw(t, "type"); b.Type {
			case ragctx.BlockImage:
				b.MediaType, b.Data = "image/png", image()
			case ragctx.BlockVendor:
				b.Form, b.Part = "anthropic", part()
			case ragctx.BlockToolResult:
				b.Content = ragctx.Text(text())
			default:
				if b.Text = text(); rapid.Bool().Draw(t, "kept") {
					b.Form, b.Part = "anthropic", part()
				}
			}
			r.Content = append(r.Content, b)
		}
		if rapid.IntRange(0, 9).Draw(t, "fields") == 0 {
			r.Form, r.Part = "gemini", part()
		}
		results = append(results, r)
	}
	out := []ragctx.Message{calls}
	if rapid.Bool().Draw(t, "one message") {
		return append(out, ragctx.Message{Role: ragctx.RoleUser, Content: results})
	}
	for _, r := range results {
		m := ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{r}}
		if rapid.IntRange(0, 9).Draw(t, "beside") == 0 {
			m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockText, Text: text()})
		}
		out = append(out, m)
	}
	return out
}

// The view has every call and result of the newest exchange, shortened to fit: it exceeds the
// budget only if its smallest form does.
func TestNewestExchangeIsCutToWhatFits(t *testing.T) {
	o200k, err := tokens.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		newest := exchange(t, "new")
		messages := slices.Concat(conversation(t), []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "what is it?")}, exchange(t, "old"), newest)
		if rapid.Bool().Draw(t, "system") {
			messages = append(messages, ragctx.TextMessage(ragctx.RoleSystem, "be brief"))
		}
		before, _ := json.Marshal(messages)
		l := session.Limits{Scale: session.Scale{Counter: rapid.SampledFrom([]ragctx.Counter{o200k, bytesCounter{}}).Draw(t, "counter")}}
		least := session.Truncate(messages, l)
		l.Tokens = rapid.OneOf(rapid.IntRange(0, 2000), rapid.IntRange(0, 40_000)).Draw(t, "budget")
		l.Steady = rapid.Bool().Draw(t, "steady")
		v := session.Truncate(messages, l)
		checkPairs(t, v.Messages)
		checkAccounts(t, messages, v, l)
		for _, m := range newest {
			for _, b := range m.Content {
				if b.Type != ragctx.BlockText && !slices.ContainsFunc(v.Messages, func(m ragctx.Message) bool {
					return slices.ContainsFunc(m.Content, func(o ragctx.Block) bool {
						return o.Type == b.Type && o.ID == b.ID && o.ToolUseID == b.ToolUseID
					})
				}) {
					t.Fatalf("%s%s is lost: %s", b.ID, b.ToolUseID, words(v.Messages))
				}
			}
		}
		if most := max(l.Tokens, least.Tokens); v.Tokens > most {
			t.Fatalf("%d tokens in %d, at least %d", v.Tokens, l.Tokens, least.Tokens)
		}
		if again := session.Truncate(v.Messages, l); again.Tokens != v.Tokens || len(again.Dropped) > 0 {
			t.Fatalf("a view is cut again: %d tokens, then %d, %+v", v.Tokens, again.Tokens, again.Dropped)
		}
		for _, m := range v.Messages {
			for _, b := range m.ToolUses() {
				if !json.Valid(b.Input) {
					t.Fatalf("the input %s is no JSON", b.Input)
				}
			}
		}
		if after, _ := json.Marshal(messages); string(after) != string(before) {
			t.Fatal("the conversation was changed")
		}
	})
}

// A result that does not fit keeps as much of head and tail as fits, and says how much is omitted;
// small results stay complete.
func TestOversizedResult(t *testing.T) {
	o200k, err := tokens.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "line %d of the log\n", i)
	}
	messages := talk(t, "uold aanswer uwhy a!1+!2 t?1 t?2")
	messages[4].Content[0].Content = ragctx.Text(long.String())
	for _, budget := range []int{500, 4000, 32_000} {
		v := session.Truncate(messages, session.Limits{Tokens: budget, Scale: session.Scale{Counter: o200k}})
		if got := words(v.Messages); got != "uold aanswer uwhy a!1+!2 t?1 t?2" || v.Over > 0 || v.Tokens < budget*9/10 {
			t.Fatalf("%s, %d tokens, over %d", got, v.Tokens, v.Over)
		}
		text := v.Messages[4].Content[0].Content.String()
		if !strings.HasPrefix(text, "line 0 of the log\nline 1") || !strings.HasSuffix(text, "line 19999 of the log\n") || !strings.Contains(text, " tokens left out to fit]\n") {
			t.Errorf("%s", text)
		}
		if got := v.Messages[5].Content[0].Content.String(); got != "ok" {
			t.Errorf("the small result is %q", got)
		}
		if c := v.Dropped[len(v.Dropped)-1]; c.Index != 4 || !c.Partial || c.Reason != session.ReasonBudget || c.Tokens < 100_000 {
			t.Errorf("%+v", v.Dropped)
		}
	}
}

// A shortened result leaves a quarter of the budget to earlier messages, if they need it and it can
// be left.
func TestOversizedResultLeavesRoom(t *testing.T) {
	rule := strings.Repeat("r", 100)
	messages := talk(t, "u"+rule+" aok utwo aok uwhy a!1 t?1")
	long := ragctx.Text(strings.Repeat("x ", 5000))
	image := ragctx.Content{{Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("x")}}
	for _, c := range []struct {
		result        ragctx.Content
		budget, least int
		want          string
	}{
		{long, 1000, 950, "u" + rule + " aok utwo aok uwhy a!1 t?1"},
		{long, 400, 350, "utwo aok uwhy a!1 t?1"},
		{image, 90, 0, "uwhy a!1 t?1"},
	} {
		messages[6].Content[0].Content = c.result
		v := session.Truncate(messages, session.Limits{Tokens: c.budget, Scale: scale})
		if got := words(v.Messages); got != c.want || v.Tokens < c.least || v.Tokens > c.budget {
			t.Errorf("%d tokens: %s, %d tokens", c.budget, got, v.Tokens)
		}
	}
}

// Of a result of many parts those in the middle are left out where a note of each would not
// fit.
func TestResultOfManyParts(t *testing.T) {
	messages := talk(t, "uwhy a!1 t?1")
	var parts ragctx.Content
	for i := range 1000 {
		parts = append(parts, ragctx.Block{Type: ragctx.BlockText, Text: fmt.Sprint(i, strings.Repeat(" x", 50))})
	}
	messages[2].Content[0].Content = parts
	for _, budget := range []int{120, 500, 2000, 20_000} {
		v := session.Truncate(messages, session.Limits{Tokens: budget, Scale: scale})
		got := v.Messages[2].Content[0].Content
		if v.Over > 0 || v.Tokens < budget-100 && budget > 120 {
			t.Errorf("%d tokens in %d", v.Tokens, budget)
		}
		if !slices.ContainsFunc(got, func(b ragctx.Block) bool { return strings.Contains(b.Text, " parts: ") }) {
			t.Errorf("%d: %v", budget, got)
		}
	}
}

// Results within results count however deep they are, and are cut.
func TestNestedResultsCount(t *testing.T) {
	messages := talk(t, "uwhy a!1 t?1")
	inner := ragctx.Text(strings.Repeat("x ", 5000))
	for range 40 {
		inner = ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: inner}}
	}
	messages[2].Content = inner
	if n := scale.Message(messages[2]); n < 10_000 {
		t.Errorf("%d tokens", n)
	}
	if v := session.Truncate(messages, session.Limits{Tokens: 500, Scale: scale}); v.Over > 0 || len(v.Messages) != 3 || len(v.Dropped) != 1 {
		t.Errorf("over %d, %+v", v.Over, v.Dropped)
	}
}

// Parts other than text are replaced by their text, or by a note with their name.
func TestOversizedParts(t *testing.T) {
	document := json.RawMessage(`{"type":"document","title":"Plan","source":{"type":"text","data":"` + strings.Repeat("a b c ", 2000) + `"}}`)
	messages := talk(t, "uwhy a!1 t?1")
	messages[2].Content[0].Content = ragctx.Content{
		{Type: ragctx.BlockVendor, Form: "anthropic", Part: document}, {Type: ragctx.BlockImage, MediaType: "image/png", Data: []byte("x")},
	}
	messages[2].Content[0].Form, messages[2].Content[0].Part = "gemini", json.RawMessage(`{"scheduling":"SILENT","parts":["`+strings.Repeat("x", 3000)+`"]}`)
	v := session.Truncate(messages, session.Limits{Tokens: 1000, Scale: scale})
	r := v.Messages[2].Content[0]
	if v.Over > 0 || len(r.Content) != 3 || string(r.Part) != `{"scheduling":"SILENT"}` {
		t.Fatalf("over %d, %+v", v.Over, r)
	}
	for i, want := range []string{"[document \"Plan\" as text]\na b c ", "[image image/png: 1600 tokens left out to fit]", "[parts: 3004 tokens left out to fit]"} {
		if got := r.Content[i].Text; !strings.HasPrefix(got, want) {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// Inputs of answered calls are shortened if shortening results is not enough; inputs of pending
// calls are not.
func TestOversizedInput(t *testing.T) {
	input := json.RawMessage(`{ "path": "a.txt", "n": 12345678901234567890, "text": "` + strings.Repeat(`<b>\n`, 2000) + `" }`)
	messages := talk(t, "uwhy a!1 t?1")
	messages[1].Content[0].Input = input
	v := session.Truncate(messages, session.Limits{Tokens: 500, Scale: scale})
	got := string(v.Messages[1].Content[0].Input)
	if v.Over > 0 || !strings.HasPrefix(got, `{ "path": "a.txt", "n": 12345678901234567890, "text": "<b>\n<b>\n`) || !strings.HasSuffix(got, `<b>\n" }`) {
		t.Errorf("over %d, %s", v.Over, got)
	}
	v = session.Truncate(messages[:2], session.Limits{Tokens: 500, Scale: scale})
	if v.Over == 0 || string(v.Messages[1].Content[0].Input) != string(input) {
		t.Errorf("over %d, %s", v.Over, v.Messages[1].Content[0].Input)
	}
}
