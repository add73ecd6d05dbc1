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

// Limits against decompression bombs. Ordinary text does not reach this ratio.
const (
	maxRatio      = 50       // unpacked bytes per packed byte
	minRatioBytes = 16 << 20 // unpacked bytes that may have any ratio
)

// container receives the members of one archive or mail.
type container struct {
	r     *reading
	ctx   context.Context
	at    string // path of the archive or mail
	depth int
	more  bool            // the consumer wants more
	names map[string]bool // paths of the accepted members
}

func (in *container) opts() Options { return in.r.opts }

// text yields the container's own text.
func (in *container) text(t Text) bool {
	if err := in.r.checkSize(t); err != nil {
		return in.fail("", err)
	}
	t.Path = in.at
	t.noteLanguage()
	in.more = in.r.yield(t, nil)
	return in.more
}

// fail yields the error of a member.
func (in *container) fail(name string, err error) bool {
	in.more = in.r.fail(in.ctx, path.Join(in.at, name), err)
	return in.more
}

// file reads a member whose Name is its clean path.
func (in *container) file(f File) bool {
	in.more = in.r.file(in.ctx, path.Join(in.at, f.Name), f, in.depth)
	return in.more
}

// accept cleans a member's path and reports whether to read it. Hidden and rejected members are
// skipped silently. A path that leads out of the container is reported.
func (in *container) accept(name string) (clean string, ok bool, err error) {
	clean, reason := cleanPath(name)
	if reason == "" && (isHidden(clean) || in.r.opts.Take != nil && !in.r.opts.Take(path.Join(in.at, clean))) {
		return "", false, nil
	}
	if in.r.membersLeft--; in.r.membersLeft < 0 {
		return "", false, refuse("holds more than %d files; unpack it, or ingest fewer of them", in.r.opts.MaxMembers)
	}
	if in.r.elapsed > maxTimeouts*in.r.opts.Timeout {
		return "", false, refuse("takes longer than %v to read; unpack it, or ingest fewer files of it",
			maxTimeouts*in.r.opts.Timeout)
	}
	switch {
	case reason != "":
		in.fail(printable(name), refuse("%s", reason))
		return "", false, nil
	case in.names[clean]:
		in.fail(clean, refuse("occurs twice; only the first is read"))
		return "", false, nil
	}
	if in.names == nil {
		in.names = make(map[string]bool)
	}
	in.names[clean] = true
	return clean, true, nil
}

// errBudget reports that the budget of unpacked bytes is used up.
var errBudget = errors.New("budget of unpacked bytes is used up")

// spend takes n unpacked bytes from the budget.
func (in *container) spend(n int64) error {
	if in.r.left -= n; in.r.left < 0 {
		return errBudget
	}
	return nil
}

// budgetError returns the user's error for [errBudget].
func (in *container) budgetError() error {
	if in.r.ratioBound {
		return errRatio
	}
	return refuse("unpacks to more than %d bytes; unpack it, or ingest fewer files of it", in.r.opts.MaxExpand)
}

// read reads a member from a stream whose bytes are not counted yet.
func (in *container) read(r io.Reader, size int64) ([]byte, error) {
	limit := in.r.opts.MaxMember
	if size > limit {
		return nil, in.tooLarge(size)
	}
	b, err := io.ReadAll(io.LimitReader(&countingReader{in: in, r: r}, limit+1))
	if int64(len(b)) > limit {
		return nil, in.tooLarge(int64(len(b)))
	}
	return b, err
}

func (in *container) tooLarge(size int64) error {
	limit := in.r.opts.MaxMember
	return refuse("has at least %d bytes; the limit for a file inside another is %d: unpack it", size, limit)
}

// countingReader counts unpacked bytes and checks the context.
type countingReader struct {
	in *container
	r  io.Reader
}

// Read implements [io.Reader].
func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p[:min(len(p), 64<<10)])
	if c.in.spend(int64(n)) != nil {
		return n, errBudget
	}
	return n, err
}

// errRatio reports a suspected decompression bomb.
var errRatio = &Error{Reason: fmt.Sprintf("unpacks to more than %d times its size and is rejected as "+
	"a decompression bomb; if it is not one, unpack it yourself", maxRatio)}

// explain converts an error from reading packed data to a reason.
func (in *container) explain(err error) error {
	var own *Error
	switch {
	case errors.As(err, &own) || in.ctx.Err() != nil:
		return err
	case errors.Is(err, errBudget):
		return in.budgetError()
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return refuse("is truncated; copy it again")
	}
	return refuse("is damaged (%v); copy it again", err)
}

// cleanPath returns a clean path inside a container, or the reason why the path is invalid.
func cleanPath(name string) (clean, reason string) {
	switch {
	case !utf8.ValidString(name):
		return "", "has a name that is not UTF-8"
	case strings.Contains(name, `\`):
		return "", "has a backslash in its name; pack it again with slashes"
	case strings.ContainsFunc(name, isControl):
		return "", "has a control character in its name"
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return "", "has an absolute path"
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

func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, name)
	return strings.TrimLeft(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

// isHidden reports whether a file is hidden or created by the operating system.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || part == "__MACOSX" || part == "Thumbs.db" || part == "desktop.ini" {
			return true
		}
	}
	return false
}
