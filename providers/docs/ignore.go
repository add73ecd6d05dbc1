package docs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	re      *regexp.Regexp
	negate  bool // "!": includes files that an earlier rule ignored
	dirOnly bool
}

// ignoreFile has the rules of one directory and, through parent, of the directories above.
type ignoreFile struct {
	dir string // relative to the root; "" for the root and the directories above
	// above is the path from the directory of the rules to the root, if the directory is above the
	// root.
	above  string
	rules  []ignoreRule
	parent *ignoreFile
}

// Ignored returns a function that reports whether .gitignore files exclude a slash-separated path
// below root. It reads each .gitignore file once and is not safe for concurrent use. It does not
// apply the other rules of [Walk].
func Ignored(root string) func(rel string) bool {
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	known := map[string]*ignoreFile{"": rulesOf(root, "", ignoresAbove(root))}
	return func(rel string) bool {
		f := known[""]
		for i := range len(rel) {
			if rel[i] != '/' {
				continue
			}
			dir := rel[:i]
			if f.ignored(dir, true) {
				return true
			}
			if _, ok := known[dir]; !ok {
				known[dir] = rulesOf(root, dir, f)
			}
			f = known[dir]
		}
		return f.ignored(rel, false)
	}
}

// ignoresAbove returns the rules of the directories above root, from the top of its git repository,
// or nil outside of a repository.
func ignoresAbove(root string) *ignoreFile {
	top, above := root, ""
	for !exists(filepath.Join(top, ".git")) {
		if top == filepath.Dir(top) {
			return nil
		}
		above = path.Join(filepath.Base(top), above)
		top = filepath.Dir(top)
	}
	var f *ignoreFile
	for dir := top; above != ""; {
		if g := rulesOf(dir, "", f); g != f {
			g.above, f = above, g
		}
		var name string
		name, above, _ = strings.Cut(above, "/")
		dir = filepath.Join(dir, name)
	}
	return f
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// readIgnore adds the rules of a directory to the rules of its parents. rel is the directory's path
// relative to the root. An error means that rules exist but cannot be read.
func readIgnore(dir *os.Root, rel string, parent *ignoreFile) (*ignoreFile, error) {
	b, err := readRegular(dir, ignoreName, maxIgnoreBytes)
	return withRules(b, err, rel, parent)
}

// The name of rule files, and the limit of their size.
const (
	ignoreName     = ".gitignore"
	maxIgnoreBytes = 1 << 20
)

func withRules(b []byte, err error, rel string, parent *ignoreFile) (*ignoreFile, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return parent, nil
	case err != nil:
		return parent, err
	}
	return parseIgnore(rel, string(b), parent), nil
}

// rulesOf is like [readIgnore], but takes a path below root and ignores rules that cannot be read.
func rulesOf(root, rel string, parent *ignoreFile) *ignoreFile {
	b, err := rootedPath{root, filepath.Join(filepath.FromSlash(rel), ignoreName)}.read(maxIgnoreBytes)
	f, _ := withRules(b, err, rel, parent)
	return f
}

// parseIgnore parses a .gitignore file by the rules of gitignore(5). An invalid pattern matches
// nothing, as in git.
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
		line = "**/" + line // a pattern without a slash matches at any depth
	}
	expr, problem := globExpr(strings.TrimPrefix(line, "/"), false)
	if problem != "" {
		return ignoreRule{}, false
	}
	re, err := regexp.Compile(expr)
	r.re = re
	return r, err == nil
}

// ignored reports whether a path relative to the root is ignored. It does not check the parents,
// because the walk does not enter ignored directories. The last matching rule decides; rules in the
// nearest file come first.
func (f *ignoreFile) ignored(rel string, dir bool) bool {
	for ; f != nil; f = f.parent {
		name := path.Join(f.above, rel)
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
