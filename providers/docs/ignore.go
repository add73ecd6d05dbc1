package docs

import (
	"regexp"
	"slices"
	"strings"
)

// ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	re      *regexp.Regexp
	negate  bool // "!": what matched before is not ignored after all
	dirOnly bool
}

// ignoreFile is the rules of one directory, with those of the directories above.
type ignoreFile struct {
	dir    string // relative to the root, "" for the root itself
	rules  []ignoreRule
	parent *ignoreFile
}

// parseIgnore reads a .gitignore file by the rules of gitignore(5). A line that
// is not a pattern matches nothing, as in git.
func parseIgnore(dir, text string, parent *ignoreFile) *ignoreFile {
	f := &ignoreFile{dir: dir, parent: parent}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseRule(line); ok {
			f.rules = append(f.rules, r)
		}
	}
	if len(f.rules) == 0 {
		return parent
	}
	return f
}

func parseRule(line string) (ignoreRule, bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	line, r.negate = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if !strings.Contains(line, "/") {
		line = "**/" + line // without a slash it holds at any depth
	}
	expr, problem := globExpr(strings.TrimPrefix(line, "/"), false)
	if problem != "" {
		return ignoreRule{}, false
	}
	re, err := regexp.Compile(expr)
	r.re = re
	return r, err == nil
}

// ignored reports whether a path relative to the root is ignored. Parents are
// checked by the walk, which does not enter ignored directories. The last rule
// that matches decides, the nearest file first.
func (f *ignoreFile) ignored(rel string, dir bool) bool {
	for ; f != nil; f = f.parent {
		name := rel
		if f.dir != "" {
			name = strings.TrimPrefix(rel, f.dir+"/")
		}
		for _, r := range slices.Backward(f.rules) {
			if (dir || !r.dirOnly) && r.re.MatchString(name) {
				return !r.negate
			}
		}
	}
	return false
}
