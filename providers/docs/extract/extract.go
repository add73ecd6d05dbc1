package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// File is an input file. Its Data is not modified.
type File struct {
	// Name is a path or URL. The extension of its last element is a hint of the type.
	Name string
	// MIME is the declared type, including parameters; "" if unknown.
	MIME string
	Data []byte
}

// Text is the text of a file, or of a file inside it.
type Text struct {
	// Path is the place of the text inside the file, as a clean relative path with slashes; "" is
	// the file itself.
	Path string
	// Text is UTF-8 without a byte order mark. Each page except the last ends with "\f".
	Text string
	// MIME is the type of Text without parameters: "text/markdown" for converted files, "" if only
	// the name indicates the type.
	MIME string
	// Format is the MIME type that Text was converted from; "" if it was not converted.
	Format string
	// Title is the title that the file contains, or "".
	Title string
	// Metadata holds JSON values under the keys Meta…; it may be nil.
	Metadata map[string]any
	// Occurred is the time of the described event if the file states it, such as the date of a
	// mail. Zero is unknown.
	Occurred time.Time
}

// setMeta sets a metadata key, unless the value is empty.
func (t *Text) setMeta(key, value string) {
	if value == "" {
		return
	}
	if t.Metadata == nil {
		t.Metadata = make(map[string]any)
	}
	t.Metadata[key] = value
}

// Keys of [Text.Metadata].
const (
	MetaAuthor   = "author"   // string
	MetaPages    = "pages"    // int, number of pages or slides
	MetaLanguage = "language" // string, ISO 639-1
	MetaFrom     = "from"     // string, of a mail
	MetaTo       = "to"       // string, of a mail
	MetaCharset  = "charset"  // string, the file's encoding if it is not UTF-8
)

// Defaults of [Options].
const (
	DefaultMaxText    = 32 << 20
	DefaultMaxExpand  = 256 << 20
	DefaultMaxMember  = 64 << 20
	DefaultMaxMembers = 10_000
	DefaultTimeout    = time.Minute
)

// maxDepth bounds the nesting of files, such as a mail in an archive in an archive.
const maxDepth = 3

// maxTimeouts bounds the reading time of all members together, in units of [Options.Timeout].
const maxTimeouts = 20

// maxReason bounds an error reason in bytes.
const maxReason = 400

// Options bound the reading of a file. The zero value works.
type Options struct {
	// MaxText bounds the text of one file in bytes; default 32 MiB.
	MaxText int
	// MaxExpand bounds the total unpacked bytes of a file; default 256 MiB.
	MaxExpand int64
	// MaxMember bounds the size of a file inside another, in bytes; default 64 MiB.
	MaxMember int64
	// MaxMembers bounds the number of accepted files inside one file; default 10,000.
	MaxMembers int
	// Timeout bounds the reading of each file and of each member. All members of an archive
	// together may take 20 times as long. Default one minute.
	Timeout time.Duration
	// Take reports whether to read a member of an archive or an attachment, by its path inside the
	// file; nil reads all. Rejected members are neither unpacked nor reported.
	Take func(path string) bool
}

// withDefaults returns o with defaults for unset fields.
func (o Options) withDefaults() Options {
	o.MaxText = cmp.Or(max(o.MaxText, 0), DefaultMaxText)
	o.MaxExpand = cmp.Or(max(o.MaxExpand, 0), DefaultMaxExpand)
	o.MaxMember = cmp.Or(max(o.MaxMember, 0), DefaultMaxMember)
	o.MaxMembers = cmp.Or(max(o.MaxMembers, 0), DefaultMaxMembers)
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultTimeout)
	return o
}

// Error explains why a file, or a file inside it, gave no text. Other files are not affected.
type Error struct {
	Path   string // as in [Text]
	Reason string // the problem and the remedy, without the path
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// refuse returns an [Error] without a path. Readers return it, or any other error; [Read] adds the
// path.
func refuse(format string, args ...any) error { return &Error{Reason: fmt.Sprintf(format, args...)} }

// Read yields the texts of a file: one text, or several for an archive or a mail with attachments.
// An [*Error] concerns one of them, and the others follow; any other error is the end of ctx. Read
// is safe for concurrent use.
func Read(ctx context.Context, f File, o Options) iter.Seq2[Text, error] {
	o = o.withDefaults()
	return func(yield func(Text, error) bool) {
		newReading(f, o, yield, nil).file(ctx, "", f, 0)
	}
}

// reading is the state of one Read.
type reading struct {
	opts        Options
	yield       func(Text, error) bool
	left        int64 // bytes that may still be unpacked, on all levels
	ratioBound  bool  // left is bounded by maxRatio, not by MaxExpand
	membersLeft int   // members that may still be read, on all levels
	// elapsed is the time spent reading files, on all levels, without the consumer's time.
	elapsed time.Duration
	// readIsolated reads a file of an isolated format in another process; nil reads it in this
	// process.
	readIsolated fileReader
}

// newReading prepares the reading of a file. The unpacked bytes on all levels are also bounded by
// the file's size, so many small bombs count as one.
func newReading(f File, o Options, yield func(Text, error) bool, isolated fileReader) *reading {
	most := max(minRatioBytes, maxRatio*int64(len(f.Data)))
	ratioBound := most < o.MaxExpand
	o.MaxExpand = min(o.MaxExpand, most)
	return &reading{
		opts: o, yield: yield, left: o.MaxExpand, ratioBound: ratioBound,
		membersLeft: o.MaxMembers, readIsolated: isolated,
	}
}

// file reads the file at a path. It returns false when the consumer stops.
func (r *reading) file(ctx context.Context, at string, f File, depth int) bool {
	x := formatOf(f)
	if x != nil && x.expand != nil {
		return r.expand(ctx, at, f, x, depth)
	}
	one := r.readOne
	if x != nil && x.isolate && r.readIsolated != nil {
		one = func(ctx context.Context, f File, _ *format) (Text, error) { return r.readIsolated(ctx, f, r.opts) }
	}
	start := time.Now()
	t, err := one(ctx, f, x)
	r.elapsed += time.Since(start)
	if err != nil {
		return r.fail(ctx, at, err)
	}
	t.Path = at
	return r.yield(t, nil)
}

// readOne reads a file without members, within its timeout.
func (r *reading) readOne(ctx context.Context, f File, x *format) (t Text, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	defer recoverError(&err)
	if x == nil {
		t, err = readPlain(f)
	} else {
		t, err = x.read(ctx, f, r.opts)
	}
	if err != nil {
		return Text{}, err
	}
	if err := r.checkSize(t); err != nil {
		return Text{}, err
	}
	if x != nil || isProse(f) {
		t.noteLanguage()
	}
	return t, nil
}

// checkSize rejects a text that is too long.
func (r *reading) checkSize(t Text) error {
	if len(t.Text) > r.opts.MaxText {
		return refuse("holds %d bytes of text; the limit is %d: split the file", len(t.Text), r.opts.MaxText)
	}
	return nil
}

// expand reads the files inside a file.
func (r *reading) expand(ctx context.Context, at string, f File, x *format, depth int) bool {
	if depth >= maxDepth {
		return r.fail(ctx, at, refuse("is nested more than %d deep; unpack it", maxDepth))
	}
	in := &container{r: r, ctx: ctx, at: at, depth: depth + 1, more: true}
	err := func() (err error) {
		defer recoverError(&err)
		return x.expand(ctx, f, in)
	}()
	if in.more && err != nil {
		return r.fail(ctx, at, err)
	}
	return in.more
}

// fail yields the error of a file.
func (r *reading) fail(ctx context.Context, at string, err error) bool {
	if ctx.Err() != nil {
		r.yield(Text{}, ctx.Err())
		return false
	}
	return r.yield(Text{}, &Error{Path: at, Reason: reasonOf(err, r.opts)})
}

// reasonOf returns the reason of an error; "" for nil.
func reasonOf(err error, o Options) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("takes longer than %v to read; split it, or save it in another format", o.Timeout)
	}
	// A library's error may quote the file.
	return clip(strings.ToValidUTF8(err.Error(), "\ufffd"), maxReason)
}

// recoverError turns a panic of a reader into an error. The stack is omitted, because the text is
// shown to users.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = refuse("is damaged, or of a kind that cannot be read (%v)", p)
	}
}
