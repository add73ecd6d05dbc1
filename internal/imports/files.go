package imports

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// Limits of a source.
const (
	maxFiles   = 1_000_000
	maxText    = 32 << 20 // bytes of a text file
	maxElement = 64 << 20 // bytes of an element of a list or a line
	maxList    = 16 << 30 // bytes of a file that holds a list
	maxInner   = 8 << 30  // bytes of an archive in an archive
)

// file is a file of a source.
type file struct {
	name string // slash-separated
	open func() (io.ReadCloser, error)
}

// base returns the name without folders.
func (f file) base() string { return path.Base(f.name) }

// text reads a file of text.
func (f file) text() (string, error) {
	r, err := f.open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxText:
		return "", ragctx.TooLarge("file", "is longer than %d MiB; split it", maxText>>20)
	case !utf8.Valid(b):
		return "", ragctx.Invalid("file", "is not UTF-8; convert it")
	}
	return string(bytes.TrimPrefix(b, []byte("\ufeff"))), nil
}

// each calls do for the files of a folder, of a ZIP archive or of one archive inside it, or for a single
// file. Hidden files are skipped. Files whose names are invalid are emitted as errors.
func each(source string, emit func(Item) error, do func([]file) error) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return folder(source, emit, do)
	}
	if z, err := zip.OpenReader(source); err == nil {
		defer z.Close()
		return archive(&z.Reader, emit, do)
	} else if !errors.Is(err, zip.ErrFormat) || strings.EqualFold(filepath.Ext(source), ".zip") {
		return fmt.Errorf("%s: %w; download the export again", source, err)
	}
	open := func() (io.ReadCloser, error) { return os.Open(source) }
	return do([]file{{filepath.Base(source), open}})
}

func folder(dir string, emit func(Item) error, do func([]file) error) error {
	root, err := os.OpenRoot(dir) // symbolic links cannot leave it
	if err != nil {
		return err
	}
	defer root.Close()
	var files []file
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return emit(Item{Name: name, Err: err})
		case name != "." && isHidden(name) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || isHidden(name):
			return nil
		case len(files) == maxFiles:
			return tooMany()
		}
		if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe would wait for its writer
			return emit(Item{Name: name, LeftOut: "what is no file"})
		}
		f := file{name: name, open: func() (io.ReadCloser, error) { return root.Open(filepath.FromSlash(name)) }}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return err
	}
	return do(files)
}

// archive lists an archive and the archives inside it, which big exports of Notion consist of.
func archive(z *zip.Reader, emit func(Item) error, do func([]file) error) error {
	files, inner, err := entries(z, emit)
	if err != nil {
		return err
	}
	for _, f := range inner {
		part, remove, err := unpacked(f)
		if err != nil {
			if err := emit(Item{Name: f.name, Err: err}); err != nil {
				return err
			}
			continue
		}
		defer remove()
		more, deeper, err := entries(part, emit)
		if err != nil {
			return err
		}
		files = append(files, more...)
		for _, d := range deeper {
			if err := emit(Item{Name: f.name + "/" + d.name, LeftOut: "an archive inside an inner archive"}); err != nil {
				return err
			}
		}
	}
	if len(files) > maxFiles {
		return tooMany()
	}
	return do(files)
}

// entries returns the files of an archive, and the archives among them.
func entries(z *zip.Reader, emit func(Item) error) (files, inner []file, err error) {
	if len(z.File) > maxFiles {
		return nil, nil, tooMany()
	}
	for _, entry := range z.File {
		name := strings.ReplaceAll(entry.Name, `\`, "/")
		f := file{name, entry.Open}
		switch {
		case strings.HasSuffix(name, "/"), isHidden(name):
		case !fs.ValidPath(name) || !utf8.ValidString(name):
			bad := Item{Name: ragctx.Clip(name), Err: ragctx.Invalid("name", "leaves the archive or is no path; the file is not read")}
			if err := emit(bad); err != nil {
				return nil, nil, err
			}
		case strings.EqualFold(path.Ext(name), ".zip"):
			inner = append(inner, f)
		default:
			files = append(files, f)
		}
	}
	return files, inner, nil
}

// unpacked copies an inner archive to a temporary file, which remove deletes.
func unpacked(f file) (z *zip.Reader, remove func(), err error) {
	r, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	to, err := os.CreateTemp("", "ragctx-import-*.zip")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = to.Close(); _ = os.Remove(to.Name()) }
	n, err := io.Copy(to, io.LimitReader(r, maxInner+1))
	if err == nil && n > maxInner {
		err = ragctx.TooLarge("archive", "unpacks to more than %d GiB; unpack it, and import its folder", int64(maxInner)>>30)
	}
	if err == nil {
		z, err = zip.NewReader(to, n)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return z, remove, nil
}

// isHidden reports whether a name or one of its folders begins with a dot, or is a leftover of macOS. Names
// that leave the archive are not hidden.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "__MACOSX" || strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return true
		}
	}
	return false
}

func tooMany() error {
	return ragctx.TooLarge("source", "has more than %d files; import its parts one by one", maxFiles)
}
