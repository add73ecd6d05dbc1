package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is taken for a bomb: no text is repeated so often.
const (
	maxRatio  = 50       // bytes per byte packed
	freeBytes = 16 << 20 // that may be of any ratio
)

// inside takes what a file holds, for one reading of one container.
type inside struct {
	r     *reading
	ctx   context.Context
	at    string // path of the container
	depth int
	more  bool            // the consumer wants more
	names map[string]bool // paths that were handed over
}

func (in *inside) opts() Options { return in.r.opts }

// text hands over what the container says itself.
func (in *inside) text(t Text) bool {
	if err := in.r.fits(t); err != nil {
		return in.fail("", err)
	}
	t.Path = in.at
	t.noteLanguage()
	in.more = in.r.yield(t, nil)
	return in.more
}

// fail hands over why a file inside gave no text.
func (in *inside) fail(name string, err error) bool {
	in.more = in.r.fail(in.ctx, path.Join(in.at, name), err)
	return in.more
}

// file reads a file inside, whose Name is its clean path.
func (in *inside) file(f File) bool {
	in.more = in.r.file(in.ctx, path.Join(in.at, f.Name), f, in.depth)
	return in.more
}

// want cleans the path of a file inside and reports whether it is read. It is not
// if it is hidden, not taken, or has a path that leads out, which is reported.
func (in *inside) want(name string) (clean string, ok bool, err error) {
	clean, reason := cleanPath(name)
	if reason == "" && (isHidden(clean) || in.r.opts.Take != nil && !in.r.opts.Take(path.Join(in.at, clean))) {
		return "", false, nil
	}
	if in.r.members--; in.r.members < 0 {
		return "", false, refuse("holds more than %d files; unpack it, or ingest fewer of them", in.r.opts.MaxMembers)
	}
	if in.r.spent > maxTimeouts*in.r.opts.Timeout {
		return "", false, refuse("takes longer than %v to read; unpack it, or ingest fewer files of it", maxTimeouts*in.r.opts.Timeout)
	}
	switch {
	case reason != "":
		in.fail(printable(name), refuse("%s", reason))
		return "", false, nil
	case in.names[clean]:
		in.fail(clean, refuse("is there twice; only the first is read"))
		return "", false, nil
	}
	if in.names == nil {
		in.names = make(map[string]bool)
	}
	in.names[clean] = true
	return clean, true, nil
}

// errBudget says that all that may be unpacked is.
var errBudget = errors.New("unpacks to too much")

// budget counts n unpacked bytes.
func (in *inside) budget(n int64) error {
	if in.r.left -= n; in.r.left < 0 {
		return errBudget
	}
	return nil
}

// full is the reason of [errBudget].
func (in *inside) full() error {
	if in.r.bomb {
		return errRatio
	}
	return refuse("unpacks to more than %d bytes; unpack it, or ingest fewer files of it", in.r.opts.MaxExpand)
}

// read reads one file inside of a stream whose bytes are not counted yet.
func (in *inside) read(r io.Reader, size int64) ([]byte, error) {
	limit := in.r.opts.MaxMember
	if size > limit {
		return nil, in.large(size)
	}
	b, err := io.ReadAll(io.LimitReader(&counter{in: in, r: r}, limit+1))
	if int64(len(b)) > limit {
		return nil, in.large(int64(len(b)))
	}
	return b, err
}

func (in *inside) large(size int64) error {
	return refuse("is larger than a file inside of another may be (at least %d bytes; the limit is %d); unpack it", size, in.r.opts.MaxMember)
}

// counter counts unpacked bytes and looks at the context.
type counter struct {
	in *inside
	r  io.Reader
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	if err := c.in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p[:min(len(p), 64<<10)])
	if c.in.budget(int64(n)) != nil {
		return n, errBudget
	}
	return n, err
}

// errRatio says that something is packed too well.
var errRatio = &Error{Reason: fmt.Sprintf("unpacks to more than %d times its size: it is taken for a bomb; unpack it yourself if it is not", maxRatio)}

// damaged returns the reason of an error of a reader of packed data.
func (in *inside) damaged(err error) error {
	var own *Error
	switch {
	case errors.As(err, &own) || in.ctx.Err() != nil:
		return err
	case errors.Is(err, errBudget):
		return in.full()
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return refuse("is cut off; copy it again")
	}
	return refuse("is damaged (%v); copy it again", err)
}

// cleanPath returns a path inside of a container, or why it is none.
func cleanPath(name string) (clean, reason string) {
	switch {
	case !utf8.ValidString(name):
		return "", "has a name that is not UTF-8"
	case strings.Contains(name, `\`):
		return "", "has a backslash in its name; pack it again with slashes"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return "", "has a control character in its name"
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return "", "has an absolute path, which could lie anywhere"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", "has a path that leads out of the archive"
		}
	}
	if clean = path.Clean(name); clean == "." {
		return "", "has no name"
	}
	return clean, ""
}

func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, name)
	return strings.TrimLeft(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// isHidden reports whether a file is one that systems keep for themselves.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || part == "__MACOSX" || part == "Thumbs.db" || part == "desktop.ini" {
			return true
		}
	}
	return false
}
