package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds of an answer.
const (
	maxAskedBytes = 256 << 10 // of a text in which items are looked for
	maxAskedItems = 100       // that are looked at
)

// findItems returns the items of an answer as they stand there, however the model
// wrapped them: bare, fenced, in prose, or in an array without the object around it.
// Of several lists the one with most items counts, the last of equals. What was cut
// off in the middle is one item, which is not valid. It takes time linear in the text.
func findItems(text string) (items []string, ok bool) {
	text = text[:min(len(text), maxAskedBytes)]
	const key = `"items"`
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], key)
		if i < 0 {
			break
		}
		at += i + len(key)
		open := skipSpace(text, at)
		if open == len(text) || text[open] != ':' {
			continue
		}
		if open = skipSpace(text, open+1); open == len(text) || text[open] != '[' {
			continue
		}
		var list []string
		list, at = elements(text, open)
		if !ok || len(list) >= len(items) {
			items, ok = list, true
		}
	}
	if ok {
		return items, true
	}
	if open := bareArray(text); open >= 0 {
		items, _ = elements(text, open)
		return items, true
	}
	return nil, saysNothing(text)
}

// bareArray returns where the first array of objects begins, -1 if there is none.
func bareArray(text string) int {
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '[')
		if i < 0 {
			break
		}
		at += i + 1
		if next := skipSpace(text, at); next < len(text) && text[next] == '{' {
			return at - 1
		}
	}
	return -1
}

// saysNothing reports whether an answer is an object without items.
func saysNothing(text string) bool {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text[from:to+1]), &object) != nil {
		return false
	}
	list, has := object["items"]
	return len(object) == 0 || has && string(list) == "null"
}

// elements returns the elements of the array that begins at open, and where it ends.
func elements(text string, open int) (list []string, end int) {
	at := open + 1
	for len(list) < maxAskedItems {
		for at < len(text) && (text[at] == ',' || space(text[at])) {
			at++
		}
		if at == len(text) {
			return list, at
		}
		if text[at] == ']' {
			return list, at + 1
		}
		end := value(text, at)
		list = append(list, text[at:end])
		at = end
	}
	return list, at
}

// value returns where the JSON value ends that begins at at, at least one byte on. An
// object ends where its brackets do; whether it is valid is not found out here.
func value(text string, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return max(i, at+1)
			}
		case ',':
			if depth == 0 {
				return max(i, at+1)
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return min(i+1, len(text))
		}
	}
	return len(text)
}

// endOfString returns where the quote stands that ends the string at at, or the end
// of the text.
func endOfString(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(text string, at int) int {
	for at < len(text) && space(text[at]) {
		at++
	}
	return at
}

// readItem reads an item. Its errors name the field and tell nothing of what is in
// it.
func readItem(raw string) (*LLMItem, error) {
	var f fields
	if err := json.Unmarshal([]byte(raw), &f); err != nil || f == nil {
		if strings.HasPrefix(raw, "{") {
			return nil, errors.New("it is not valid JSON, or was cut off")
		}
		return nil, errors.New("it is not an object")
	}
	var it LLMItem
	var day string
	for _, get := range [...]error{
		f.get("memory_type", &it.Type, "a string"),
		f.get("content", &it.Content, "a string"),
		f.get("importance", &it.Importance, "a number"),
		f.get("confidence", &it.Confidence, "a number"),
		f.get("source", &it.Source, "a string"),
		f.get("scope", &it.Scope, "a string"),
		f.get("reason", &it.Reason, "a string"),
		f.find("tags", &it.Tags, "a list of strings"),
		f.find("supersedes", &it.Supersedes, "a list of strings"),
		f.find("conflicts_with", &it.ConflictsWith, "a list of strings"),
		f.find("occurred", &day, "a string"),
		f.find("when", &it.When, "a string"),
	} {
		if get != nil {
			return nil, get
		}
	}
	it.Occurred, _ = time.Parse(time.DateOnly, strings.TrimSpace(day)) // another form is none
	return &it, nil
}

// fields are those of an object.
type fields map[string]json.RawMessage

// get reads a field that must be there.
func (f fields) get(name string, into any, kind string) error {
	if raw, ok := f[name]; !ok || string(raw) == "null" {
		return fmt.Errorf("%s is missing", name)
	}
	return f.find(name, into, kind)
}

// find reads a field that may be missing.
func (f fields) find(name string, into any, kind string) error {
	raw, ok := f[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s is not %s", name, kind)
	}
	return nil
}
