package pdf

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxTree is how deep page trees are followed.
const maxTree = 64

// Limits bound the reading of a file.
type Limits struct {
	MaxExpand int64 // bytes that it may unpack to
	MaxPages  int
	MaxGlyphs int // of a page
}

// Page is what stands on one page.
type Page struct {
	Width, Height float64
	Glyphs        []Glyph // in the order of drawing
	Images        int     // how many images are drawn
}

// Info is what a file says of itself.
type Info struct {
	Title, Author string
	Pages         int
	Damaged       bool // parts could not be read
}

// ErrTooManyPages says that a file has more pages than the limit.
var ErrTooManyPages = errors.New("has too many pages")

// Read gives the pages of a file to yield, one after the other, until that
// returns an error. A page that is damaged shows what can be read of it. The
// glyphs are valid until yield returns.
func Read(ctx context.Context, data []byte, lim Limits, yield func(n int, p *Page) error) (info Info, err error) {
	defer caught(&err)
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
		t, _ := f.get(d[key]).(text)
		return strings.TrimSpace(textString(t))
	}
	return Info{Title: str("Title"), Author: str("Author")}
}

// pages returns the dictionaries of the pages with what they inherit.
func (f *file) pages(limit int) ([]dict, error) {
	w := walk{f: f, limit: limit, seen: make(map[ref]bool)}
	w.node(f.dict(f.trailer["Root"])["Pages"], dict{}, 0)
	if len(w.leaves) == 0 {
		if !f.scanned {
			f.scan()
		}
		w.loose()
	}
	switch {
	case len(w.leaves) > limit:
		return nil, ErrTooManyPages
	case len(w.leaves) == 0:
		return nil, ErrNoPDF
	}
	return w.leaves, nil
}

// walk goes through the tree of pages.
type walk struct {
	f      *file
	limit  int
	seen   map[ref]bool
	leaves []dict
}

// inherited are the entries that pages take from the nodes above.
var inherited = []name{"Resources", "MediaBox", "CropBox", "Rotate"}

func (w *walk) node(x any, above dict, depth int) {
	r, isRef := x.(ref)
	if isRef && w.seen[r] || depth > maxTree || len(w.leaves) > w.limit {
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
	if kids, ok := w.f.get(d["Kids"]).(array); ok {
		for _, kid := range kids {
			w.node(kid, own, depth+1)
		}
		return
	}
	own["Contents"] = d["Contents"]
	w.leaves = append(w.leaves, own)
}

// loose takes every object that says it is a page, where there is no tree.
func (w *walk) loose() {
	for _, num := range slices.Sorted(maps.Keys(w.f.xref)) {
		if d, ok := w.f.get(ref{num: num}).(dict); ok && d["Type"] == name("Page") {
			w.node(ref{num: num}, dict{}, 0)
		}
	}
}

// draw interprets a page.
func (f *file) draw(p *Page, leaf dict, maxGlyphs int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped, errBudget:
			panic(r)
		default: // the page shows what was drawn up to here
			f.damaged = true
		}
	}()
	in := interpreter{f: f, page: p, resources: f.dict(leaf["Resources"]), maxGlyphs: maxGlyphs, own: make(map[name]*font)}
	in.state = state{ctm: f.upright(p, leaf), stretch: 1}
	in.tm, in.tlm = identity, identity
	in.content(f.contents(leaf["Contents"]))
}

// contents joins the streams of a page; an operator may be split among them only
// between its words.
func (f *file) contents(x any) []byte {
	switch x := f.get(x).(type) {
	case stream:
		return f.decode(x)
	case array:
		var out []byte
		for _, part := range x {
			if s, ok := f.get(part).(stream); ok {
				out = append(append(out, f.decode(s)...), '\n')
			}
		}
		return out
	}
	return nil
}

// upright notes the size of a page and returns the matrix that turns it as it is
// shown, its lower left corner at zero.
func (f *file) upright(p *Page, leaf dict) matrix {
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
