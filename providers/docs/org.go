package docs

import (
	"regexp"
	"strings"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// orgWalk finds the units of org-mode line by line.
type orgWalk struct {
	lines []codeLine
	units []unit
	s     structure
}

// parseOrg parses org-mode.
func parseOrg(in input) structure {
	w := orgWalk{lines: codeLines(in.text)}
	w.s.plain = plainOrg
	for i := 0; i < len(w.lines); {
		if w.lines[i].body == "" {
			i++
			continue
		}
		i = w.next(i)
	}
	w.s.arrange(in, w.units, markdownRows)
	return w.s
}

func (w *orgWalk) add(i int, u unit) {
	u.start = w.lines[i].start
	w.units = append(w.units, u)
}

// next reads the unit at line i and returns the line after it.
func (w *orgWalk) next(i int) int {
	l := w.lines[i]
	if level, title := orgHeading(l); level > 0 {
		w.add(i, unit{kind: unitHeading, level: level, title: title})
		return i + 1
	}
	lower := strings.ToLower(l.body[:min(len(l.body), maxFence)])
	switch {
	case strings.HasPrefix(lower, "#+begin_"):
		return w.enclosed(i, "#+end_"+firstWord(lower[len("#+begin_"):]))
	case strings.HasPrefix(lower, "#+"):
		w.keyword(l.body)
	case l.body[0] == ':' && fieldOf(l.body) != "" && strings.HasSuffix(l.body, ":"):
		return w.enclosed(i, ":end:")
	case l.body[0] == '|':
		w.add(i, unit{kind: unitTable})
		return w.while(i+1, func(l codeLine) bool { return strings.HasPrefix(l.body, "|") })
	case strings.HasPrefix(l.body, ": "):
		w.add(i, unit{kind: unitCode})
		return w.while(i+1, func(l codeLine) bool { return strings.HasPrefix(l.body, ":") })
	case l.body[0] == '#':
	default:
		u := unit{kind: unitProse}
		item := rstItem(l.body)
		if item || l.indent > 0 {
			u.kind = unitOther
		}
		w.add(i, u)
		return w.while(i+1, func(l codeLine) bool {
			level, _ := orgHeading(l)
			return l.body != "" && level == 0 && !strings.HasPrefix(l.body, "#+") && !(item && rstItem(l.body))
		})
	}
	w.add(i, unit{})
	return i + 1
}

// while returns the first line from i on for which goesOn returns false.
func (w *orgWalk) while(i int, goesOn func(codeLine) bool) int {
	for i < len(w.lines) && goesOn(w.lines[i]) {
		i++
	}
	return i
}

// enclosed reads a block up to its end line. Without an end line it reads only the first line.
func (w *orgWalk) enclosed(i int, end string) int {
	u := unit{kind: unitCode}
	if end == ":end:" || strings.HasSuffix(end, "quote") || strings.HasSuffix(end, "comment") {
		u.kind = unitOther
	}
	w.add(i, u)
	for j := i + 1; j < len(w.lines) && j < i+maxEnclosed; j++ {
		if len(w.lines[j].body) <= maxFence && strings.EqualFold(w.lines[j].body, end) {
			return j + 1
		}
	}
	return i + 1
}

// maxEnclosed is the number of lines in which the end of a block is searched.
const maxEnclosed = 2000

// keyword reads a line such as "#+TITLE: x".
func (w *orgWalk) keyword(body string) {
	name, value, _ := strings.Cut(body[2:], ":")
	value = strings.TrimSpace(value)
	switch strings.ToLower(name) {
	case "title":
		w.s.title = plainOrg(sentence.Clip(value, maxTitleRunes))
	case "description", "subtitle":
		w.s.description = plainOrg(sentence.Clip(value, maxAbstractRunes/2))
	case "filetags":
		for t := range strings.SplitSeq(strings.Trim(value, ":"), ":") {
			w.s.tags = append(w.s.tags, strings.TrimSpace(t))
		}
	case "keywords":
		w.s.tags = append(w.s.tags, inlineList(value)...)
	}
}

// orgMarks matches the keyword, priority and tags around the title of a heading.
var orgMarks = regexp.MustCompile(`^(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z]\]\s+)?(.*?)(?:\s+:[\w@:]+:)?$`)

// orgHeading returns the level and title of a heading such as "** Title". The level of other lines
// is 0.
func orgHeading(l codeLine) (int, string) {
	if l.indent != 0 || l.body[0] != '*' {
		return 0, ""
	}
	rest := strings.TrimLeft(l.body, "*")
	level := len(l.body) - len(rest)
	if level > 20 || !strings.HasPrefix(rest, " ") {
		return 0, ""
	}
	title := orgMarks.ReplaceAllString(sentence.Clip(strings.TrimSpace(rest), maxTitleRunes), "$1")
	if title = plainOrg(title); title == "" {
		return 0, ""
	}
	return level, title
}
