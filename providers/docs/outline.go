package docs

import (
	"slices"

	"github.com/ragctx/ragctx/internal/passage"
)

// heading is a heading found by a parser.
type heading struct {
	title string
	level int
	start int
}

// outlineOf returns the sections of headings in text order. A section ends at the next heading of
// the same or a higher level. A heading without a title only ends sections.
func outlineOf(hs []heading, end int) []passage.Section {
	sections := make([]passage.Section, 0, len(hs))
	var open []int
	for _, h := range hs {
		for len(open) > 0 && sections[open[len(open)-1]].Level >= h.level {
			sections[open[len(open)-1]].End = h.start
			open = open[:len(open)-1]
		}
		if h.title != "" {
			open = append(open, len(sections))
			sections = append(sections, passage.Section{Title: h.title, Level: h.level, Start: h.start, End: end})
		}
	}
	return sections
}

// topLevel returns the smallest level of the sections, or 1 without sections.
func topLevel(sections []passage.Section) int {
	if len(sections) == 0 {
		return 1
	}
	return slices.MinFunc(sections, func(a, b passage.Section) int { return a.Level - b.Level }).Level
}

// topTitles returns the titles of the first outermost sections, except but.
func topTitles(sections []passage.Section, but string) []string {
	var titles []string
	top := topLevel(sections)
	for _, s := range sections {
		if s.Level == top && s.Title != but {
			if titles = append(titles, s.Title); len(titles) == maxTopTitles {
				break
			}
		}
	}
	return titles
}

// maxTopTitles is the maximum number of sections that summarize a document.
const maxTopTitles = 8
