package docs

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx/providers/docs/extract"
)

// DefaultExclude returns the patterns of directories and files that tools generate. A directory
// vendor that a package manager maintains is excluded, too.
func DefaultExclude() []string {
	return []string{"**/node_modules/**", "**/target/**", "**/dist/**", "**/build/**", "*.lock", "package-lock.json"}
}

// Temporary reports whether a name belongs to a temporary file of an editor or office program, a
// partial download, or a lock.
func Temporary(name string) bool {
	for _, prefix := range [...]string{".#", "~$", ".goutputstream-", ".~lock."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range [...]string{"~", ".swp", ".swo", ".swx", ".tmp", "___jb_tmp___", "___jb_old___", ".crdownload", ".part"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return name == "4913" || len(name) > 1 && name[0] == '#' && name[len(name)-1] == '#'
}

// types are the file types that are accepted by default, by name and extension.
type types struct {
	names   []string // patterns of names
	exts    []string
	known   map[string]bool
	convert []string // extensions of converted files, with dot
}

func newTypes() types {
	t := types{names: slices.Clone(documentationFiles), known: make(map[string]bool)}
	for _, f := range formats {
		t.names = append(t.names, f.names...)
		t.exts = append(t.exts, f.extensions...)
	}
	for _, ext := range extract.Extensions() {
		t.convert = append(t.convert, "."+ext)
		if !slices.Contains(t.exts, ext) {
			t.exts = append(t.exts, ext)
		}
	}
	for _, ext := range t.exts {
		t.known["."+ext] = true
	}
	return t
}

// accepts reports whether a file name is accepted. The case of the extension does not matter.
func (t types) accepts(name string) bool {
	return t.known[strings.ToLower(path.Ext(name))] || t.converts(name) || t.named(name)
}

// named reports whether a file is known by its whole name.
func (t types) named(name string) bool {
	return slices.ContainsFunc(t.names, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// converts reports whether a file must be converted to text.
func (t types) converts(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(t.convert, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// rules select files by their paths below the root.
type rules struct {
	types            types
	include, exclude globs
	byType           bool // there are no include patterns
	// insideByType says that all include patterns are names of archives.
	insideByType bool
	hidden       bool
	maxBytes     int64
	// base is prepended to paths before matching: the path of the root if patterns match whole
	// paths, otherwise "".
	base string
}

func compileRules(o WalkOptions) (*rules, error) {
	exclude := o.Exclude
	if exclude == nil {
		exclude = DefaultExclude()
	}
	r := &rules{types: newTypes(), byType: len(o.Include) == 0, insideByType: true, hidden: o.Hidden, maxBytes: o.MaxFileBytes}
	if o.WholePath != "" {
		r.base = strings.TrimSuffix(filepath.ToSlash(o.WholePath), "/") + "/"
		r.include, r.exclude, r.insideByType = wholeGlobs(o.Include), wholeGlobs(exclude), false
		return r, nil
	}
	var err error
	if r.include, err = compileGlobs("include", o.Include); err != nil {
		return nil, err
	}
	r.exclude, err = compileGlobs("exclude", exclude)
	for _, p := range o.Include {
		r.insideByType = r.insideByType && namesArchives(p)
	}
	return r, err
}

// namesArchives reports whether a pattern matches only archives and mails.
func namesArchives(pattern string) bool {
	g, err := compileGlobs("include", []string{path.Base(pattern)})
	if err != nil || g.match("x.md") {
		return false
	}
	for _, ext := range extract.Extensions() {
		if name := "x." + ext; extract.Holds(name) && g.match(name) {
			return true
		}
	}
	return extract.Holds(pattern)
}

// limit returns the maximum size of a file with this name.
func (r *rules) limit(name string) int64 {
	byDefault := int64(DefaultMaxFileBytes)
	if r.types.converts(name) {
		byDefault = DefaultMaxConvertBytes
	}
	return cmp.Or(max(r.maxBytes, 0), byDefault)
}

// accepts reports whether the type of a file is accepted.
func (r *rules) accepts(rel string) bool {
	if r.byType {
		return r.types.accepts(path.Base(rel))
	}
	return r.include.match(r.base + rel)
}

// excludes reports whether a pattern excludes a file.
func (r *rules) excludes(rel string) bool { return r.exclude.match(r.base + rel) }

// excludesDir reports whether a pattern excludes a directory or everything in it.
func (r *rules) excludesDir(rel string) bool { return r.exclude.matchDir(r.base + rel) }

// acceptsInside reports whether a file at a path inside another file is accepted. For patterns, an
// archive is a directory. If all include patterns name archives, files inside are accepted by type.
func (r *rules) acceptsInside(file, inside string) bool {
	if inside == "" {
		return true
	}
	rel := path.Join(file, inside)
	for i, c := range inside + "/" {
		if c != '/' {
			continue
		}
		at := path.Join(file, inside[:i])
		if strings.HasPrefix(path.Base(at), ".") && !r.hidden || i < len(inside) && r.excludesDir(at) {
			return false
		}
	}
	if r.excludes(rel) {
		return false
	}
	return r.accepts(rel) || r.insideByType && r.types.accepts(path.Base(rel))
}

// Selects returns a function that reports whether the patterns accept a path that is not a file
// path, such as the path of a web page. Without include patterns every path is accepted.
// [DefaultExclude] is not applied, because it is about folders.
func (o WalkOptions) Selects() (func(rel string) bool, error) {
	o.Exclude = slices.DeleteFunc(append([]string{}, o.Exclude...), func(p string) bool { return slices.Contains(DefaultExclude(), p) })
	r, err := compileRules(o)
	if err != nil {
		return nil, err
	}
	return func(rel string) bool { return (r.byType || r.include.match(rel)) && !r.exclude.match(rel) }, nil
}
