package docs

import (
	"path"
	"strings"
	"unicode"
)

// LeftOut counts what a walk did not take and said nothing of. A folder counts
// once, whatever is in it.
type LeftOut struct {
	// Types counts files whose type is not taken, by their extension in lower case
	// and without the dot; "" is none, "*" all others where there are too many.
	Types map[string]int `json:"types,omitempty"`
	// Hidden, Ignored and Excluded count files and folders whose names begin with a
	// dot, that git ignores, and that a pattern excludes.
	Hidden   int `json:"hidden,omitempty"`
	Ignored  int `json:"ignored,omitempty"`
	Excluded int `json:"excluded,omitempty"`
}

// maxLeftTypes bounds the extensions that are counted apart.
const maxLeftTypes = 100

// Add adds what another walk left out.
func (l *LeftOut) Add(o LeftOut) {
	for ext, n := range o.Types {
		l.add(ext, n)
	}
	l.Hidden, l.Ignored, l.Excluded = l.Hidden+o.Hidden, l.Ignored+o.Ignored, l.Excluded+o.Excluded
}

func (l *LeftOut) add(ext string, n int) {
	if l.Types == nil {
		l.Types = make(map[string]int)
	}
	if _, ok := l.Types[ext]; !ok && len(l.Types) >= maxLeftTypes {
		ext = "*"
	}
	l.Types[ext] += n
}

// file counts a file whose type is not taken.
func (l *LeftOut) file(name string) {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if len(ext) > 16 || strings.ContainsFunc(ext, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		ext = "" // a dot, but not of an extension
	}
	l.add(ext, 1)
}
