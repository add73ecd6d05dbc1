package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// ErrNoPDF says that there is no PDF in the data.
var ErrNoPDF = errors.New("is no PDF file, or so damaged that no page is found")

// ErrEncrypted says that a password is needed.
var ErrEncrypted = errors.New("is encrypted with a password; remove it, for example with qpdf --decrypt")

// maxResolve is how many references to references, or lengths of streams that
// are in streams, are followed.
const maxResolve = 16

// file gives access to the objects of a PDF.
type file struct {
	ctx     context.Context
	data    []byte
	xref    map[int]place
	trailer dict
	crypt   *crypt

	cache     map[int]any
	streams   map[int]map[int]any // the objects of object streams
	depth     int                 // of resolve
	scanned   bool
	damaged   bool            // something could not be read
	budget    int64           // bytes that may yet be unpacked
	names     map[name]string // of glyphs, made when first needed
	fonts     map[int]*font   // by object
	operators int             // executed so far
}

// place is where an object stands: at an offset, or in an object stream.
type place struct {
	offset int
	inside int // number of the object stream; 0 for none
}

// errBudget ends the reading of a file that unpacks to too much.
type errBudget struct{}

func (errBudget) Error() string { return "unpacks to more than the limit; split it" }

// open finds the objects of a file. maxExpand is how many bytes it may unpack to.
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
	if err := f.decrypt(); err != nil {
		return nil, err
	}
	if f.pagesRoot() == nil && !f.scanned {
		f.scan()
	}
	return f, ctx.Err()
}

// pagesRoot returns the root of the page tree, nil if there is none.
func (f *file) pagesRoot() dict {
	root := f.dict(f.trailer["Root"])
	return f.dict(root["Pages"])
}

// get follows references; what is missing or damaged is nil.
func (f *file) get(x any) any {
	r, ok := x.(ref)
	if !ok {
		return x
	}
	if got, ok := f.cache[r.num]; ok {
		return got
	}
	if f.depth >= maxResolve {
		return nil
	}
	f.depth++
	defer func() { f.depth-- }()
	f.cache[r.num] = nil // a loop ends here
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
	case at.inside > 0:
		return f.get(f.objectStream(at.inside)[num])
	}
	x, ok := f.at(at.offset, num)
	if !ok && !f.scanned {
		f.scan() // the table is wrong
		if at, ok = f.xref[num]; ok && at.inside == 0 {
			x, _ = f.at(at.offset, num)
		}
	}
	return f.get(x)
}

// at parses "num gen obj …" at an offset and reports whether it stands there.
func (f *file) at(offset, num int) (any, bool) {
	if offset < 0 || offset >= len(f.data) {
		return nil, false
	}
	l := &lexer{b: f.data, pos: offset}
	n, gen, obj := l.object(), l.object(), l.object()
	if n != any(num) || obj != word("obj") {
		return nil, false
	}
	g, _ := gen.(int)
	return f.body(l, ref{num, g}), true
}

// body parses what follows "obj".
func (f *file) body(l *lexer, r ref) any {
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
	if !ok || !f.atStream(l) {
		return f.crypt.open(x, r)
	}
	d, _ = f.crypt.open(d, r).(dict)
	return stream{dict: d, raw: f.crypt.stream(f.raw(l, d), d, r)}
}

// atStream skips the word "stream" and the end of its line.
func (f *file) atStream(l *lexer) bool {
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

// raw returns the bytes of a stream: as many as it says if it ends there,
// otherwise up to the word that ends it.
func (f *file) raw(l *lexer, d dict) []byte {
	rest := l.b[l.pos:]
	if n, ok := f.get(d["Length"]).(int); ok && n >= 0 && n <= len(rest) {
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

// objectStream parses an object stream, once.
func (f *file) objectStream(num int) map[int]any {
	if got, ok := f.streams[num]; ok {
		return got
	}
	f.streams[num] = nil
	s, ok := f.get(ref{num: num}).(stream)
	if !ok {
		return nil
	}
	out := f.unpackObjects(s)
	f.streams[num] = out
	return out
}

// unpackObjects parses what an object stream holds. Each object is parsed from its
// own offset to that of the next: they cannot be made to share their bytes.
func (f *file) unpackObjects(s stream) map[int]any {
	first, _ := f.get(s.dict["First"]).(int)
	n, _ := f.get(s.dict["N"]).(int)
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
			out[num] = indirect(body)
		}
	}
	return out
}

// indirect reads an object that may be a reference.
func indirect(l *lexer) any {
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

// dict returns the dictionary that x is or refers to, or that of its stream.
func (f *file) dict(x any) dict {
	switch x := f.get(x).(type) {
	case dict:
		return x
	case stream:
		return x.dict
	}
	return nil
}

func (f *file) array(x any) array { a, _ := f.get(x).(array); return a }

func (f *file) name(x any) name { n, _ := f.get(x).(name); return n }

// number returns a number, 0 for what is none.
func (f *file) number(x any) float64 {
	switch x := f.get(x).(type) {
	case int:
		return float64(x)
	case float64:
		return x
	}
	return 0
}

// spend takes n unpacked bytes from the budget; beyond it, or after the end of the
// context, the reading ends by a panic that [Read] catches.
func (f *file) spend(n int) {
	if f.budget -= int64(n); f.budget < 0 {
		panic(errBudget{})
	}
	if err := f.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// stopped carries the end of the context through a panic.
type stopped struct{ error }

// caught turns the panics of spend, and those that were not meant, into errors.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.error
	case errBudget:
		*err = p
	default:
		*err = fmt.Errorf("is damaged (%v)", p)
	}
}
