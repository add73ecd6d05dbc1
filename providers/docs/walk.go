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

// The largest files that [Walk] yields by default: of what is text already, and
// of what is converted, which has more in it than its text.
const (
	DefaultMaxFileBytes    = 8 << 20
	DefaultMaxConvertBytes = 64 << 20
)

// WalkOptions say which files of a tree are documents. The zero value works.
type WalkOptions struct {
	// Include and Exclude are patterns over paths relative to the root: "*"
	// within an element, "**" across, "{a,b}" alternatives; a pattern without a
	// slash matches the name at any depth. None to include means
	// the names and extensions that [Prepare] and package extract read well; nil to
	// exclude means [DefaultExclude].
	Include, Exclude []string
	// MaxFileBytes is the largest file taken; default 8 MiB, and 64 MiB of what is
	// converted.
	MaxFileBytes int64
	// Hidden takes files and directories whose names begin with a dot too. The
	// directory .git is never entered.
	Hidden bool
	// NoIgnore does not heed .gitignore files.
	NoIgnore bool
	// WholePath, if there is one, is what stands before the paths below the root when
	// patterns are matched, and patterns are those of a [SourceConfig]: "*" crosses
	// slashes, and what is no pattern matches nothing. Other people's code in a
	// directory vendor is taken then, too.
	WholePath string
	// Within, unless it is empty, are folders of which one must hold every root, whatever
	// becomes of the root's path between its check and its reading: a path without links,
	// of which nothing is opened that is not below that folder.
	Within []string `json:",omitempty"`
	// LeftOut, if any, is added what the walk does not take and does not report.
	LeftOut *LeftOut `json:"-"`
	// OnDirectory, if any, is called with each directory before it is read.
	OnDirectory func(path string) `json:"-"`
}

// Walk yields the files under roots, each root a directory or a file, in the
// order of their paths. Nothing is opened that is not below the root, or below the folder
// in Within, even if links are put there meanwhile. It heeds the .gitignore files of each root, of what is
// below it, and of what is above it up to the top of its git repository, takes no
// [Temporary] files and follows no links but a root itself. None of this applies
// to a root that is a file.
//
// An error that is a [*Skip] concerns one path, and the walk goes on: a link, a
// file too large, a directory that cannot be read, a file of a second root with
// the id of one before. Any other error ends the walk: a bad pattern, a missing
// or unreadable root, the end of ctx. What the options leave out is only counted.
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

// walker is one walk. Its methods report false when the walk is over.
type walker struct {
	ctx   context.Context
	opts  WalkOptions
	rules *rules
	seen  map[string]bool // ids
	yield func(File, error) bool
}

// prepare checks everything that would end the walk anyway before it begins.
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

// folder is a directory that is open.
type folder struct {
	*os.Root

	at  located
	rel string // from the root of the walk, with slashes
}

// below is a path in the folder, as it is to be opened again.
func (f folder) below(name string) located { return located{f.at.base, filepath.Join(f.at.rel, name)} }

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
		// What is not to be taken must not be taken because it is not known.
		if ignore, err = readIgnore(in.Root, in.rel, ignore); err != nil {
			return w.skip(name, "has a .gitignore that cannot be read ("+reason(err)+"), and nothing below is taken")
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

// entries returns what is in the folder, by name.
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

// enter walks a directory in another one.
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
	case w.leftOut(in, rel, e, ignore):
		return true
	case e.IsDir():
		return w.enter(in, e.Name(), rel, ignore)
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(in, e.Name(), rel)
	case !e.Type().IsRegular():
		return true
	case !w.rules.takes(rel):
		w.opts.LeftOut.file(e.Name())
		return true
	}
	info, err := in.Lstat(e.Name())
	if err != nil {
		return w.skip(at.path(), reason(err))
	}
	return w.file(at, rel, info)
}

// leftOut reports whether an entry is not looked at, whatever its type, and
// counts it.
func (w *walker) leftOut(in folder, rel string, e fs.DirEntry, ignore *ignoreFile) bool {
	switch {
	case e.Name() == ".git", e.Name() == ".gitignore" && !w.opts.Hidden:
	case strings.HasPrefix(e.Name(), ".") && !w.opts.Hidden:
		w.opts.LeftOut.Hidden++
	case ignore.ignored(rel, e.IsDir()):
		w.opts.LeftOut.Ignored++
	case !e.IsDir() && Temporary(e.Name()):
		w.opts.LeftOut.Excluded++
	case e.IsDir() && (w.rules.excludesDir(rel) || w.opts.WholePath == "" && vendored(in, e.Name())), !e.IsDir() && w.rules.excludes(rel):
		w.opts.LeftOut.Excluded++
	default:
		return false
	}
	return true
}

// link reports a link that would have been taken as a file, or leads to anything but one
// in the same folder.
func (w *walker) link(in folder, name, rel string) bool {
	info, err := in.Stat(name)
	if w.rules.takes(rel) || err != nil || info.IsDir() {
		return w.skip(in.below(name).path(), "is a symbolic link; links are not followed")
	}
	return true
}

func (w *walker) file(at located, id string, info fs.FileInfo) bool {
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
		return w.skip(name, "has the same path below its root as a file before; ingest the roots one by one")
	}
	w.seen[id] = true
	return w.yield(f, nil)
}

func (w *walker) skip(name, why string) bool {
	return w.yield(File{}, &Skip{Path: name, Reason: why})
}

// fail ends the walk at a root that cannot be read: what is below it is not
// gone, it is not known.
func (w *walker) fail(root string, err error) bool {
	w.yield(File{}, unreadable(root, err))
	return false
}

func unreadable(root string, err error) error {
	return ragctx.Invalid("path", "%q cannot be read (%s); give a file or directory that can", ragctx.Clip(root), reason(err))
}

// vendored reports whether a directory holds other people's code, kept there by
// a package manager. The name alone does not say so.
func vendored(in folder, name string) bool {
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
