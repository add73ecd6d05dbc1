package pdf

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxTreeDepth bounds the depth of the page tree.
const maxTreeDepth = 64

// Limits bound the reading of a file.
type Limits struct {
	MaxExpand int64 // bytes that the file may unpack to
	MaxPages  int
	MaxGlyphs int // per page
}

// Page is the content of one page.
type Page struct {
	Width, Height float64
	Glyphs        []Glyph // in drawing order
	Images        int     // number of images drawn
}

// Info is the metadata of a file.
type Info struct {
	Title, Author string
	Pages         int
	Damaged       bool // parts could not be read
}

// ErrTooManyPages reports that a file has more pages than the limit.
var ErrTooManyPages = errors.New("has too many pages")

// Read calls yield for each page until yield returns an error. A damaged page has the glyphs that
// can be read. The glyphs are valid until yield returns.
func Read(ctx context.Context, data []byte, lim Limits, yield func(n int, p *Page) error) (info Info, err error) {
	defer recoverError(&err)
	f, err := open(ctx, data, lim.MaxExpand)
	if err != nil {
		return info, err
	}
	leaves, err := f.pages(lim.MaxPages)
	if err != nil {
		return info, err
	}
	info = f.info()
	info.Pages = len(leaves)
	var glyphs []Glyph
	for n, leaf := range leaves {
		p := Page{Glyphs: glyphs[:0]}
		f.draw(&p, leaf, lim.MaxGlyphs)
		glyphs = p.Glyphs
		if err := yield(n, &p); err != nil {
			return info, err
		}
		f.spend(0)
	}
	info.Damaged = f.damaged || f.scanned
	return info, nil
}

func (f *file) info() Info {
	d := f.dict(f.trailer["Info"])
	str := func(key name) string {
		t, _ := f.resolve(d[key]).(text)
		return strings.TrimSpace(textString(t))
	}
	return Info{Title: str("Title"), Author: str("Author")}
}

// pages returns the page dictionaries, including the inherited entries.
func (f *file) pages(limit int) ([]dict, error) {
	w := pageWalk{f: f, limit: limit, seen: make(map[ref]bool)}
	w.visit(f.dict(f.trailer["Root"])["Pages"], dict{}, 0)
	if len(w.leaves) == 0 {
		if !f.scanned {
			f.scan()
		}
		w.collectPages()
	}
	switch {
	case len(w.leaves) > limit:
		return nil, ErrTooManyPages
	case len(w.leaves) == 0:
		return nil, ErrNoPDF
	}
	return w.leaves, nil
}

// pageWalk walks the page tree.
type pageWalk struct {
	f      *file
	limit  int
	seen   map[ref]bool
	leaves []dict
}

// inherited lists the entries that a page inherits from its parent nodes.
var inherited = []name{"Resources", "MediaBox", "CropBox", "Rotate"}

func (w *pageWalk) visit(x any, above dict, depth int) {
	r, isRef := x.(ref)
	if isRef && w.seen[r] || depth > maxTreeDepth || len(w.leaves) > w.limit {
		return
	}
	if isRef {
		w.seen[r] = true
	}
	w.f.spend(16)
	d := w.f.dict(x)
	if d == nil {
		return
	}
	own := maps.Clone(above)
	for _, key := range inherited {
		if d[key] != nil {
			own[key] = d[key]
		}
	}
	if kids, ok := w.f.resolve(d["Kids"]).(array); ok {
		for _, kid := range kids {
			w.visit(kid, own, depth+1)
		}
		return
	}
	own["Contents"] = d["Contents"]
	w.leaves = append(w.leaves, own)
}

// collectPages collects all objects of type Page, for a file without a page tree.
func (w *pageWalk) collectPages() {
	for _, num := range slices.Sorted(maps.Keys(w.f.xref)) {
		if d, ok := w.f.resolve(ref{num: num}).(dict); ok && d["Type"] == name("Page") {
			w.visit(ref{num: num}, dict{}, 0)
		}
	}
}

// draw interprets a page.
func (f *file) draw(p *Page, leaf dict, maxGlyphs int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case canceled, errBudget:
			panic(r)
		default: // keep the glyphs drawn so far
			f.damaged = true
		}
	}()
	in := interpreter{
		f: f, page: p, resources: f.dict(leaf["Resources"]), maxGlyphs: maxGlyphs, inlineFonts: make(map[name]*font),
	}
	in.state = state{ctm: f.pageMatrix(p, leaf), horizScale: 1}
	in.tm, in.tlm = identity, identity
	in.run(f.contents(leaf["Contents"]))
}

// contents joins the content streams of a page. The newline between them separates operators; the
// standard forbids splitting one.
func (f *file) contents(x any) []byte {
	switch x := f.resolve(x).(type) {
	case stream:
		return f.decode(x)
	case array:
		var out []byte
		for _, part := range x {
			if s, ok := f.resolve(part).(stream); ok {
				out = append(append(out, f.decode(s)...), '\n')
			}
		}
		return out
	}
	return nil
}

// pageMatrix sets the page size and returns the matrix that rotates the page as displayed, with its
// lower left corner at the origin.
func (f *file) pageMatrix(p *Page, leaf dict) matrix {
	box := f.array(leaf["CropBox"])
	if len(box) != 4 {
		box = f.array(leaf["MediaBox"])
	}
	x0, y0, x1, y1 := 0.0, 0.0, 612.0, 792.0
	if len(box) == 4 {
		x0, y0, x1, y1 = f.number(box[0]), f.number(box[1]), f.number(box[2]), f.number(box[3])
	}
	x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
	w, h := x1-x0, y1-y0
	m := matrix{1, 0, 0, 1, -x0, -y0}
	switch (int(math.Round(f.number(leaf["Rotate"])/90))%4 + 4) % 4 {
	case 1:
		m, w, h = m.mul(matrix{0, -1, 1, 0, 0, w}), h, w
	case 2:
		m = m.mul(matrix{-1, 0, 0, -1, w, h})
	case 3:
		m, w, h = m.mul(matrix{0, 1, -1, 0, h, 0}), h, w
	}
	p.Width, p.Height = w, h
	return m
}
