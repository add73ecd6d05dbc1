package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// ErrNoPDF reports that the data is not a PDF file or has no readable page.
var ErrNoPDF = errors.New("is not a PDF file, or so damaged that no page is found")

// ErrEncrypted reports that the file needs a password.
var ErrEncrypted = errors.New("is encrypted with a password; remove it, for example with qpdf --decrypt")

// maxRefDepth bounds chains of references, including stream lengths that are references themselves.
const maxRefDepth = 16

// file gives access to the objects of a PDF.
type file struct {
	ctx     context.Context
	data    []byte
	xref    map[int]location
	trailer dict
	crypt   *crypt

	cache     map[int]any
	streams   map[int]map[int]any // objects of the object streams, by stream number
	depth     int                 // current depth of resolve
	scanned   bool
	damaged   bool            // some part could not be read
	budget    int64           // bytes that may still be unpacked
	names     map[name]string // glyph names, built on first use
	fonts     map[int]*font   // by object number
	operators int             // executed so far
}

// location is the position of an object: an offset, or an object stream.
type location struct {
	offset    int
	objStream int // number of the object stream; 0 if the object is not in one
}

// errBudget ends the reading of a file that unpacks to too many bytes.
type errBudget struct{}

func (errBudget) Error() string { return "unpacks to more than the limit; split it" }

// open locates the objects of a file. maxExpand bounds the unpacked bytes.
func open(ctx context.Context, data []byte, maxExpand int64) (*file, error) {
	at := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if at < 0 {
		return nil, ErrNoPDF
	}
	f := &file{
		ctx: ctx, data: data[at:], budget: maxExpand,
		cache: make(map[int]any), streams: make(map[int]map[int]any), fonts: make(map[int]*font),
	}
	if !f.readXref() || f.pagesRoot() == nil {
		f.scan()
	}
	if err := f.initCrypt(); err != nil {
		return nil, err
	}
	if f.pagesRoot() == nil && !f.scanned {
		f.scan()
	}
	return f, ctx.Err()
}

// pagesRoot returns the root of the page tree, or nil.
func (f *file) pagesRoot() dict {
	root := f.dict(f.trailer["Root"])
	return f.dict(root["Pages"])
}

// resolve follows references. It returns nil for a missing or damaged object.
func (f *file) resolve(x any) any {
	r, ok := x.(ref)
	if !ok {
		return x
	}
	if got, ok := f.cache[r.num]; ok {
		return got
	}
	if f.depth >= maxRefDepth {
		return nil
	}
	f.depth++
	defer func() { f.depth-- }()
	f.cache[r.num] = nil // ends a reference cycle
	got := f.load(r.num)
	f.cache[r.num] = got
	return got
}

// load parses an object.
func (f *file) load(num int) any {
	at, ok := f.xref[num]
	switch {
	case !ok:
		return nil
	case at.objStream > 0:
		return f.resolve(f.objectStream(at.objStream)[num])
	}
	x, ok := f.parseAt(at.offset, num)
	if !ok && !f.scanned {
		f.scan() // the cross-reference table is wrong
		if at, ok = f.xref[num]; ok && at.objStream == 0 {
			x, _ = f.parseAt(at.offset, num)
		}
	}
	return f.resolve(x)
}

// parseAt parses "num gen obj …" at an offset. It returns false if another object, or none,
// starts there.
func (f *file) parseAt(offset, num int) (any, bool) {
	if offset < 0 || offset >= len(f.data) {
		return nil, false
	}
	l := &lexer{b: f.data, pos: offset}
	n, gen, obj := l.object(), l.object(), l.object()
	if n != any(num) || obj != word("obj") {
		return nil, false
	}
	g, _ := gen.(int)
	return f.parseBody(l, ref{num, g}), true
}

// parseBody parses the part of an object after "obj".
func (f *file) parseBody(l *lexer, r ref) any {
	from := l.pos
	x := l.object()
	f.spend(l.pos - from)
	if first, ok := x.(int); ok {
		rest := *l
		if gen, ok := rest.object().(int); ok && rest.object() == word("R") {
			return ref{first, gen}
		}
	}
	d, ok := x.(dict)
	if !ok || !f.skipStreamKeyword(l) {
		return f.crypt.decryptStrings(x, r)
	}
	d, _ = f.crypt.decryptStrings(d, r).(dict)
	return stream{dict: d, raw: f.crypt.decryptStream(f.streamBytes(l, d), d, r)}
}

// skipStreamKeyword skips the keyword "stream" and its line end, and reports whether it was there.
func (f *file) skipStreamKeyword(l *lexer) bool {
	rest := *l
	if rest.object() != word("stream") {
		return false
	}
	if rest.peek(0) == '\r' {
		rest.pos++
	}
	if rest.peek(0) == '\n' {
		rest.pos++
	}
	*l = rest
	return true
}

// streamBytes returns the raw bytes of a stream. If the Length entry is wrong, the data ends at the
// keyword "endstream".
func (f *file) streamBytes(l *lexer, d dict) []byte {
	rest := l.b[l.pos:]
	if n, ok := f.resolve(d["Length"]).(int); ok && n >= 0 && n <= len(rest) {
		if bytes.HasPrefix(bytes.TrimLeft(rest[n:min(n+32, len(rest))], "\r\n \t\x00"), []byte("endstream")) {
			l.pos += n
			return rest[:n]
		}
	}
	end := bytes.Index(rest, []byte("endstream"))
	if end < 0 {
		end = len(rest)
	}
	f.spend(end)
	l.pos += end
	return bytes.TrimSuffix(bytes.TrimSuffix(rest[:end], []byte("\n")), []byte("\r"))
}

// objectStream parses an object stream once.
func (f *file) objectStream(num int) map[int]any {
	if got, ok := f.streams[num]; ok {
		return got
	}
	f.streams[num] = nil
	s, ok := f.resolve(ref{num: num}).(stream)
	if !ok {
		return nil
	}
	out := f.unpackObjects(s)
	f.streams[num] = out
	return out
}

// unpackObjects parses the objects in an object stream. Each object is parsed from its own offset
// up to the next, so crafted offsets cannot make objects share bytes.
func (f *file) unpackObjects(s stream) map[int]any {
	first, _ := f.resolve(s.dict["First"]).(int)
	n, _ := f.resolve(s.dict["N"]).(int)
	b := f.decode(s)
	if first <= 0 || first > len(b) {
		return nil
	}
	out := make(map[int]any)
	head, body := &lexer{b: b[:first]}, &lexer{b: b}
	for range min(max(n, 0), len(b)) {
		num, ok1 := head.object().(int)
		off, ok2 := head.object().(int)
		if !ok1 || !ok2 {
			break
		}
		if at := first + off; at >= body.pos && at <= len(b) {
			body.pos = at
			out[num] = objectOrRef(body)
		}
	}
	return out
}

// objectOrRef reads an object or a reference.
func objectOrRef(l *lexer) any {
	x := l.object()
	if num, ok := x.(int); ok {
		rest := *l
		if gen, ok := rest.object().(int); ok && rest.object() == word("R") {
			*l = rest
			return ref{num, gen}
		}
	}
	return x
}

// dict returns the dictionary that x is or refers to, or the dictionary of the stream x.
func (f *file) dict(x any) dict {
	switch x := f.resolve(x).(type) {
	case dict:
		return x
	case stream:
		return x.dict
	}
	return nil
}

func (f *file) array(x any) array { a, _ := f.resolve(x).(array); return a }

func (f *file) name(x any) name { n, _ := f.resolve(x).(name); return n }

// number returns x as a number, or 0.
func (f *file) number(x any) float64 {
	switch x := f.resolve(x).(type) {
	case int:
		return float64(x)
	case float64:
		return x
	}
	return 0
}

// spend takes n bytes from the budget. It panics when the budget is exhausted or the context has
// ended; [Read] recovers the panic.
func (f *file) spend(n int) {
	if f.budget -= int64(n); f.budget < 0 {
		panic(errBudget{})
	}
	if err := f.ctx.Err(); err != nil {
		panic(canceled{err})
	}
}

// canceled carries the context's error through a panic.
type canceled struct{ error }

// recoverError turns the panics of spend, and unexpected panics, into errors.
func recoverError(err *error) {
	switch p := recover().(type) {
	case nil:
	case canceled:
		*err = p.error
	case errBudget:
		*err = p
	default:
		*err = fmt.Errorf("is damaged (%v)", p)
	}
}
