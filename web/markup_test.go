package web_test

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var (
	place     = regexp.MustCompile(`\{\}`)
	inAValue  = regexp.MustCompile(`[\w-]+="[^"]*\{\}[^"]*"|\{\}"`)
	forbidden = regexp.MustCompile(`\s(on\w+|hx-on[\w:-]*|style|srcdoc)=`)
	voids     = regexp.MustCompile(`^(br|hr|img|input|link|meta|wbr|col)$`)
)

// TestMarkup checks the markup of all pages: as many arguments as places, a place is never a part of a value, every
// element is closed, and no script or style is inline.
func TestMarkup(t *testing.T) {
	p := readPages(t)
	found := 0
	for _, f := range p.funcs {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "F" {
				return true
			}
			at := p.files.Position(call.Pos())
			found++
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%v: the markup is not one literal", at)
				return true
			}
			markup, _ := strconv.Unquote(lit.Value)
			if places := len(place.FindAllString(markup, -1)); places != len(call.Args)-1 {
				t.Errorf("%v: %d places and %d arguments", at, places, len(call.Args)-1)
			}
			if bad := inAValue.FindString(markup) + forbidden.FindString(markup); bad != "" {
				t.Errorf("%v: %s", at, bad)
			}
			if fault := unclosed(markup); fault != "" {
				t.Errorf("%v: %s", at, fault)
			}
			return true
		})
	}
	if found < 200 {
		t.Errorf("only %d pieces of markup were found", found)
	}
}

// unclosed returns a tag without its counterpart, and inline scripts and styles.
func unclosed(markup string) string {
	var open []string
	for z := html.NewTokenizer(strings.NewReader(markup)); ; {
		switch kind := z.Next(); kind { //nolint:exhaustive // others have no counterpart
		case html.ErrorToken:
			return strings.Join(open, " ")
		case html.StartTagToken:
			if tok := z.Token(); !voids.MatchString(tok.Data) {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			tok := z.Token()
			if len(open) == 0 || open[len(open)-1] != tok.Data {
				return "</" + tok.Data + ">"
			}
			open = open[:len(open)-1]
		case html.TextToken:
			if text := string(z.Text()); len(open) > 0 && (open[len(open)-1] == "script" || open[len(open)-1] == "style") && text != "" {
				return text
			}
		}
	}
}
