package session_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// bytesCounter counts bytes, so that costs are easy to see.
type bytesCounter struct{}

func (bytesCounter) Name() string          { return "bytes" }
func (bytesCounter) Count(text string) int { return len(text) }

var scale = session.Scale{Counter: bytesCounter{}}

// talk parses a conversation, one message per word: a role (s, u, a, t) and then parts joined by +:
// calls (!id), results (?id), or text. "a!1+!2" is an assistant that calls two tools.
func talk(t testing.TB, text string) []ragctx.Message {
	t.Helper()
	roles := map[byte]ragctx.Role{
		's': ragctx.RoleSystem, 'd': ragctx.RoleDeveloper, 'u': ragctx.RoleUser, 'a': ragctx.RoleAssistant, 't': ragctx.RoleTool,
	}
	var out []ragctx.Message
	for word := range strings.FieldsSeq(text) {
		m := ragctx.Message{Role: roles[word[0]]}
		for part := range strings.SplitSeq(word[1:], "+") {
			switch part[0] {
			case '!':
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockToolUse, ID: part[1:], Name: "f", Input: []byte(`{"x": 1}`)})
			case '?':
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: part[1:], Content: ragctx.Text("ok")})
			default:
				m.Content = append(m.Content, ragctx.Block{Type: ragctx.BlockText, Text: part})
			}
		}
		out = append(out, m)
	}
	return out
}

// words writes messages as talk reads them.
func words(messages []ragctx.Message) string {
	var out []string
	for _, m := range messages {
		var parts []string
		for _, b := range m.Content {
			switch b.Type {
			case ragctx.BlockToolUse:
				parts = append(parts, "!"+b.ID)
			case ragctx.BlockToolResult:
				parts = append(parts, "?"+b.ToolUseID)
			default:
				parts = append(parts, b.Text)
			}
		}
		out = append(out, string(m.Role[0])+strings.Join(parts, "+"))
	}
	return strings.Join(out, " ")
}

func TestGroups(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"uhi ahello uwhy":                "uhi | ahello | uwhy",
		"ugo a!1 t?1 adone":              "ugo | a!1 t?1 | adone",
		"ugo a!1+!2 t?2 t?1 adone":       "ugo | a!1+!2 t?2 t?1 | adone",  // parallel
		"ugo a!1 a!2 t?2 t?1 adone":      "ugo | a!1 a!2 t?2 t?1 | adone", // nested
		"ugo a!1 t?1 a!2 t?2":            "ugo | a!1 t?1 | a!2 t?2",
		"a!1 ubtw anoted u?1 aend":       "a!1 ubtw anoted u?1 | aend",            // a late result
		"t?9 ugo a!1 u?1+?9":             "t?9 | ugo | a!1 u?1+?9",                // orphans
		"ugo a!1 t?1 a!1 t?1":            "ugo | a!1 t?1 | a!1 t?1",               // an id that is used again
		"ugo a!1 a!2 t?2 a!3 t?3 unext":  "ugo | a!1 | a!2 t?2 | a!3 t?3 | unext", // never answered
		"a!1 t?1 t?1 u!2 t?2":            "a!1 t?1 | t?1 | u!2 | t?2",
		"ustart a!1+saying u?1+and+more": "ustart | a!1+saying u?1+and+more",
	} {
		messages := talk(t, in)
		var got []string
		for _, s := range session.Groups(messages) {
			got = append(got, words(messages[s.From:s.To]))
		}
		if d := cmp.Diff(want, strings.Join(got, " | ")); d != "" {
			t.Errorf("%s:\n%s", in, d)
		}
	}
}

func TestSound(t *testing.T) {
	for in, want := range map[string]string{
		"ugo a!1 t?1 adone":        "ugo a!1 t?1 adone",
		"t?9 ugo adone":            "ugo adone",                // an orphan result is a provider's 400
		"ugo a!1+!2 t?1":           "ugo a!1+!2 t?1",           // a pending call is untouchable
		"ugo a!1 a!2 t?2":          "ugo a!1 a!2 t?2",          // so is one of the same turn
		"ugo a!1 sreminder":        "ugo a!1 sreminder",        // the operator is not the conversation
		"ugo a!1 ustop":            "ugo ustop",                // an orphan call blocks nothing
		"ugo athinking+!1 ustop":   "ugo athinking ustop",      // the text of the message stays
		"ugo a!1+!2 t?1 unext":     "ugo a!1 t?1 unext",        // half answered
		"ugo a!1 t?1 t?1 adone":    "ugo a!1 t?1 adone",        // answered twice
		"ugo u!1 t?1 a?1 adone":    "ugo adone",                // the wrong roles
		"ugo tplain adone":         "ugo adone",                // a tool result that answers nothing
		"u?9+listen adone":         "ulisten adone",            // a text next to an orphan
		"a!1 ubtw anoted u?1 aend": "a!1 ubtw anoted u?1 aend", // late, and still a pair
		"ugo a!1 a!1 t?1 adone":    "ugo a!1 t?1 adone",        // the nearer call is answered
	} {
		messages := talk(t, in)
		v := session.Sound(messages, session.Limits{Tokens: 1 << 20, Scale: scale})
		if got := words(v.Messages); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if in != words(messages) {
			t.Errorf("%s was changed to %s", in, words(messages))
		}
		if v.Over != 0 || (len(v.Dropped) == 0) != (in == want) {
			t.Errorf("%s: over %d, cuts %+v", in, v.Over, v.Dropped)
		}
	}
}

// With bytesCounter a message of n bytes of text costs 4+n, a call 8+1+8, a result 8+2.
func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in     string
		budget int
		want   string
		cuts   string
	}{
		{"uaaaa abbbb ucccc adddd ueeee", 40, "uaaaa abbbb ucccc adddd ueeee", ""},
		{"uaaaa abbbb ucccc adddd ueeee", 39, "ucccc adddd ueeee", "0 budget 8, 1 boundary 8"},
		{"uaaaa abbbb ucccc adddd ueeee", 23, "ueeee", "0 budget 8, 1 budget 8, 2 budget 8, 3 boundary 8"},
		{"uaaaa abbbb ucccc adddd ueeee", 3, "ueeee", "0 budget 8, 1 budget 8, 2 budget 8, 3 budget 8"}, // the instruction stays
		{"srule drole uaaaa abbbb ucccc", 24, "srule drole ucccc", "2 budget 8, 3 budget 8"},
		{"uaaaa a!1 t?1 uend", 45, "uend", "0 budget 8, 1 boundary 21, 2 boundary 14"},                   // neither a half pair nor a result first
		{"udo a!1 t?1 a!2 t?2 a!3 t?3", 80, "udo a!2 t?2 a!3 t?3", "1 budget 21, 2 budget 14"},           // a long loop keeps its instruction
		{"udo a!1 t?1 a!2 t?2 a!3", 10, "udo a!3", "1 budget 21, 2 budget 14, 3 budget 21, 4 budget 14"}, // and its pending call
		{"utiny ahuge" + strings.Repeat("x", 99) + " uend", 50, "uend", "0 budget 8, 1 budget 107"},      // the first misfit ends it
		{"ahello aworld aagain", 12, "aagain", "0 budget 9, 1 budget 9"},                                 // there is no user message
		{"t?9 uaaaa ubbbb", 12, "ubbbb", "0 orphan_result 14, 1 budget 8"},
		{"uaaaa abbbb+!1 ucccc", 30, "uaaaa abbbb ucccc", "1 unanswered_call* 17"},
		{"uaaaa abbbb+!1 ucccc", 23, "ucccc", "0 budget 8, 1 boundary 25"}, // a message dropped in part and then completely is listed once
	} {
		messages := talk(t, c.in)
		v := session.Truncate(messages, session.Limits{Tokens: c.budget, Scale: scale})
		if got := words(v.Messages); got != c.want {
			t.Errorf("%s in %d: %s, want %s", c.in, c.budget, got, c.want)
		}
		got := make([]string, len(v.Dropped))
		for i, cut := range v.Dropped {
			partial := ""
			if cut.Partial {
				partial = "*"
			}
			got[i] = fmt.Sprintf("%d %s%s %d", cut.Index, cut.Reason, partial, cut.Tokens)
		}
		if d := cmp.Diff(c.cuts, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s in %d: %s", c.in, c.budget, d)
		}
		if want := max(v.Tokens-c.budget, 0); v.Over != want {
			t.Errorf("%s in %d: over %d, want %d", c.in, c.budget, v.Over, want)
		}
	}
}

func TestCosts(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 600, 500))); err != nil {
		t.Fatal(err)
	}
	encoded, urlEncoded := base64.StdEncoding.EncodeToString(file.Bytes()), base64.URLEncoding.EncodeToString(file.Bytes())
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 <</Type/Pages>> <</Type /Page>> <</Type/Page /X 1>>"))
	for name, c := range map[string]struct {
		m    ragctx.Message
		want int
	}{
		"a long id":     {ragctx.Message{Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: strings.Repeat("x", 30)}}}, 4 + 6 + 30},
		"several parts": {ragctx.Message{Content: ragctx.Content{{Type: ragctx.BlockText, Text: "a"}, {Type: ragctx.BlockText, Text: "b"}}}, 4 + 1 + 1 + 4},
		"empty":         {ragctx.Message{Role: ragctx.RoleUser}, 4},
		"text":          {ragctx.TextMessage(ragctx.RoleUser, "four"), 8},
		"name":          {ragctx.Message{Name: "ada", Content: ragctx.Text("four")}, 11},
		"reasoning":     {ragctx.Message{Reasoning: "hm", Content: ragctx.Text("four")}, 10},
		"call":          {talk(t, "a!1")[0], 4 + 8 + 1 + 8}, // as it is spaced
		"no JSON":       {ragctx.Message{Content: ragctx.Content{{Type: ragctx.BlockToolUse, Name: "f", Input: []byte("{ {")}}}, 4 + 8 + 1 + 3},
		"result":        {talk(t, "t?1")[0], 4 + 8 + 2},
		"image":         {ragctx.Message{Content: ragctx.Content{{Type: ragctx.BlockImage, Data: file.Bytes()}}}, 4 + 401},
		"no image":      {ragctx.Message{Content: ragctx.Content{{Type: ragctx.BlockImage, Data: []byte("?")}}}, 4 + session.MaxImageTokens},
	} {
		if got := scale.Message(c.m); got != c.want {
			t.Errorf("%s costs %d, want %d", name, got, c.want)
		}
	}
	for in, want := range map[string]int{ // vendor fields: the sum of strings, media and the frame
		`{"type":"document","source":{"type":"text","data":"a b c"}}`:                          8 + 4 + 5 + len(`{"source":{"data":"","type":""},"type":""}`),
		`{"invented":[{"n":12345678901234567,"deep":["x",null,true]}]}`:                        1 + len(`{"invented":[{"deep":["",null,true],"n":12345678901234567}]}`),
		`{"media_type":"image/png","data":"` + encoded + `"}`:                                  9 + 401 + len(`{"data":"","media_type":""}`),
		`{"mime_type":"image/png","data":"` + urlEncoded + `"}`:                                9 + 401 + len(`{"data":"","mime_type":""}`),
		`{"url":"data:image/png;base64,` + encoded + `"}`:                                      401 + len(`{"url":""}`),
		`{"type":"image","source":{"type":"url","url":"u"}}`:                                   5 + 3 + 1 + session.MaxImageTokens + len(`{"source":{"type":"","url":""},"type":""}`),
		`{"format":"wav","data":"` + strings.Repeat("AAAA", 500) + `"}`:                        3 + 1500/session.WaveBytes + 1 + len(`{"data":"","format":""}`),
		`{"format":"mp3","data":"` + strings.Repeat("AAAA", 500) + `"}`:                        3 + 1500/session.AudioBytes + 1 + len(`{"data":"","format":""}`),
		`{"mimeType":"video/mp4","data":"` + strings.Repeat("AAAA", 50) + `"}`:                 9 + 1 + len(`{"data":"","mimeType":""}`),
		`{"media_type":"application/pdf","data":"` + pdf + `"}`:                                15 + 2*session.PDFPageTokens + len(`{"data":"","media_type":""}`),
		`{"media_type":"application/pdf","data":"JVBERi0x` + strings.Repeat("AAAA", 50) + `"}`: 15 + session.PDFPageTokens + len(`{"data":"","media_type":""}`),
		`{"media_type":"image/png","text":"` + encoded + `"}`:                                  9 + len(encoded) + len(`{"media_type":"","text":""}`), // which a model reads
		`{"media_type":"image/png","data":"these are words, not base64"}`:                      9 + 27 + len(`{"data":"","media_type":""}`),
		`{"data":"` + encoded + `"}`:                                                           len(encoded) + len(`{"data":""}`), // of no kind that is known
	} {
		part := ragctx.Block{Type: ragctx.BlockVendor, Form: "anthropic", Part: json.RawMessage(in)}
		result := ragctx.Block{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Content{part}}
		kept := ragctx.Metadata{"wire_openai": in, "of_the_caller": "free"}
		for name, m := range map[string]ragctx.Message{
			"a part": {Content: ragctx.Content{part}}, "a part of a result": {Content: ragctx.Content{result}}, "fields": {Metadata: kept},
		} {
			got := scale.Message(m) - 4
			if name == "a part of a result" {
				got -= 8
			}
			if got != want {
				t.Errorf("%s %.60s costs %d, want %d", name, in, got, want)
			}
		}
	}
	deep := ragctx.Text("end")
	for range 1000 {
		deep = ragctx.Content{{Type: ragctx.BlockToolResult, Content: deep}}
	}
	if got, want := scale.Message(ragctx.Message{Content: deep}), 1000*session.CallOverhead+3+session.MessageOverhead; got != want {
		t.Errorf("results in results cost %d, want %d", got, want)
	}
	if got := scale.Tools([]json.RawMessage{[]byte(`{"name": "f"}`), []byte(`{}`)}); got != 8+12+8+2 {
		t.Errorf("tools cost %d", got)
	}
}
