package docs

import (
	"path"
	"strings"
	"unicode"
)

// LeftOut counts the files that a walk skipped without reporting them. A folder counts once,
// whatever it contains.
type LeftOut struct {
	// Types counts files of unsupported types by extension, in lower case without the dot. "" is no
	// extension; "*" collects the rest if there are too many.
	Types map[string]int `json:"types,omitempty"`
	// Hidden counts files and folders with a name that begins with a dot, Ignored those that
	// .gitignore files exclude, and Excluded those that a pattern excludes.
	Hidden   int `json:"hidden,omitempty"`
	Ignored  int `json:"ignored,omitempty"`
	Excluded int `json:"excluded,omitempty"`
}

// maxLeftTypes is the maximum number of extensions that are counted separately.
const maxLeftTypes = 100

// Add adds the counts of another walk.
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

// file counts a file of an unsupported type.
func (l *LeftOut) file(name string) {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if len(ext) > 16 || strings.ContainsFunc(ext, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		ext = "" // the dot does not begin an extension
	}
	l.add(ext, 1)
}
