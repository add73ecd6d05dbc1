package docs

import "github.com/ragctx/ragctx/passage"

// Section is a part of a document under a heading, or a declaration in code.
type Section = passage.Section

// heading is a heading as a parser finds it.
type heading struct {
	title string
	level int
	start int
}

// outlineOf returns the sections of headings in the order of the text: each
// ends where a heading of its level or above begins.
func outlineOf(hs []heading, end int) []Section {
	sections := make([]Section, len(hs))
	var open []int
	for i, h := range hs {
		for len(open) > 0 && hs[open[len(open)-1]].level >= h.level {
			sections[open[len(open)-1]].End = h.start
			open = open[:len(open)-1]
		}
		sections[i] = Section{Title: h.title, Level: h.level, Start: h.start, End: end}
		open = append(open, i)
	}
	return sections
}
