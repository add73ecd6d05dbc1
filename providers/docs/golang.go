package docs

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strings"

	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Limits of Go's own parser. Its syntax tree is many times larger than the source, and it recurses
// with the nesting.
const (
	maxGoBytes   = 1 << 20
	maxGoNesting = 1000
)

// parseGo parses Go. Declarations stay whole with their comments; methods and constructors are
// placed under their type. Source with syntax errors is parsed like other source code.
func parseGo(in input) structure {
	if len(in.text) > maxGoBytes || nestsDeeper(in.text, maxGoNesting) {
		return parseSource(in)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", in.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || file.Pos() == token.NoPos {
		return parseSource(in)
	}
	w := goWalk{sourceParser: sourceParser{in: in, lines: codeLines(in.text)}, file: fset.File(file.FileStart)}
	markComments(w.lines, in.lang)
	w.collect(file)
	w.arrange()
	s := structure{blocks: w.blocks, outline: outlineOf(w.sections, len(in.text))}
	if doc := file.Doc.Text(); !isLicense(doc) {
		s.description = firstSentences(doc)
	}
	return s
}

// nestsDeeper reports whether a source may nest deeper than n levels, by brackets or by tokens that
// a type, an expression or a statement can repeat. It may return true for source that does not.
func nestsDeeper(text string, n int) bool {
	depth, run := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
			run++
		case ')', ']', '}':
			depth--
			run++
		case ';', ',':
			run = 0
		case '\n':
			if i > 0 && strings.IndexByte(")]};,", text[i-1]) >= 0 || isWordEnd(text, i) {
				run = 0
			}
		case '*', '&', '!', '^', '-', '+', '<', ':', 'c', 'e', 'f', 'm':
			run++ // pointers, signs, labels; chan, else, func, map
		}
		if depth > n || run > 20*n {
			return true
		}
	}
	return false
}

// isWordEnd reports whether the byte before i ends a word or a literal, after which a line end acts
// as a semicolon.
func isWordEnd(text string, i int) bool {
	if i == 0 {
		return false
	}
	c := text[i-1] | 0x20
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || text[i-1] == '"' || text[i-1] == '`'
}

// goDecl is a top-level declaration.
type goDecl struct {
	start, end int    // with comments
	title      string // as a heading
	owner      string // type of the method or constructor
	names      string // the declared type
	specs      []int  // offsets of the specs of a group
}

// goWalk turns the declarations of a file into blocks.
type goWalk struct {
	sourceParser
	file     *token.File
	decls    []goDecl
	sections []heading
}

func (w *goWalk) offset(p token.Pos) int { return min(max(w.file.Offset(p), 0), len(w.in.text)) }

// lineAt returns the line of a byte offset.
func (w *goWalk) lineAt(offset int) int {
	return sort.Search(len(w.lines), func(i int) bool { return w.lines[i].start > offset }) - 1
}

// collect lists the declarations of a file. Each extends to the next one, so that detached comments
// are joined with the declaration before them.
func (w *goWalk) collect(file *ast.File) {
	types := make(map[string]bool)
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					types[t.Name.Name] = true
				}
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			w.function(d, types)
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				w.general(d)
			}
		}
	}
}

// startOf returns the offset of the line where a declaration or its comment begins.
func (w *goWalk) startOf(doc *ast.CommentGroup, pos token.Pos) int {
	if doc != nil {
		pos = doc.Pos()
	}
	return w.lines[max(w.lineAt(w.offset(pos)), 0)].start
}

func (w *goWalk) add(d goDecl) {
	if n := len(w.decls); n > 0 && d.start < w.decls[n-1].end {
		return // second declaration on a line
	}
	w.decls = append(w.decls, d)
}

func (w *goWalk) function(d *ast.FuncDecl, types map[string]bool) {
	end := d.End()
	head := end
	if d.Body != nil {
		head = d.Body.Lbrace
	}
	g := goDecl{start: w.startOf(d.Doc, d.Pos()), end: w.offset(end), title: w.line(d.Pos(), head)}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		g.owner = typeName(d.Recv.List[0].Type)
	} else if r := d.Type.Results; r != nil && len(r.List) > 0 && types[typeName(r.List[0].Type)] && strings.HasPrefix(d.Name.Name, "New") {
		g.owner = typeName(r.List[0].Type)
	}
	w.add(g)
}

// general adds a declaration of constants, variables or types. A group of types is split into its
// specs.
func (w *goWalk) general(d *ast.GenDecl) {
	g := goDecl{start: w.startOf(d.Doc, d.Pos()), end: w.offset(d.End())}
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			g.specs = append(g.specs, w.startOf(s.Doc, s.Pos()))
			g.names = s.Name.Name
		case *ast.ValueSpec:
			g.specs = append(g.specs, w.startOf(s.Doc, s.Pos()))
		}
	}
	switch {
	case !d.Lparen.IsValid():
		g.title = w.line(d.Pos(), d.End())
		if i := strings.IndexAny(g.title, "{="); i > 0 {
			g.title = strings.TrimSpace(g.title[:i])
		}
		g.specs = nil
	default:
		g.title, g.names = d.Tok.String()+" "+specNames(d.Specs), ""
	}
	w.add(g)
}

// line returns the source between two positions, joined to one line.
func (w *goWalk) line(from, to token.Pos) string {
	s := w.in.text[w.offset(from):w.offset(to)]
	return sentence.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), 4*maxTitleRunes)], "")), " "), maxTitleRunes)
}

// specNames returns the first names of a group.
func specNames(specs []ast.Spec) string {
	var names []string
	for _, spec := range specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				names = append(names, n.Name)
			}
		}
		if len(names) > 3 {
			return sentence.Clip(strings.Join(names[:3], ", "), maxTitleRunes-3) + ", …"
		}
	}
	return sentence.Clip(strings.Join(names, ", "), maxTitleRunes)
}

// typeName returns the type name of a receiver or result, or "" if the type is not declared in this
// package.
func typeName(e ast.Expr) string {
	for range 4 {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
	return ""
}

// arrange turns the declarations into blocks and sections.
func (w *goWalk) arrange() {
	path := []string{w.in.name}
	titles := make(map[string]string) // of types, by name
	methods := make(map[string]bool)  // types with methods
	for _, d := range w.decls {
		if d.names != "" {
			titles[d.names] = d.title
		}
		methods[d.owner] = true
	}
	at := 0
	open := "" // the type of the current section
	for i, d := range w.decls {
		end := len(w.in.text)
		if i+1 < len(w.decls) {
			end = w.decls[i+1].start
		}
		if i == 0 {
			w.block(0, d.start, path)
			at = d.start
		}
		level, own := 1, path
		owner := d.owner
		if owner == "" && methods[d.names] {
			owner = d.names
		}
		if owner != "" { // the type may be declared in another file
			own = []string{w.in.name, cmp.Or(titles[owner], "type "+owner)}
		}
		if d.owner != "" && d.owner == open {
			level = 2
		} else {
			open = d.names
		}
		w.sections = append(w.sections, heading{d.title, level, d.start})
		w.declaration(at, end, d, own)
		at = end
	}
	w.block(at, len(w.in.text), path)
}

// declaration adds text[start:end], which has one declaration.
func (w *goWalk) declaration(start, end int, d goDecl, path []string) {
	if !longerThan(strings.TrimSpace(w.in.text[start:end]), w.in.max) {
		w.block(start, end, path)
		return
	}
	if path[len(path)-1] != d.title {
		path = append(slices.Clip(path), d.title)
	}
	if len(d.specs) > 1 {
		at := start
		for _, s := range d.specs[1:] {
			w.block(at, s, path)
			at = max(at, s)
		}
		w.block(at, end, path)
		return
	}
	from, to := w.lineAt(start), w.lineAt(max(end-1, start))+1
	inner := w.innerIndent(from, to, w.lines[from].indent)
	if inner < 0 || w.sourceParser.offset(from) != start {
		w.block(start, end, path)
		return
	}
	outline := w.outline
	w.split(from, to, inner, 1, path)
	w.outline = outline
}

// block adds text[start:end] unless it is empty.
func (w *goWalk) block(start, end int, path []string) {
	if start < end {
		w.blocks = append(w.blocks, chunk.Block{Start: start, End: end, Heading: path, Keep: true})
	}
}
