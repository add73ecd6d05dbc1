package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Bounds of what is found in an answer.
const (
	MaxListed = 100 // elements of a list

	maxFound  = 256 << 10 // bytes of a text that are looked through
	maxBraces = 64        // places at which an object may begin
)

// FindObject returns the one JSON object of a model's answer as it stands there,
// however the model wrapped it: bare, fenced or in prose. Where there is none, or
// more than one, ok is false. The object is valid JSON and nothing more; of one that
// was cut off it may be one within. Of the text the first 256 KiB and 64 opening
// braces outside objects count, so it takes time linear in the text.
func FindObject(text string) (object string, ok bool) {
	text = text[:min(len(text), maxFound)]
	for range maxBraces {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		var raw json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text))
		if dec.Decode(&raw) != nil {
			text = text[1:]
			continue
		}
		if ok {
			return "", false
		}
		end := int(dec.InputOffset())
		object, ok, text = text[:end], true, text[end:]
	}
	return object, ok
}

// FindList returns the elements of the JSON array that an object of a model's answer
// has under key, as they stand there, at most [MaxListed], however the model wrapped
// them: bare, fenced, in prose, or in an array of objects without the object around
// it. Of several arrays the one with most elements counts, the last of equals. What
// was cut off in the middle is one element, which is not valid; nor need others be.
// An object that is empty, or has null under key, is an empty list; where there is no
// list at all, ok is false. Of the text the first 256 KiB count; it takes time linear
// in them.
func FindList(text, key string) (elements []string, ok bool) {
	text = text[:min(len(text), maxFound)]
	quoted := strconv.Quote(key)
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], quoted)
		if i < 0 {
			break
		}
		at += i + len(quoted)
		open := skipSpace(text, at)
		if open == len(text) || text[open] != ':' {
			continue
		}
		if open = skipSpace(text, open+1); open == len(text) || text[open] != '[' {
			continue
		}
		var list []string
		list, at = elementsAt(text, open)
		if !ok || len(list) >= len(elements) {
			elements, ok = list, true
		}
	}
	if ok {
		return elements, true
	}
	if open := bareArray(text); open >= 0 {
		elements, _ = elementsAt(text, open)
		return elements, true
	}
	return nil, saysNothing(text, key)
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

// saysNothing reports whether a text holds one object, with nothing under the key.
func saysNothing(text, key string) bool {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text[from:to+1]), &object) != nil {
		return false
	}
	list, has := object[key]
	return len(object) == 0 || has && string(list) == "null"
}

// elementsAt returns the elements of the array that begins at open, and where it ends.
func elementsAt(text string, open int) (list []string, end int) {
	at := open + 1
	for len(list) < MaxListed {
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
