package docs

import (
	"strings"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// parseSections parses settings under bracketed headers: TOML and INI. A comment is joined with the
// next setting.
func parseSections(in input) structure {
	lines := codeLines(in.text)
	w := sectionWalk{lines}
	s := structure{description: firstSentences((&yamlWalk{lines: lines}).comment())}
	s.arrange(in, w.units(), nil)
	s.title, s.rest = "", nil // no section title describes the whole file
	if names := topTitles(s.outline, ""); s.description == "" && len(names) > 0 {
		s.description = sentence.Clip("Settings of "+strings.Join(names, ", ")+".", maxAbstractRunes/2)
	}
	return s
}

type sectionWalk struct{ lines []codeLine }

// units returns the headers and the paragraphs of settings as units.
func (w *sectionWalk) units() []unit {
	var units []unit
	comment := -1 // first line of the preceding comment
	open := false // the next line continues a unit
	for i, l := range w.lines {
		title, level := w.header(i)
		switch {
		case title != "":
			start := i
			if comment >= 0 {
				start = comment
			}
			units = append(units, unit{start: w.lines[start].start, kind: unitHeading, level: level, title: title})
			comment, open = -1, false
			continue
		case l.indent < 0:
			open = false
			continue
		case l.body[0] == '#' || l.body[0] == ';':
			if comment < 0 {
				comment = i
			}
			continue
		}
		start := i
		if comment >= 0 {
			start = comment
		}
		if !open {
			units = append(units, unit{start: w.lines[start].start, kind: unitCode})
		}
		comment, open = -1, true
	}
	if comment >= 0 {
		units = append(units, unit{start: w.lines[comment].start})
	}
	return units
}

// header returns the title and level of a header at line i, or "". [a.b] is below [a]. The title of
// a list item, [[a]], includes its name.
func (w *sectionWalk) header(i int) (title string, level int) {
	l := w.lines[i]
	if l.indent != 0 || l.body[0] != '[' {
		return "", 0
	}
	end := strings.LastIndexByte(l.body, ']')
	if after := strings.TrimSpace(l.body[end+1:]); end < 2 || after != "" && after[0] != '#' && after[0] != ';' {
		return "", 0
	}
	name := strings.TrimSpace(strings.Trim(l.body[:end+1], "[] "))
	if name == "" || strings.ContainsAny(name, ",[]{}") || longerThan(name, maxTitleRunes) {
		return "", 0
	}
	level = 1 + strings.Count(name, ".")
	if strings.ContainsAny(name, `"'/ `) {
		level = 1
	}
	if strings.HasPrefix(l.body, "[[") {
		if own := w.name(i + 1); own != "" {
			name += " " + own
		}
	}
	return sentence.Clip(name, maxTitleRunes), level
}

// name returns the name of an item from its first settings, from line i on.
func (w *sectionWalk) name(i int) string {
	for _, l := range w.lines[i:min(len(w.lines), i+10)] {
		if strings.HasPrefix(l.body, "[") {
			return ""
		}
		key, value, ok := strings.Cut(l.body, "=")
		if key = strings.TrimSpace(key); ok && (key == "name" || key == "title" || key == "id") {
			return unquote(value)
		}
	}
	return ""
}
