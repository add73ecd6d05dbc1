package pdf

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// readXref reads the chain of cross-references from the end of the file. It returns false if the
// file has no usable ones.
func (f *file) readXref() bool {
	f.xref, f.trailer = make(map[int]location), nil
	tail := f.data[max(0, len(f.data)-2048):]
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 {
		return false
	}
	l := &lexer{b: tail, pos: at + len("startxref")}
	offset, ok := l.object().(int)
	for seen := map[int]bool{}; ok && !seen[offset]; {
		seen[offset] = true
		d := f.readSection(offset)
		if d == nil {
			return false
		}
		if f.trailer == nil {
			f.trailer = d
		}
		if hybrid, has := d["XRefStm"].(int); has && !seen[hybrid] {
			seen[hybrid] = true
			f.readSection(hybrid)
		}
		offset, ok = d["Prev"].(int)
	}
	return f.trailer != nil
}

// readSection reads one cross-reference table or stream and returns its trailer.
func (f *file) readSection(offset int) dict {
	if offset < 0 || offset >= len(f.data) {
		return nil
	}
	l := &lexer{b: f.data, pos: offset}
	if first := l.object(); first == word("xref") {
		d := f.readTable(l)
		f.spend(l.pos - offset)
		return d
	}
	l.pos = offset
	num, ok := l.object().(int)
	if gen := l.object(); !ok || gen == nil || l.object() != word("obj") {
		return nil
	}
	s, ok := f.parseBody(l, ref{num: num}).(stream)
	if !ok || s.dict["Type"] != name("XRef") {
		return nil
	}
	f.xrefStream(s)
	return s.dict
}

// readTable reads the lines after "xref". The first entry of an object is the newest.
func (f *file) readTable(l *lexer) dict {
	for {
		x := l.object()
		if x == word("trailer") {
			d, _ := l.object().(dict)
			return d
		}
		start, ok1 := x.(int)
		n, ok2 := l.object().(int)
		if !ok1 || !ok2 {
			return nil
		}
		for i := range n {
			offset, ok := l.object().(int)
			l.object() // generation
			kind := l.object()
			if !ok {
				return nil
			}
			if kind == word("n") && offset > 0 {
				f.addObject(start+i, location{offset: offset})
			}
		}
	}
}

func (f *file) addObject(num int, at location) {
	if _, known := f.xref[num]; !known && num >= 0 {
		f.xref[num] = at
	}
}

// xrefStream reads the entries of a cross-reference stream.
func (f *file) xrefStream(s stream) {
	var width [3]int
	for i, w := range f.array(s.dict["W"]) {
		n, ok := w.(int)
		if i >= 3 || !ok || n < 0 || n > 8 {
			return
		}
		width[i] = n
	}
	size := width[0] + width[1] + width[2]
	b := f.decode(s)
	index := f.array(s.dict["Index"])
	if index == nil {
		index = array{0, len(b)}
	}
	for i := 0; i+1 < len(index) && size > 0; i += 2 {
		start, _ := index[i].(int)
		n, _ := index[i+1].(int)
		for ; n > 0 && len(b) >= size; n, start = n-1, start+1 {
			f.readEntry(start, width, b)
			b = b[size:]
		}
	}
}

// readEntry reads one entry of a cross-reference stream.
func (f *file) readEntry(num int, width [3]int, b []byte) {
	field := func(i int) (x int) {
		for _, c := range b[:width[i]] {
			x = x<<8 | int(c)
		}
		b = b[width[i]:]
		return x
	}
	kind, second := field(0), field(1)
	if width[0] == 0 {
		kind = 1
	}
	switch kind {
	case 1:
		f.addObject(num, location{offset: second})
	case 2:
		f.addObject(num, location{objStream: second})
	}
}

// scan finds the objects of a file with unusable cross-references by the keywords "obj" and
// "trailer". The last entry of an object is the newest.
func (f *file) scan() {
	f.scanned = true
	f.cache, f.streams = make(map[int]any), make(map[int]map[int]any)
	f.xref = make(map[int]location)
	trailer := f.trailer
	f.trailer = make(dict)
	f.scanObjects()
	f.scanTrailers()
	f.scanStreams()
	f.mergeTrailer(trailer)
}

// scanObjects finds "num gen obj".
func (f *file) scanObjects() {
	for pos := 0; ; {
		i := bytes.Index(f.data[pos:], []byte("obj"))
		if i < 0 {
			return
		}
		at := pos + i
		pos = at + 3
		if num, start, ok := headBefore(f.data, at); ok {
			f.xref[num] = location{offset: start}
		}
	}
}

// headBefore reads the two numbers before an "obj" backwards.
func headBefore(b []byte, at int) (num, start int, ok bool) {
	_, at, ok = numberBefore(b, at)
	if !ok {
		return 0, 0, false
	}
	num, start, ok = numberBefore(b, at)
	return num, start, ok && num > 0
}

func numberBefore(b []byte, at int) (n, start int, ok bool) {
	end := at
	for end > 0 && isSpace(b[end-1]) && at-end < 16 {
		end--
	}
	start = end
	for start > 0 && b[start-1] >= '0' && b[start-1] <= '9' && end-start < 10 {
		start--
	}
	for _, c := range b[start:end] {
		n = n*10 + int(c-'0')
	}
	return n, start, start < end
}

// scanTrailers merges the trailers of the file, starting with the last.
func (f *file) scanTrailers() {
	for pos := len(f.data); ; {
		i := bytes.LastIndex(f.data[:pos], []byte("trailer"))
		if i < 0 {
			return
		}
		pos = i
		l := &lexer{b: f.data[:min(len(f.data), i+1<<16)], pos: i + len("trailer")}
		if d, ok := l.object().(dict); ok {
			f.mergeTrailer(d)
		}
		f.spend(l.pos - i)
	}
}

func (f *file) mergeTrailer(d dict) {
	for _, key := range []name{"Root", "Encrypt", "ID", "Info"} {
		if f.trailer[key] == nil && d[key] != nil {
			f.trailer[key] = d[key]
		}
	}
}

// scanStreams finds the objects in object streams, the trailers of cross-reference streams, and the
// catalog if no trailer names it. The last object in the file wins.
func (f *file) scanStreams() {
	nums := slices.SortedFunc(maps.Keys(f.xref), func(a, b int) int {
		return cmp.Compare(f.xref[b].offset, f.xref[a].offset)
	})
	var packed []int
	for _, num := range nums {
		d := f.scanDict(f.xref[num].offset)
		switch d["Type"] {
		case name("XRef"):
			f.mergeTrailer(d)
		case name("Catalog"):
			f.mergeTrailer(dict{"Root": ref{num: num}})
		case name("ObjStm"):
			packed = append(packed, num)
		}
	}
	for _, num := range packed {
		f.scanObjectStream(num)
	}
}

// scanDict parses the dictionary of the object at an offset, or returns nil.
func (f *file) scanDict(offset int) dict {
	l := &lexer{b: f.data, pos: offset}
	for range 3 { // "num gen obj"
		l.object()
	}
	if l.skipSpace(); l.peek(0) != '<' || l.peek(1) != '<' {
		return nil
	}
	d, _ := l.object().(dict)
	f.spend(l.pos - offset)
	return d
}

// scanObjectStream adds the objects of an object stream.
func (f *file) scanObjectStream(num int) {
	for inner, x := range f.objectStream(num) {
		f.addObject(inner, location{objStream: num})
		if d, ok := x.(dict); ok && d["Type"] == name("Catalog") {
			f.mergeTrailer(dict{"Root": ref{num: inner}})
		}
	}
}
