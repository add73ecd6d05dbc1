package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session/wire"
	"github.com/ragctx/ragctx/session/wire/pairing"
)

// callsFile is where the calls are written as JSON lines, for tools/vendors to check.
var callsFile = flag.String("vendor-calls", "", "write what TestVendorCalls is answered to this file")

// TestVendorCalls: whatever a conversation in a vendor's form has (parts of kinds that nobody
// knows, calls without ids, calls that were abandoned, results larger than the window), the call
// that is put together of it is within the window by a count that shares nothing with the
// program's, keeps the vendor's rules of pairing, and has what the user said last with the
// newest exchange. -rapid.checks says how many of each form there are.
func TestVendorCalls(t *testing.T) {
	f := start(t, Options{})
	f.library(t)
	var out *os.File
	if *callsFile != "" {
		var err error
		if out, err = os.Create(*callsFile); err != nil {
			t.Fatal(err)
		}
		defer out.Close()
	}
	counter, err := tokens.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []wire.Vendor{wire.OpenAI, wire.Anthropic, wire.Gemini} {
		t.Run(string(v), func(t *testing.T) {
			n := 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				c := talkCheck{rt: rt, vendor: v, counter: counter, media: make(map[string]int)}
				c.draw()
				sent, a, ok := c.assembled(t, f, fmt.Sprint(v, n))
				if !ok {
					return
				}
				c.check(a)
				if out != nil {
					line, err := json.Marshal(map[string]any{"vendor": v, "system": a.System, "messages": a.Messages, "tools": sent["tools"]})
					if err == nil {
						_, err = out.Write(append(line, '\n'))
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// talkCheck is a conversation in a vendor's form, and what has to be true of the call.
type talkCheck struct {
	rt      *rapid.T
	vendor  wire.Vendor
	counter ragctx.Counter
	media   map[string]int // what base64 costs, by what it was made of

	noIDs    bool // Gemini's calls have none
	snake    bool // Gemini's fields are as Google's client for Python writes them
	messages []any
	system   any
	tools    []any
	said     string   // what the user said last
	newest   []string // ids of the newest calls, if all were answered and nothing was said since
	calls    int
	turns    int
	window   int
	stored   bool // a session has a part of it
}

type fields = map[string]any

func (c *talkCheck) chance(percent int, what string) bool {
	return rapid.IntRange(1, 100).Draw(c.rt, what) <= percent
}

// words draws a text of so many words.
func (c *talkCheck) words(least, most int) string {
	vocabulary := []string{"deploy", "rollback", "the", "Straße", "漢字", "x=1;", "\n", "naïve", "…", "a", "42", "{\"k\": [1]}", "<b>&", "🙂"}
	n := rapid.IntRange(least, most).Draw(c.rt, "words")
	from := rapid.IntRange(0, len(vocabulary)-1).Draw(c.rt, "from")
	out := make([]string, n)
	for i := range out {
		out[i] = vocabulary[(from+i*i%7+i)%len(vocabulary)]
	}
	return strings.Join(out, " ")
}

// size draws how many words something has at most: mostly few.
func (c *talkCheck) size() int {
	return rapid.SampledFrom([]int{5, 20, 20, 60, 60, 200, 700, 12_000}).Draw(c.rt, "size")
}

// file draws a file as base64, and notes what it is to cost.
func (c *talkCheck) file(kind string) string {
	var data []byte
	cost := 0
	switch kind {
	case "image/png":
		w, h := rapid.IntRange(30, 200).Draw(c.rt, "width"), rapid.IntRange(30, 200).Draw(c.rt, "height")
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			c.rt.Fatal(err)
		}
		data, cost = b.Bytes(), w*h/750
	case "application/pdf":
		data, cost = []byte("%PDF-1.4 "+strings.Repeat("<</Type /Page>> ", 2)+strings.Repeat("x", 300)), 2*3000
	case "audio/wav":
		data = append([]byte("RIFF"), bytes.Repeat([]byte{1}, rapid.IntRange(100, 20_000).Draw(c.rt, "bytes"))...)
		cost = len(data) / 1000
	}
	out := base64.StdEncoding.EncodeToString(data)
	if c.snake && c.chance(50, "urlsafe") {
		out = base64.URLEncoding.EncodeToString(data)
	}
	c.media[out] = cost
	return out
}

// draw makes the conversation.
func (c *talkCheck) draw() {
	c.window = rapid.OneOf(rapid.IntRange(1000, 3000), rapid.IntRange(1000, 20_000)).Draw(c.rt, "window")
	if c.vendor == wire.Gemini {
		c.noIDs, c.snake = c.chance(60, "no ids"), c.chance(50, "snake")
	}
	c.drawSystem()
	c.turns = rapid.IntRange(1, 6).Draw(c.rt, "turns")
	for i := range c.turns {
		c.turn(i, i == c.turns-1)
	}
}

func (c *talkCheck) drawSystem() {
	text := c.words(0, 60)
	switch {
	case c.vendor == wire.OpenAI:
		for range rapid.IntRange(0, 2).Draw(c.rt, "systems") {
			role := rapid.SampledFrom([]string{"system", "developer"}).Draw(c.rt, "role")
			c.messages = append(c.messages, fields{"role": role, "content": "Rule: " + c.words(0, 30)})
		}
	case text == "":
	case c.vendor == wire.Anthropic && c.chance(50, "list"):
		c.system = []any{c.marked(fields{"type": "text", "text": text}), c.marked(fields{"type": "text", "text": "second"})}
	case c.vendor == wire.Gemini && c.chance(70, "content"):
		c.system = fields{"parts": []any{fields{"text": text}}}
	default:
		c.system = text
	}
	for i := range rapid.IntRange(0, 2).Draw(c.rt, "tools") {
		schema := fields{"type": "object", "properties": fields{"cache_control": fields{"type": "string"}}}
		name, about := fmt.Sprint("tool", i), c.words(0, 20)
		switch c.vendor {
		case wire.OpenAI:
			c.tools = append(c.tools, fields{"type": "function", "function": fields{"name": name, "description": about, "parameters": schema}})
		case wire.Anthropic:
			c.tools = append(c.tools, c.marked(fields{"name": name, "description": about, "input_schema": schema}))
		case wire.Gemini:
			c.tools = append(c.tools, fields{"functionDeclarations": []any{fields{"name": name, "description": about}}})
		}
	}
}

// marked puts a mark of a cache on a part now and then.
func (c *talkCheck) marked(part fields) fields {
	if c.vendor == wire.Anthropic && c.chance(20, "mark") {
		part["cache_control"] = fields{"type": "ephemeral"}
	}
	return part
}

// turn makes what a user says, and what the model and its tools do about it.
func (c *talkCheck) turn(i int, last bool) {
	c.said = fmt.Sprintf("question%d", i)
	most := c.size()
	if last {
		most = 40
	}
	c.newest = nil
	c.user(c.said+" "+c.words(0, most), last)
	for range rapid.IntRange(0, 3).Draw(c.rt, "rounds") {
		c.round()
	}
	if c.chance(60, "answered") {
		c.model("answer: "+c.words(0, c.size()), nil)
		c.newest = nil
	}
}

// user adds a message of the user with a text, and parts that ragctx does not know.
func (c *talkCheck) user(text string, last bool) {
	var parts []any
	known := c.chance(60, "plain")
	if !known {
		for range rapid.IntRange(0, 2).Draw(c.rt, "parts") {
			parts = append(parts, c.strange(last, false))
		}
	}
	parts = append(parts, c.text(text))
	c.add("user", parts, known && c.chance(50, "string"))
}

func (c *talkCheck) text(s string) fields {
	if c.vendor == wire.Gemini {
		return fields{"text": s}
	}
	return c.marked(fields{"type": "text", "text": s})
}

// add adds a message of parts, as a text if that is wanted and can be.
func (c *talkCheck) add(role string, parts []any, text bool) {
	key := "content"
	if c.vendor == wire.Gemini {
		key = "parts"
		if role == "assistant" {
			role = "model"
		}
		if c.snake {
			for _, p := range parts {
				for _, name := range []string{"thought", "file_data", "video_metadata"} {
					if o := p.(fields); o[name] == nil {
						o[name] = nil
					}
				}
			}
		}
	}
	m := fields{"role": role, key: parts}
	if len(parts) == 1 && text && c.vendor != wire.Gemini {
		m[key] = parts[0].(fields)["text"]
	}
	c.messages = append(c.messages, m)
}

// strange returns a part that has no place in a message of ragctx's own. In the newest turn it
// is small, as it stays whatever it costs.
func (c *talkCheck) strange(small, result bool) fields {
	most := 10
	if !small {
		most = c.size()
	}
	text := c.words(1, most)
	kinds := map[wire.Vendor][]string{
		wire.OpenAI:    {"input_audio", "file", "x_invented"},
		wire.Anthropic: {"document", "search_result", "pdf", "image", "x_invented"},
		wire.Gemini:    {"inline", "file", "code", "xInvented"},
	}[c.vendor]
	if result {
		kinds = map[wire.Vendor][]string{
			wire.OpenAI:    {"x_invented"},
			wire.Anthropic: {"document", "search_result", "image", "x_invented"},
		}[c.vendor]
	}
	kind := rapid.SampledFrom(kinds).Draw(c.rt, "kind")
	if small && (kind == "pdf" || kind == "file") {
		kind = kinds[0]
	}
	source := func(kind string, more fields) fields {
		more["type"] = kind
		return more
	}
	switch string(c.vendor) + " " + kind {
	case "openai input_audio":
		return fields{"type": kind, "input_audio": fields{"data": c.file("audio/wav"), "format": "wav"}}
	case "openai file":
		pdf := c.file("application/pdf")
		c.media["data:application/pdf;base64,"+pdf] = c.media[pdf]
		return fields{"type": kind, "file": fields{"filename": "x.pdf", "file_data": "data:application/pdf;base64," + pdf}}
	case "anthropic document":
		return c.marked(fields{"type": kind, "title": "T", "source": source("text", fields{"media_type": "text/plain", "data": text})})
	case "anthropic search_result":
		return c.marked(fields{"type": kind, "title": "T", "source": "https://a.example", "content": []any{fields{"type": "text", "text": text}}})
	case "anthropic pdf":
		return fields{"type": "document", "source": source("base64", fields{"media_type": "application/pdf", "data": c.file("application/pdf")})}
	case "anthropic image":
		return fields{"type": kind, "source": source("base64", fields{"media_type": "image/png", "data": c.file("image/png")})}
	case "gemini inline":
		data := fields{"mimeType": "audio/wav", "data": c.file("audio/wav")}
		if c.snake {
			return fields{"inline_data": fields{"mime_type": "image/png", "data": c.file("image/png")}}
		}
		return fields{"inlineData": data}
	case "gemini file":
		return fields{"fileData": fields{"mimeType": "text/plain", "fileUri": "gs://" + strings.ReplaceAll(text, " ", "/")}}
	case "gemini code":
		return fields{"executableCode": fields{"language": "PYTHON", "code": text}}
	}
	return fields{"type": kind, "said": fields{"deep": []any{text, 12345678901234567, nil, true}}}
}

// model adds a message of the model with a text and calls.
func (c *talkCheck) model(text string, calls []any) {
	var parts []any
	switch {
	case c.vendor == wire.Anthropic && c.chance(30, "thinks"):
		parts = append(parts, fields{"type": "thinking", "thinking": c.words(1, 30), "signature": "c2lnbmVk"})
	case c.vendor == wire.Gemini && c.chance(30, "thinks"):
		parts = append(parts, fields{"text": c.words(1, 30), "thought": true})
	}
	if text != "" {
		parts = append(parts, c.text(text))
	}
	if c.vendor == wire.Anthropic && c.chance(15, "server") {
		id := fmt.Sprintf("srvtoolu_%d", len(c.messages))
		found := fields{"type": "web_search_result", "title": "T", "url": "https://a.example", "encrypted_content": c.words(1, 30)}
		parts = append(parts,
			fields{"type": "server_tool_use", "id": id, "name": "web_search", "input": fields{"query": c.words(1, 5)}},
			fields{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{found}})
	}
	if c.vendor != wire.OpenAI {
		c.add("assistant", append(parts, calls...), false)
		return
	}
	m := fields{"role": "assistant", "content": text}
	if text == "" {
		m["content"] = nil
	}
	if calls != nil {
		m["tool_calls"] = calls
	} else if c.chance(10, "refuses") {
		m["refusal"] = c.words(1, c.size())
	}
	c.messages = append(c.messages, m)
}

// round adds calls of tools and their results, of which some never come.
func (c *talkCheck) round() {
	n := rapid.IntRange(1, 3).Draw(c.rt, "calls")
	var calls, results []any
	abandoned := rapid.SampledFrom([]string{"none", "none", "none", "some", "all"}).Draw(c.rt, "abandoned")
	var newest []string
	for i := range n {
		c.calls++
		mark := fmt.Sprintf("mark%d;", c.calls)
		name := rapid.SampledFrom([]string{"look", "read"}).Draw(c.rt, "tool")
		if c.noIDs && abandoned == "some" {
			name = fmt.Sprint("tool", i) // or nobody could say which result is missing
		}
		id := fmt.Sprintf("call_%d", c.calls)
		calls = append(calls, c.callPart(id, name, mark))
		if abandoned == "all" || abandoned == "some" && i%2 == 0 {
			continue
		}
		newest = append(newest, id)
		results = append(results, c.resultPart(id, name, mark))
	}
	text := ""
	if c.chance(40, "says") {
		text = c.words(1, 20)
	}
	c.model(text, calls)
	c.newest = nil
	if abandoned == "none" {
		c.newest = newest
	}
	if !c.noIDs && c.chance(30, "reversed") {
		slices.Reverse(results)
	}
	switch {
	case len(results) == 0:
	case c.vendor == wire.OpenAI:
		c.messages = append(c.messages, results...)
	default:
		c.add("user", results, false)
	}
}

func (c *talkCheck) callPart(id, name, mark string) fields {
	input := fields{"mark": mark, "n": json.Number("12345678901234567890"), "about": c.words(0, 10)}
	switch c.vendor {
	case wire.Gemini:
	case wire.OpenAI:
		if c.chance(25, "custom") {
			return fields{"id": id, "type": "custom", "custom": fields{"name": name, "input": mark + " " + c.words(0, 10)}}
		}
		b, _ := json.MarshalIndent(input, "", strings.Repeat(" ", rapid.IntRange(0, 20).Draw(c.rt, "indent")))
		return fields{"id": id, "type": "function", "function": fields{"name": name, "arguments": string(b)}}
	case wire.Anthropic:
		return c.marked(fields{"type": "tool_use", "id": id, "name": name, "input": input})
	}
	call := fields{"name": name, "args": input}
	if !c.noIDs {
		call["id"] = id
	}
	if c.snake {
		return fields{"function_call": call}
	}
	return fields{"functionCall": call, "thoughtSignature": "c2lnbmVk"}
}

func (c *talkCheck) resultPart(id, name, mark string) any {
	text := mark + " " + c.words(0, c.size())
	switch c.vendor {
	case wire.Gemini:
	case wire.OpenAI:
		content := any(text)
		if c.chance(20, "list") {
			content = []any{fields{"type": "text", "text": text}, c.strange(false, true)}
		}
		return fields{"role": "tool", "tool_call_id": id, "content": content}
	case wire.Anthropic:
		part := c.marked(fields{"type": "tool_result", "tool_use_id": id, "content": text})
		if c.chance(40, "list") {
			part["content"] = []any{c.marked(fields{"type": "text", "text": text}), c.strange(false, true)}
		}
		return part
	}
	response := fields{"name": name, "response": fields{"output": text, "rows": []any{c.words(0, 5)}}}
	if !c.noIDs {
		response["id"] = id
	}
	if c.snake {
		return fields{"function_response": response}
	}
	return fields{"functionResponse": response}
}

// assembled has the call put together, of the request alone or of a stored conversation.
func (c *talkCheck) assembled(t *testing.T, f *fixture, id string) (sent fields, a AssembleAnswer, ok bool) {
	sent = fields{
		"format": c.vendor, "messages": c.messages, "tools": c.tools, "context": fields{"tokenizer": "o200k_base"},
		"budget": fields{"window": c.window, "reserve_output": -1},
	}
	if c.tools == nil {
		delete(sent, "tools")
	}
	if c.system != nil {
		sent["system"] = c.system
	}
	target := "/v1/assemble"
	if c.stored = c.chance(25, "stored"); c.stored {
		at := rapid.IntRange(1, len(c.messages)).Draw(c.rt, "stored messages")
		stored := fields{"format": c.vendor, "messages": c.messages[:at], "create": true}
		if got := f.call(t, http.MethodPost, "/v1/sessions/"+id+"/messages", c.body(stored)); got.status != http.StatusCreated {
			c.rt.Fatalf("status %d: %s", got.status, got.body)
		}
		layer := rapid.SampledFrom([]string{"none", "compaction", "any", "observation", "buffer"}).Draw(c.rt, "layer")
		if got := f.call(t, http.MethodPatch, "/v1/sessions/"+id, `{"layer":"`+layer+`"}`); got.status != http.StatusOK {
			c.rt.Fatalf("status %d: %s", got.status, got.body)
		}
		target = "/v1/sessions/" + id + ":assemble"
		sent["messages"] = append([]any{}, c.messages[at:]...)
	}
	got := f.call(t, http.MethodPost, target, c.body(sent))
	if got.status == http.StatusUnprocessableEntity && strings.Contains(got.body, "budget.window") {
		return sent, a, false // the system prompt and the tools leave nothing
	}
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != http.StatusOK {
		c.rt.Fatalf("status %d, %v: %s\nof %s", got.status, err, got.body, c.body(sent))
	}
	return sent, a, true
}

func (c *talkCheck) body(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		c.rt.Fatal(err)
	}
	return string(b)
}

// check checks what the model is to be sent.
func (c *talkCheck) check(a AssembleAnswer) {
	if err := map[wire.Vendor]func([]json.RawMessage) error{
		wire.OpenAI: pairing.CheckOpenAI, wire.Anthropic: pairing.CheckAnthropic, wire.Gemini: pairing.CheckGemini,
	}[c.vendor](a.Messages); err != nil {
		c.rt.Fatalf("%v: %s", err, a.Messages)
	}
	all := fields{"system": a.System, "messages": a.Messages, "tools": c.tools}
	count, marks, shown := 0, 0, c.body(all)
	walk(decoded(all), func(text string) {
		if n, ok := c.media[text]; ok {
			count += n
			return
		}
		count += c.counter.Count(text)
	}, func(o fields) {
		if control, ok := o["cache_control"].(fields); ok && control["type"] == "ephemeral" {
			marks++
		}
	})
	if over := count - c.window; over > a.Budget.Over {
		c.rt.Fatalf("%d tokens in a window of %d, over %d by the answer: %s", count, c.window, a.Budget.Over, shown)
	}
	for i := range c.turns - 1 {
		if older := fmt.Sprintf("question%d ", i); a.Budget.Over > 0 && !c.stored && strings.Contains(shown, older) {
			c.rt.Fatalf("over %d, and %s is shown: %s", a.Budget.Over, older, shown)
		}
	}
	if marks > wire.MaxCacheMarks {
		c.rt.Fatalf("%d marks of a cache: %s", marks, shown)
	}
	if !strings.Contains(shown, c.said) {
		c.rt.Fatalf("%s is lost: %s", c.said, shown)
	}
	for _, id := range c.newest {
		there := strings.Count(shown, `"`+id+`"`) >= 2
		if c.noIDs {
			there = strings.Count(shown, `"functionResponse"`)+strings.Count(shown, `"function_response"`) >= len(c.newest)
		}
		if !there {
			c.rt.Fatalf("%s of the newest exchange is lost: %s", id, shown)
		}
	}
	if c.vendor == wire.Gemini {
		c.checkOrder(a.Messages)
	}
}

// decoded returns what JSON says.
func decoded(v any) (out any) {
	b, _ := json.Marshal(v)
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	_ = d.Decode(&out)
	return out
}

// walk calls text for all strings of a JSON value, and object for its objects.
func walk(v any, text func(string), object func(fields)) {
	switch v := v.(type) {
	case string:
		text(v)
	case []any:
		for _, one := range v {
			walk(one, text, object)
		}
	case fields:
		object(v)
		for _, one := range v {
			walk(one, text, object)
		}
	}
}

var marker = regexp.MustCompile(`mark[0-9]+;`)

// checkOrder checks that each response of Gemini's answers the call that it was made for: that
// of its id, or that of its name which is as far from the first one as it is.
func (c *talkCheck) checkOrder(contents []json.RawMessage) {
	key := func(o fields) string {
		id, _ := o["id"].(string)
		name, _ := o["name"].(string)
		return cmp.Or(id, name)
	}
	var called map[string][]string // the markers of calls; one that is cut is empty
	for _, raw := range contents {
		var m struct {
			Role  string
			Parts []fields
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			c.rt.Fatal(err)
		}
		if m.Role == "model" {
			called = make(map[string][]string)
		}
		for _, part := range m.Parts {
			if call, ok := cmp.Or(part["functionCall"], part["function_call"]).(fields); ok {
				called[key(call)] = append(called[key(call)], marker.FindString(c.body(call["args"])))
			}
			response, ok := cmp.Or(part["functionResponse"], part["function_response"]).(fields)
			if !ok {
				continue
			}
			k, said := key(response), marker.FindString(c.body(response["response"]))
			if len(called[k]) == 0 || said != "" && called[k][0] != "" && said != called[k][0] {
				c.rt.Fatalf("%s answers another call of %s than it was made for: %s", said, k, contents)
			}
			called[k] = called[k][1:]
		}
	}
}
