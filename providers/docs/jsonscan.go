package docs

import (
	"encoding/json"
	"iter"
	"strings"
)

// member is a member of an object or list in valid JSON.
type member struct {
	start int    // start of the key, or of the value in a list
	key   string // "" in a list
	value int    // where the value begins
}

// members yields the members of the object or list that begins at text[at]. The text must be valid
// JSON from there; the text after the value is ignored.
func members(text string, at int) iter.Seq[member] {
	return func(yield func(member) bool) {
		if at >= len(text) || text[at] != '{' && text[at] != '[' {
			return
		}
		object := text[at] == '{'
		for at = skipSpace(text, at+1); at < len(text) && text[at] != '}' && text[at] != ']'; {
			m := member{start: at, value: at}
			if object {
				end := skipValue(text, at)
				m.key = jsonString(text[at:end])
				m.value = skipSpace(text, skipSpace(text, end)+1)
			}
			if !yield(m) {
				return
			}
			if at = skipSpace(text, skipValue(text, m.value)); at < len(text) && text[at] == ',' {
				at = skipSpace(text, at+1)
			}
		}
	}
}

// jsonString returns the value of a JSON string, or the text without quotes if it is invalid.
func jsonString(s string) string {
	var v string
	if len(s) > 4<<10 || json.Unmarshal([]byte(s), &v) != nil {
		return strings.Trim(s[:min(len(s), 4<<10)], `"`)
	}
	return v
}

func skipSpace(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return min(at, len(text))
}

// skipValue returns the end of the value that begins at text[at].
func skipValue(text string, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = skipString(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']', ',':
			if depth == 0 {
				return at
			}
			if text[at] != ',' {
				depth--
			}
			at++
		case ' ', '\t', '\n', '\r', ':':
			at++
			continue
		default:
			at = skipScalar(text, at)
		}
		if depth == 0 {
			return at
		}
	}
	return len(text)
}

// skipString returns the end of the string that begins at text[at].
func skipString(text string, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// skipScalar returns the end of the number or literal that begins at text[at].
func skipScalar(text string, at int) int {
	if i := strings.IndexAny(text[at:min(len(text), at+1<<20)], " \t\r\n,]}:"); i > 0 {
		return at + i
	}
	return len(text)
}
