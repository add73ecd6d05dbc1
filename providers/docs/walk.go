package docs

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// The default size limits of [Walk]: for text files, and for files that are converted to text,
// which contain more than their text.
const (
	DefaultMaxFileBytes    = 8 << 20
	DefaultMaxConvertBytes = 64 << 20
)

// WalkOptions select the files of a tree that are documents. The zero value works.
type WalkOptions struct {
	// Include and Exclude are patterns for paths relative to the root: "*" matches within an
	// element, "**" across elements, "{a,b}" alternatives. A pattern without a slash matches the
	// name at any depth. An empty Include means the names and extensions that [Prepare] and package
	// extract support. A nil Exclude means [DefaultExclude].
	Include, Exclude []string
	// MaxFileBytes is the maximum file size; default 8 MiB, and 64 MiB for converted files.
	MaxFileBytes int64
	// Hidden includes files and directories with a name that begins with a dot. The directory .git
	// is never entered.
	Hidden bool
	// NoIgnore disables .gitignore files.
	NoIgnore bool
	// WholePath, unless empty, is prepended to paths below the root before matching. Patterns then
	// have the syntax of a [SourceConfig]: "*" matches slashes, and an invalid pattern matches
	// nothing. Third-party code in a directory vendor is then included, too.
	WholePath string
	// Within, unless empty, lists the folders that may contain roots. A root must be below one of
	// them, and its path must have no links. Only files below that folder are opened, even if the
	// path changes between check and read.
	Within []string `json:",omitempty"`
	// LeftOut, unless nil, receives the counts of files that the walk skips without reporting.
	LeftOut *LeftOut `json:"-"`
	// OnDirectory, unless nil, is called with each directory before it is read.
	OnDirectory func(path string) `json:"-"`
}

// Walk yields the files under roots in the order of their paths. Each root is a directory or a
// file. Only files below the root, or below the folder in Within, are opened, even if links appear
// during the walk. Walk applies the .gitignore files of each root, below it, and above it up to the
// top of its git repository. It skips [Temporary] files and follows no links except a root itself.
// None of this applies to a root that is a file.
//
// A [*Skip] error concerns one path, and the walk continues: a link, a file that is too large, an
// unreadable directory, or a file of a second root with the id of an earlier one. Any other error
// ends the walk: a bad pattern, a missing or unreadable root, or the end of ctx. Files that the
// options exclude are only counted.
func Walk(ctx context.Context, roots []string, o WalkOptions) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		w := walker{ctx: ctx, opts: o, yield: yield, seen: make(map[string]bool)}
		if err := w.prepare(roots); err != nil {
			yield(File{}, err)
			return
		}
		for _, root := range roots {
			if !w.root(root) {
				return
			}
		}
	}
}

// walker is one walk. Its methods return false when the walk is over.
type walker struct {
	ctx   context.Context
	opts  WalkOptions
	rules *rules
	seen  map[string]bool // ids
	yield func(File, error) bool
}

// prepare reports errors that would end the walk before it begins.
func (w *walker) prepare(roots []string) error {
	if w.opts.LeftOut == nil {
		w.opts.LeftOut = new(LeftOut)
	}
	var err error
	if w.rules, err = compileRules(w.opts); err != nil {
		return err
	}
	for _, root := range roots {
		if _, err := w.opts.Stat(root); err != nil {
			return unreadable(root, err)
		}
	}
	return nil
}

func (w *walker) root(root string) bool {
	at, err := w.opts.locate(root)
	if err != nil {
		return w.fail(root, err)
	}
	info, err := at.stat()
	switch {
	case err != nil:
		return w.fail(root, err)
	case !info.IsDir():
		return w.file(at, filepath.Base(root), info)
	}
	dir, err := at.open()
	if err != nil {
		return w.fail(root, err)
	}
	defer dir.Close()
	var ignore *ignoreFile
	if !w.opts.NoIgnore {
		ignore = ignoresAbove(at.path())
	}
	return w.dir(folder{dir, at, ""}, ignore)
}

// folder is an open directory.
type folder struct {
	*os.Root

	at  rootedPath
	rel string // path relative to the root of the walk, with slashes
}

// below returns a path in the folder that can be opened later.
func (f folder) below(name string) rootedPath {
	return rootedPath{f.at.base, filepath.Join(f.at.rel, name)}
}

// dir walks a directory.
func (w *walker) dir(in folder, ignore *ignoreFile) bool {
	name := in.at.path()
	if w.opts.OnDirectory != nil {
		w.opts.OnDirectory(name)
	}
	entries, err := in.entries()
	switch {
	case err != nil && in.rel == "":
		return w.fail(name, err)
	case err != nil:
		return w.skip(name, reason(err))
	case !w.opts.NoIgnore:
		// Without the rules, ignored files could be included.
		if ignore, err = readIgnore(in.Root, in.rel, ignore); err != nil {
			return w.skip(name, "has a .gitignore that cannot be read ("+reason(err)+"); everything below is skipped")
		}
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			w.yield(File{}, err)
			return false
		}
		if !w.entry(in, e, ignore) {
			return false
		}
	}
	return true
}

// entries returns the entries of the folder, sorted by name.
func (f folder) entries() ([]fs.DirEntry, error) {
	d, err := f.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// enter walks a directory of a folder.
func (w *walker) enter(in folder, name, rel string, ignore *ignoreFile) bool {
	at := in.below(name)
	dir, err := openFolder(in.Root, name)
	if err != nil {
		return w.skip(at.path(), reason(err))
	}
	defer dir.Close()
	return w.dir(folder{dir, at, rel}, ignore)
}

func (w *walker) entry(in folder, e fs.DirEntry, ignore *ignoreFile) bool {
	at, rel := in.below(e.Name()), path.Join(in.rel, e.Name())
	switch {
	case w.omits(in, rel, e, ignore):
		return true
	case e.IsDir():
		return w.enter(in, e.Name(), rel, ignore)
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(in, e.Name(), rel)
	case !e.Type().IsRegular():
		return true
	case !w.rules.accepts(rel):
		w.opts.LeftOut.file(e.Name())
		return true
	}
	info, err := in.Lstat(e.Name())
	if err != nil {
		return w.skip(at.path(), reason(err))
	}
	return w.file(at, rel, info)
}

// omits reports whether an entry is skipped whatever its type, and counts it.
func (w *walker) omits(in folder, rel string, e fs.DirEntry, ignore *ignoreFile) bool {
	switch {
	case e.Name() == ".git", e.Name() == ".gitignore" && !w.opts.Hidden:
	case strings.HasPrefix(e.Name(), ".") && !w.opts.Hidden:
		w.opts.LeftOut.Hidden++
	case ignore.ignored(rel, e.IsDir()):
		w.opts.LeftOut.Ignored++
	case !e.IsDir() && Temporary(e.Name()):
		w.opts.LeftOut.Excluded++
	case e.IsDir() && (w.rules.excludesDir(rel) || w.opts.WholePath == "" && isVendored(in, e.Name())), !e.IsDir() && w.rules.excludes(rel):
		w.opts.LeftOut.Excluded++
	default:
		return false
	}
	return true
}

// link reports a link that would have been included as a file, leads to a directory or is broken.
func (w *walker) link(in folder, name, rel string) bool {
	info, err := in.Stat(name)
	if w.rules.accepts(rel) || err != nil || info.IsDir() {
		return w.skip(in.below(name).path(), "is a symbolic link; links are not followed")
	}
	return true
}

func (w *walker) file(at rootedPath, id string, info fs.FileInfo) bool {
	name := at.path()
	f := File{ExternalID: id, Path: name, Info: info, at: at, limit: w.rules.limit(id), rules: w.rules}
	switch {
	case !info.Mode().IsRegular():
		return w.skip(name, "is not a regular file")
	case info.Size() > f.limit:
		return w.skip(name, tooBig(info.Size(), f.limit).Error())
	case !utf8.ValidString(id):
		return w.skip(name, "has a name that is not UTF-8; rename it")
	case w.seen[id]:
		return w.skip(name, "has the same path below its root as an earlier file; ingest the roots one by one")
	}
	w.seen[id] = true
	return w.yield(f, nil)
}

func (w *walker) skip(name, why string) bool {
	return w.yield(File{}, &Skip{Path: name, Reason: why})
}

// fail ends the walk at an unreadable root. Files below it are not gone; their state is unknown.
func (w *walker) fail(root string, err error) bool {
	w.yield(File{}, unreadable(root, err))
	return false
}

func unreadable(root string, err error) error {
	return ragctx.Invalid("path", "%q cannot be read (%s); name a readable file or directory", ragctx.Clip(root), reason(err))
}

// isVendored reports whether a directory has third-party code maintained by a package manager. The
// name alone is not sufficient.
func isVendored(in folder, name string) bool {
	if name != "vendor" {
		return false
	}
	for _, mark := range [...]string{"modules.txt", "autoload.php"} {
		if _, err := in.Lstat(filepath.Join(name, mark)); err == nil {
			return true
		}
	}
	return false
}
