package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Limits for searching an answer.
const (
	MaxListed = 100 // elements of a list

	maxFound  = 256 << 10 // bytes of a text that are searched
	maxBraces = 64        // braces at which an object may begin
)

// FindObject returns the only JSON object in a model's answer, which may be bare, fenced or in
// prose. If there is no object or more than one, ok is false. The result is valid JSON. If an
// object is truncated, a complete object inside it may be returned. Only the first 256 KiB of the
// text and 64 opening braces outside objects are considered, so it takes linear time.
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

// FindList returns the elements of the JSON array under key in an object of a model's answer, at
// most [MaxListed], unparsed. The object may be bare, fenced or in prose; an array of objects
// adapt a surrounding object is accepted, too. Among several arrays the longest wins, then the
// last. Elements need not be valid JSON: a truncated one is returned as it is. An empty object, or
// null under key, is an empty list. If there is no list, ok is false. Only the first 256 KiB of the
// text are considered. It takes linear time.
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
	return nil, emptyList(text, key)
}

// bareArray returns the offset of the first array of objects, or -1.
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

// emptyList reports whether a text has one object that is empty or has null under key.
func emptyList(text, key string) bool {
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

// elementsAt returns the elements of the array that begins at open, and the offset of its end.
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
		end := valueEnd(text, at)
		list = append(list, text[at:end])
		at = end
	}
	return list, at
}

// valueEnd returns the end of the JSON value that begins at at, which is always greater than at. It
// matches brackets without checking that the value is valid.
func valueEnd(text string, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
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

// stringEnd returns the offset of the quote that ends the string at at, or the end of the text.
func stringEnd(text string, at int) int {
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
