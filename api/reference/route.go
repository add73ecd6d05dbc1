package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxExample limits the length of an example.
const maxExample = 3000

// manyTypes is how many media types of a body are listed.
const manyTypes = 4

func (w *writer) route(r route) {
	w.line("## %s", r.name())
	w.line("%s", strings.TrimSpace(sentence(r.Summary)+" "+r.Description))
	w.parameters(r.Parameters)
	w.bodies("Body", r.RequestBody.Content)
	for _, sample := range r.Samples {
		w.line("Example:")
		w.code(sample.Source)
	}
	for _, status := range slices.Sorted(maps.Keys(r.Responses)) {
		w.answer(status, r.Responses[status])
	}
}

// sentence returns a heading with a period.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, "?") || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

func (w *writer) parameters(all []parameter) {
	if len(all) == 0 {
		return
	}
	w.table("parameter", "in", "type", "")
	for _, p := range all {
		name := "`" + p.Name + "`"
		if p.Required {
			name += " (required)"
		}
		w.row(name, p.In, p.Schema.kind(), p.Description+p.Schema.limits())
	}
}

// bodies writes the media types of a request or an answer.
func (w *writer) bodies(what string, content map[string]media) {
	types := slices.Sorted(maps.Keys(content))
	var named []string
	for i, t := range types {
		if i == manyTypes {
			named = append(named, fmt.Sprintf("and %d more types", len(types)-i))
			break
		}
		text := "`" + t + "`"
		if kind := content[t].Schema.kind(); kind != "" && kind != "text" {
			text = kind + " as " + text
		}
		named = append(named, text)
	}
	if len(named) > 0 {
		w.line("%s: %s.", what, strings.Join(named, ", "))
	}
}

func (w *writer) answer(status string, r response) {
	if status == "default" {
		w.line("Errors are a [Problem](%s#problem).", schemasPage)
		return
	}
	if len(r.Content) == 0 {
		w.line("Answer %s: no body.", status)
	}
	w.bodies("Answer "+status, r.Content)
	for _, t := range slices.Sorted(maps.Keys(r.Content)) {
		if e := r.Content[t].Example; e != nil {
			w.code(shown(e))
		}
	}
}

// shown returns an example formatted for people.
func shown(e json.RawMessage) string {
	var text string
	if json.Unmarshal(e, &text) != nil {
		var b bytes.Buffer
		if json.Indent(&b, e, "", "  ") != nil {
			return string(e)
		}
		text = b.String()
	}
	if len(text) > maxExample {
		text = strings.ToValidUTF8(text[:maxExample], "") + "…"
	}
	return text
}
