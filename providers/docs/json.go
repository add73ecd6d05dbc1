package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// maxRecordDepth is the depth to which records are split. Deeper values stay in one block, which is
// split by length.
const maxRecordDepth = 8

// maxName is the maximum length of a record's name, in code points.
const maxName = 80

// nameKeys are the keys with the name of a record, best first.
var nameKeys = [...]string{"name", "title", "id", "key", "question", "label", "slug", "path", "url"}

// recordTree builds blocks from a tree of values in text order.
type recordTree struct {
	in      input
	blocks  []chunk.Block
	outline []heading
}

// add appends text[start:end] as a block under path. A text that is too long for a chunk is split
// like prose.
func (t *recordTree) add(start, end int, path []string, section bool) {
	if start < end {
		t.blocks = append(t.blocks, chunk.Block{
			Start: start, End: end, Heading: path, Break: section,
			Keep: !longerThan(t.in.text[start:end], t.in.max),
		})
	}
}

// structure returns the result.
func (t *recordTree) structure() structure {
	return structure{blocks: t.blocks, outline: outlineOf(t.outline, len(t.in.text))}
}

// enter starts a section and returns its path.
func (t *recordTree) enter(title string, start int, path []string) []string {
	title = sentence.Clip(strings.Join(strings.Fields(title), " "), maxName)
	if title == "" {
		return path
	}
	t.outline = append(t.outline, heading{title, len(path) + 1, start})
	return append(slices.Clip(path), title)
}

// parseJSON parses one value, or one value per line. The members of a value that is too long for a
// chunk become blocks under its keys and names. A large record gets its own section. Invalid JSON
// is split between lines.
func parseJSON(in input) structure {
	if !json.Valid([]byte(in.text)) {
		return parseJSONLines(in)
	}
	w := jsonWalk{recordTree{in: in}}
	w.value(0, len(in.text), nil, 0)
	s := w.structure()
	s.description = describeJSON(in.text)
	return s
}

// parseJSONLines parses one value per line.
func parseJSONLines(in input) structure {
	w := jsonWalk{recordTree{in: in}}
	valid, at := 0, 0
	var first string
	for line := range strings.Lines(in.text) {
		start := at
		at += len(line)
		if body := strings.TrimSpace(line); body != "" && json.Valid([]byte(body)) && body[0] == '{' {
			if valid++; valid == 1 {
				first = body
			}
			w.record(start, at, start+strings.IndexByte(line, '{'), nil, 0)
		} else {
			w.add(start, at, nil, false)
		}
	}
	if valid == 0 {
		return parseSource(in)
	}
	s := w.structure()
	s.description = sentence.Clip(fmt.Sprintf("%d records with %s.", valid, strings.Join(jsonKeys(first), ", ")), maxAbstractRunes/2)
	return s
}

// describeJSON summarizes a value.
func describeJSON(text string) string {
	at := skipSpace(text, 0)
	if at == len(text) {
		return ""
	}
	head := ""
	switch text[at] {
	case '[':
		if at = skipSpace(text, at+1); at < len(text) && text[at] == '{' {
			head = "Records with "
		}
	case '{':
		head = "Holds "
	}
	keys := jsonKeys(text[at:])
	if head == "" || len(keys) == 0 {
		return ""
	}
	return sentence.Clip(head+strings.Join(keys, ", ")+".", maxAbstractRunes/2)
}

// jsonKeys returns the first keys of an object.
func jsonKeys(text string) []string {
	var keys []string
	for m := range members(text, 0) {
		if keys = append(keys, m.key); len(keys) == 20 {
			break
		}
	}
	return keys
}

// jsonWalk builds blocks from a valid value.
type jsonWalk struct{ recordTree }

// value adds text[start:end], which contains one value and the text around it.
func (w *jsonWalk) value(start, end int, path []string, depth int) {
	at := skipSpace(w.in.text, start)
	if at >= end || depth >= maxRecordDepth || !longerThan(w.in.text[start:end], w.in.max) || strings.IndexByte("{[", w.in.text[at]) < 0 {
		w.add(start, end, path, false)
		return
	}
	all := slices.Collect(members(w.in.text, at))
	from := start
	for i, m := range all {
		to := end
		if i+1 < len(all) {
			to = all[i+1].start
		}
		w.member(from, to, m, path, depth)
		from = to
	}
	w.add(from, end, path, false) // an empty object or list
}

// member adds a member of an object or a list.
func (w *jsonWalk) member(from, to int, m member, path []string, depth int) {
	switch {
	case m.key == "":
		w.record(from, to, m.value, path, depth+1)
	case longerThan(w.in.text[from:to], w.in.max):
		w.element(from, to, m.value, w.enter(m.key, m.start, path), depth+1)
	default:
		if depth == 0 {
			w.outline = append(w.outline, heading{sentence.Clip(m.key, maxName), 1, m.start})
		}
		w.add(from, to, path, false)
	}
}

// record adds a list element or a line. A record of at least half a chunk gets a section with its
// name.
func (w *jsonWalk) record(from, to, value int, path []string, depth int) {
	if size := utf8.RuneCountInString(w.in.text[from:to]); size >= w.in.target/2 {
		path = w.enter(recordName(w.in.text, value), value, path)
	}
	w.element(from, to, value, path, depth)
}

// element adds text[from:to], in which a value begins at value.
func (w *jsonWalk) element(from, to, value int, path []string, depth int) {
	if !longerThan(w.in.text[from:to], w.in.max) || depth >= maxRecordDepth || strings.IndexByte("{[", w.in.text[value]) < 0 {
		w.add(from, to, path, false)
		return
	}
	n := len(w.blocks)
	w.value(value, to, path, depth)
	if n < len(w.blocks) {
		w.blocks[n].Start = from
	}
}

// recordName returns the name of an object, or "".
func recordName(text string, at int) string {
	if at >= len(text) || text[at] != '{' {
		return ""
	}
	best, rank := "", len(nameKeys)
	n := 0
	for m := range members(text, at) {
		if n++; n > 30 {
			break
		}
		i := slices.Index(nameKeys[:], strings.ToLower(m.key))
		if i < 0 || i >= rank {
			continue
		}
		var v any
		end := skipValue(text, m.value)
		if end-m.value > 4*maxName+1000 || json.Unmarshal([]byte(text[m.value:end]), &v) != nil {
			continue
		}
		switch v := v.(type) {
		case string:
			best, rank = v, i
		case float64:
			best, rank = text[m.value:end], i
		}
	}
	return best
}
