package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"
)

// File is a file as it is found. Its Data is read, never changed.
type File struct {
	// Name is a path or URL; its last element's extension is a hint of the type.
	Name string
	// MIME is the type that somebody declared, parameters included; "" is unknown.
	MIME string
	Data []byte
}

// Text is what a file, or a file inside of it, says.
type Text struct {
	// Path is where inside of the file the text stands, as a clean relative path
	// with slashes; "" is the file itself.
	Path string
	// Text is UTF-8 without a byte order mark. Each page but the last ends with "\f".
	Text string
	// MIME is the type of Text, without parameters: "text/markdown" of what was
	// converted, "" if it is not known better than by the name.
	MIME string
	// Format is the MIME type of the file that Text was converted from; "" if it
	// is as it stands in the file.
	Format string
	// Title is what the file calls itself; "" if it does not.
	Title string
	// Metadata holds JSON values under the keys Meta…; nil for none.
	Metadata map[string]any
	// Occurred is when what the text tells happened, as far as the file says so
	// itself: the date of a mail. Zero is unknown.
	Occurred time.Time
}

// note sets a key of the metadata, unless the value is empty.
func (t *Text) note(key, value string) {
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
	MetaPages    = "pages"    // int, how many there are; slides of a presentation, too
	MetaLanguage = "language" // string, ISO 639-1
	MetaFrom     = "from"     // string, of a mail
	MetaTo       = "to"       // string, of a mail
	MetaCharset  = "charset"  // string, the file's encoding where it is not UTF-8
)

// Limits unless [Options] say otherwise.
const (
	DefaultMaxText    = 32 << 20
	DefaultMaxExpand  = 256 << 20
	DefaultMaxMember  = 64 << 20
	DefaultMaxMembers = 10_000
	DefaultTimeout    = time.Minute
)

// maxDepth is how deep files inside of files are followed: a mail in an archive
// in an archive.
const maxDepth = 3

// maxTimeouts is how many times [Options.Timeout] the files inside of one may take: each
// may unpack to MaxExpand again where it is packed itself.
const maxTimeouts = 20

// maxReason is the longest reason, in bytes.
const maxReason = 400

// Options bound the reading of a file. The zero value works.
type Options struct {
	// MaxText is the longest text, in bytes, that one file may become; default 32 MiB.
	MaxText int
	// MaxExpand is how many bytes a file may unpack to altogether; default 256 MiB.
	MaxExpand int64
	// MaxMember is the largest file inside of another, in bytes; default 64 MiB.
	MaxMember int64
	// MaxMembers is how many files that are wanted one file may hold; default 10,000.
	MaxMembers int
	// Timeout bounds the reading of each file, and of each member; all members of an
	// archive together have 20 times as long. Default one minute.
	Timeout time.Duration
	// Take says whether a member of an archive, or an attachment, is wanted, by its
	// path inside; nil takes all. What it refuses is not reported, nor unpacked.
	Take func(path string) bool
}

// WithDefaults returns o with unset fields filled.
func (o Options) WithDefaults() Options {
	o.MaxText = cmp.Or(max(o.MaxText, 0), DefaultMaxText)
	o.MaxExpand = cmp.Or(max(o.MaxExpand, 0), DefaultMaxExpand)
	o.MaxMember = cmp.Or(max(o.MaxMember, 0), DefaultMaxMember)
	o.MaxMembers = cmp.Or(max(o.MaxMembers, 0), DefaultMaxMembers)
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultTimeout)
	return o
}

// Error says why a file, or a file inside of it, gave no text. It concerns that
// one only.
type Error struct {
	Path   string // as in [Text]
	Reason string // what is wrong, and what helps; the path is not part of it
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// refuse returns the reason why a reader gives up. Readers return it, or any
// other error; [Read] adds the path.
func refuse(format string, args ...any) error { return &Error{Reason: fmt.Sprintf(format, args...)} }

// format is one kind of file. Exactly one of read and expand is set.
type format struct {
	mime string
	also []string // other names of the type
	exts []string // without dot, lower case
	// magic are beginnings of the file by one of which it is known whatever its
	// name says; weak ones say so only where the name has no extension.
	magic, weak []string
	// read converts a file to text.
	read func(ctx context.Context, f File, o Options) (Text, error)
	// expand hands over the files inside of one and what text it has itself. It
	// returns what ends the reading of the rest, and stops when a call of in says false.
	expand func(ctx context.Context, f File, in *inside) error
	// isolate asks for a process of its own where there is a [Pool]: the code behind
	// read is large, or not ours, or its memory is up to the file.
	isolate bool
}

// formats is the table of what is not plain text; the first match wins.
func formats() []format {
	return slices.Concat(webFormats(), mailFormats(), archiveFormats(), officeFormats(), pdfFormats())
}

// formatOf finds the format of a file: by its declared type, by its first bytes,
// by its extension. It is nil for text and for what is not known.
func formatOf(f File) *format {
	mime, _, _ := strings.Cut(f.MIME, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	ext := extension(f.Name)
	head := string(f.Data[:min(len(f.Data), 64)])
	begins := func(m string) bool { return strings.HasPrefix(head, m) }
	all := formats()
	for _, match := range [...]func(format) bool{
		func(x format) bool { return mime != "" && (x.mime == mime || slices.Contains(x.also, mime)) },
		func(x format) bool { return slices.ContainsFunc(x.magic, begins) },
		func(x format) bool { return slices.Contains(x.exts, ext) },
		func(x format) bool { return ext == "" && slices.ContainsFunc(x.weak, begins) },
	} {
		i := slices.IndexFunc(all, match)
		if i < 0 {
			continue
		}
		if all[i].mime == mimeZip {
			// A document that is an archive inside, under an archive's name.
			if k := slices.IndexFunc(all, func(x format) bool { return x.mime == zipKind(f.Data) }); k >= 0 {
				i = k
			}
		}
		return &all[i]
	}
	return nil
}

// extension returns the extension of a path or URL, without the dot, in lower case.
func extension(name string) string {
	if strings.Contains(name, "://") {
		if i := strings.IndexAny(name, "?#"); i >= 0 {
			name = name[:i]
		}
	}
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

// Read yields what a file says: one text, several for an archive or a mail with
// attachments. An error that is an [*Error] concerns one of them, and the rest
// follows; any other is the end of ctx. Read is safe for concurrent use.
func Read(ctx context.Context, f File, o Options) iter.Seq2[Text, error] {
	o = o.WithDefaults()
	return func(yield func(Text, error) bool) {
		newReading(f, o, yield, nil).file(ctx, "", f, 0)
	}
}

// reading is one Read.
type reading struct {
	opts    Options
	yield   func(Text, error) bool
	left    int64 // bytes that may still be unpacked, on all levels
	bomb    bool  // that is fewer than any file may unpack to
	members int   // files inside that may still be read, on all levels
	// spent is what the reading of files has taken, on all levels, without what the
	// consumer does with their texts.
	spent time.Duration
	// isolated reads a file whose format asks for it in another process; nil reads it
	// here.
	isolated fileReader
}

// newReading begins to read a file. What it unpacks to, on all levels, is bounded by its
// size as well: many small bombs are one.
func newReading(f File, o Options, yield func(Text, error) bool, isolated fileReader) *reading {
	most := max(freeBytes, maxRatio*int64(len(f.Data)))
	bomb := most < o.MaxExpand
	o.MaxExpand = min(o.MaxExpand, most)
	return &reading{opts: o, yield: yield, left: o.MaxExpand, bomb: bomb, members: o.MaxMembers, isolated: isolated}
}

// file reads one file at a path; it reports false when the consumer has enough.
func (r *reading) file(ctx context.Context, at string, f File, depth int) bool {
	x := formatOf(f)
	if x != nil && x.expand != nil {
		return r.expand(ctx, at, f, x, depth)
	}
	one := r.one
	if x != nil && x.isolate && r.isolated != nil {
		one = func(ctx context.Context, f File, _ *format) (Text, error) { return r.isolated(ctx, f, r.opts) }
	}
	start := time.Now()
	t, err := one(ctx, f, x)
	r.spent += time.Since(start)
	if err != nil {
		return r.fail(ctx, at, err)
	}
	t.Path = at
	return r.yield(t, nil)
}

// one reads a file that holds no others, within its time.
func (r *reading) one(ctx context.Context, f File, x *format) (t Text, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	defer recovered(&err)
	if x == nil {
		t, err = plain(f)
	} else {
		t, err = x.read(ctx, f, r.opts)
	}
	if err != nil {
		return Text{}, err
	}
	if err := r.fits(t); err != nil {
		return Text{}, err
	}
	if x != nil || isProse(f) {
		t.noteLanguage()
	}
	return t, nil
}

// fits refuses a text that is too long.
func (r *reading) fits(t Text) error {
	if len(t.Text) > r.opts.MaxText {
		return refuse("holds %d bytes of text; the limit is %d: split the file", len(t.Text), r.opts.MaxText)
	}
	return nil
}

// expand reads the files inside of one.
func (r *reading) expand(ctx context.Context, at string, f File, x *format, depth int) bool {
	if depth >= maxDepth {
		return r.fail(ctx, at, refuse("is nested more than %d deep; unpack it", maxDepth))
	}
	in := &inside{r: r, ctx: ctx, at: at, depth: depth + 1, more: true}
	err := func() (err error) {
		defer recovered(&err)
		return x.expand(ctx, f, in)
	}()
	if in.more && err != nil {
		return r.fail(ctx, at, err)
	}
	return in.more
}

// fail yields why a file gave no text.
func (r *reading) fail(ctx context.Context, at string, err error) bool {
	if ctx.Err() != nil {
		r.yield(Text{}, ctx.Err())
		return false
	}
	return r.yield(Text{}, &Error{Path: at, Reason: reasonOf(err, r.opts)})
}

// reasonOf says why a file gave no text, "" without an error.
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

// recovered turns a panic of a reader into an error. The stack is not part of it:
// it would end up in a person's summary.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = refuse("is damaged, or of a kind that cannot be read (%v)", p)
	}
}
