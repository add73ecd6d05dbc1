package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/llm"
)

func TestFindObject(t *testing.T) {
	const object = `{"a": {"b": "} \" {"}, "c": [1, {}]}`
	for text, want := range map[string]string{
		object:                                 object,
		" \n" + object + "\n":                  object,
		"```json\n" + object + "\n```":         object,
		"Here it is, {name}: " + object + " {": object,
		`{"a": ` + object:                      object,
		object + object:                        "",
		object + " or {}":                      "",
		`["a", 7]`:                             "",
		object[:len(object)-1]:                 "",
		"":                                     "",
		strings.Repeat("{", 1000) + object:     "",
		strings.Repeat(" ", 300<<10) + object:  "",
	} {
		got, ok := llm.FindObject(text)
		if text == object[:len(object)-1] {
			ok = got != `{"b": "} \" {"}` && ok // two within
		}
		if got != want || ok != (want != "") {
			t.Errorf("%.60q: %q, %v", text, got, ok)
		}
	}
}

// FuzzFind: for any answer, the results are parts of it, within the limits, and an object is valid
// JSON.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		`{"items":[{"content":"The user prefers Helix.","tags":["a"]}]}`,
		"```json\n{\"items\": [{\"content\": \"a \\\" { b\"}, 7, \"x\\\\\", [1,[2]]]}\n``` and {\"items\" : [",
		`[{"a":}{]}`, `"items":["items":["items":[`, `{"items":[}]{`, `{"items":["\`, `{"items":null}`, "{x} {\"a\":1}", "{\"a\":\"\xff\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := llm.FindList(text, "items")
		if !ok && list != nil || len(list) > llm.MaxListed {
			t.Fatalf("%v, %v", list, ok)
		}
		for _, raw := range list {
			if raw == "" || !strings.Contains(text, raw) {
				t.Errorf("%q is no part of the text", raw)
			}
		}
		object, ok := llm.FindObject(text)
		if ok != (object != "") || !strings.Contains(text, object) || ok && (!json.Valid([]byte(object)) || object[0] != '{') {
			t.Errorf("%q, %v", object, ok)
		}
	})
}

// TestListAnywhere: random items are found again in random prose.
func TestListAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "contents")
		var list []map[string]any
		for _, s := range texts {
			list = append(list, map[string]any{"content": s, "nested": []any{map[string]any{"items": s}, s}})
		}
		b, err := json.Marshal(map[string]any{"note": "x", "items": list, "more": []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		prose := rapid.StringOf(rapid.RuneFrom([]rune(`abc "'{}[],:\`+"\n`"))).Draw(t, "before")
		if strings.Contains(prose, "[") {
			prose = strings.ReplaceAll(prose, "[", "(")
		}
		got, ok := llm.FindList(prose+string(b)+rapid.StringOf(rapid.RuneFrom([]rune("abc {}\n`"))).Draw(t, "after"), "items")
		if !ok || len(got) != len(texts) {
			t.Fatalf("%q of %q", got, b)
		}
		for i, raw := range got {
			var back struct{ Content string }
			if err := json.Unmarshal([]byte(raw), &back); err != nil {
				t.Fatal(err)
			}
			want, _ := json.Marshal(texts[i]) // invalid UTF-8 is replaced
			if again, _ := json.Marshal(back.Content); string(again) != string(want) {
				t.Errorf("%q, want %q", again, want)
			}
		}
	})
}
