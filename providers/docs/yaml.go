package docs

import (
	"strings"
	"unicode/utf8"
)

// yamlWalk splits documents by the indentation of their lines.
type yamlWalk struct {
	recordTree
	lines []codeLine
}

// parseYAML parses documents of keys and lists. A document that is too long for a chunk is split at
// its keys and items, as in JSON. A comment is joined with the next member. Multi-line values are
// not split.
func parseYAML(in input) structure {
	w := yamlWalk{recordTree{in: in}, codeLines(in.text)}
	begin := 0
	for i := range w.lines {
		if l := w.lines[i]; i > begin && l.indent == 0 && (l.body == "---" || strings.HasPrefix(l.body, "--- ")) {
			w.document(begin, i)
			begin = i
		}
	}
	w.document(begin, len(w.lines))
	s := w.structure()
	s.description = firstSentences(w.comment())
	return s
}

// comment returns the comment at the beginning of the file, unless it is a license.
func (w *yamlWalk) comment() string {
	var b strings.Builder
	for _, l := range w.lines[:min(len(w.lines), 60)] {
		text, ok := strings.CutPrefix(l.body, "#")
		if !ok {
			break
		}
		b.WriteString(strings.TrimSpace(strings.Trim(text, "#-=")) + "\n")
	}
	if text := strings.TrimSpace(b.String()); !isLicense(text) {
		return text
	}
	return ""
}

func (w *yamlWalk) offset(i int) int {
	if i < len(w.lines) {
		return w.lines[i].start
	}
	return len(w.in.text)
}

// long reports whether lines are too long for a chunk.
func (w *yamlWalk) long(from, to int) bool {
	return longerThan(w.in.text[w.offset(from):w.offset(to)], w.in.max)
}

// document adds one document, under its name if it has one.
func (w *yamlWalk) document(from, to int) {
	var path []string
	if name := w.name(from, to, 0); name != "" && (from > 0 || to < len(w.lines)) {
		path = w.enter(name, w.offset(from), nil)
	}
	if !w.long(from, to) {
		w.add(w.offset(from), w.offset(to), path, true)
		if len(path) == 0 {
			w.addOutline(from, to)
		}
		return
	}
	w.members(from, from, to, path, 0)
}

// addOutline adds the outermost keys of lines to the outline.
func (w *yamlWalk) addOutline(from, to int) {
	for i := from; i < to; i++ {
		if key := yamlKey(w.lines[i].body); key != "" && w.lines[i].indent == 0 {
			w.outline = append(w.outline, heading{key, 1, w.offset(i)})
		}
	}
}

// members adds the members in lines[from:to]. The text from line start on is joined with the first.
func (w *yamlWalk) members(start, from, to int, path []string, depth int) {
	base, list := w.base(from, to)
	if base < 0 || depth >= maxRecordDepth {
		w.add(w.offset(start), w.offset(to), path, false)
		return
	}
	first := -1 // line of the current member
	begin := start
	for i := from; i < to; i++ {
		if l := w.lines[i]; l.indent == base && !yamlComment(l.body) && list == yamlItem(l.body) {
			if next := w.comments(i, max(first+1, from)); first >= 0 {
				w.member(begin, first, next, path, depth)
				begin = next
			}
			first = i
		}
	}
	w.member(begin, first, to, path, depth)
}

// base returns the smallest indentation of lines, and whether their first member is a list item.
// The indentation is -1 if there are no members.
func (w *yamlWalk) base(from, to int) (base int, list bool) {
	base = -1
	for _, l := range w.lines[from:to] {
		if l.indent >= 0 && !yamlComment(l.body) && (base < 0 || l.indent < base) {
			base, list = l.indent, yamlItem(l.body)
		}
	}
	return base, list
}

// comments returns the first comment line directly above line i.
func (w *yamlWalk) comments(i, from int) int {
	for i > from && strings.HasPrefix(w.lines[i-1].body, "#") {
		i--
	}
	return i
}

// member adds the member with its key or item on line first, and the lines before it from begin on.
func (w *yamlWalk) member(begin, first, to int, path []string, depth int) {
	l := &w.lines[first]
	size := utf8.RuneCountInString(w.in.text[w.offset(begin):w.offset(to)])
	key := yamlKey(l.body)
	switch {
	case yamlItem(l.body):
		// After the dash the item's own members begin.
		body := strings.TrimLeft(l.body[1:], " ")
		l.indent += len(l.body) - len(body)
		l.body = body
		if size >= w.in.target/2 {
			path = w.enter(w.name(first, to, l.indent), w.offset(begin), path)
		}
		if size > w.in.max && yamlKey(body) != "" {
			w.members(begin, first, to, path, depth+1)
			return
		}
	case size > w.in.max && key != "":
		path = w.enter(key, w.offset(begin), path)
		if !scalarFollows(l.body) {
			w.members(begin, first+1, to, path, depth+1)
			return
		}
	case len(path) == 0 && key != "":
		w.outline = append(w.outline, heading{key, 1, w.offset(begin)})
	}
	w.add(w.offset(begin), w.offset(to), path, false)
}

// name returns the name of the value, from its members at an indentation. For a Kubernetes resource
// it is the kind and name.
func (w *yamlWalk) name(from, to, indent int) string {
	best, rank := "", len(nameKeys)
	kind, inner, metadata := "", "", false
	for _, l := range w.lines[from:min(to, from+200)] {
		key := yamlKey(l.body)
		if key == "" || l.indent < 0 {
			continue
		}
		value := scalar(strings.TrimSpace(l.body[strings.IndexByte(l.body, ':')+1:]))
		if l.indent == indent {
			metadata = key == "metadata"
			if key == "kind" {
				kind = value
			}
			for i, k := range nameKeys[:min(rank, len(nameKeys))] {
				if k == key && value != "" && len(value) <= 4*maxName {
					best, rank = value, i
				}
			}
		} else if metadata && key == "name" && inner == "" {
			inner = value
		}
	}
	if kind != "" && inner != "" {
		return kind + " " + inner
	}
	return best
}

func yamlComment(body string) bool {
	return strings.HasPrefix(body, "#") || strings.HasPrefix(body, "---") || body == "..." || strings.HasPrefix(body, "%")
}

func yamlItem(body string) bool { return body == "-" || strings.HasPrefix(body, "- ") }

// yamlKey returns the key of a line such as "key: value", or "".
func yamlKey(body string) string {
	body = strings.TrimPrefix(body, "- ")
	if body == "" || strings.IndexByte("#{[&*!|>%@`", body[0]) >= 0 {
		return ""
	}
	i := strings.Index(body, ": ")
	if i < 0 {
		if !strings.HasSuffix(body, ":") {
			return ""
		}
		i = len(body) - 1
	}
	if i > maxName {
		return ""
	}
	return strings.ToValidUTF8(unquote(body[:i]), "")
}

// scalarFollows reports whether the value of a key is multi-line text.
func scalarFollows(body string) bool {
	_, value, _ := strings.Cut(body, ":")
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") || strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'")
}
