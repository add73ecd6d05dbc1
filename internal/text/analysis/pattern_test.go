package analysis_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

func TestPatterns(t *testing.T) {
	prefix := func(text string) analysis.Pattern { return analysis.Pattern{Kind: analysis.Prefix, Text: text} }
	near := func(text string) analysis.Pattern { return analysis.Pattern{Kind: analysis.Near, Text: text} }
	for _, tt := range []struct {
		name, query string
		want        []analysis.Pattern
	}{
		{"none", "storm in the harbour", nil},
		{"a prefix is not stemmed", "Studies* of storms", []analysis.Pattern{prefix("studies")}},
		{"a near word is", "harbuors~", []analysis.Pattern{near("harbuor")}},
		{"both, in order", "storn~ harb*", []analysis.Pattern{near("storn"), prefix("harb")}},
		{"once", "harb* harb* HARB*", []analysis.Pattern{prefix("harb")}},
		{"before punctuation", `(harb*), storm~?`, []analysis.Pattern{prefix("harb"), near("storm")}},
		{"short", "ha* ab~ 学*", nil},
		{"three letters", "har* кни*", []analysis.Pattern{prefix("har"), prefix("кни")}},
		{"a compound as a whole", "get_user* in http.Clien~", []analysis.Pattern{prefix("get_user"), near("http.clien")}},
		{"camel case as a whole", "parseHTTP*", []analysis.Pattern{prefix("parsehttp")}},
		{"a stop word", "they*", []analysis.Pattern{prefix("they")}},
		{"emphasis", "*harbour* **harbour** ~~storm~~ harbour**", nil},
		{"files and products", "foo*.go src/* three*four ~/home harb*/x char *p", nil},
		{"a star apart", "storm * harbour ~ x", nil},
		{"too many", "aaa* bbb* ccc* ddd* eee* fff~ ggg~ hhh~ iii~", []analysis.Pattern{
			prefix("aaa"), prefix("bbb"), prefix("ccc"), prefix("ddd"), prefix("eee"), near("fff"), near("ggg"), near("hhh"),
		}},
		{"in a long text", "harb* " + strings.Repeat("text ", analysis.MaxPatternQuery/5), nil},
		{"invalid", "\xffharb* \xff*", []analysis.Pattern{prefix("harb")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, analysis.Patterns(tt.query)); diff != "" {
				t.Errorf("patterns of %q (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

func FuzzPatterns(f *testing.F) {
	for _, s := range []string{"harb* storm~", "get_user*,", "*a* **b** ~c~", "学習* книг~", "\xff*", "C++* ab\u00adcd* ﬁsh~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		patterns := analysis.Patterns(query)
		if len(patterns) > analysis.MaxPatterns {
			t.Fatalf("%d patterns", len(patterns))
		}
		for i, p := range patterns {
			if n := utf8.RuneCountInString(p.Text); n == 0 || n > analysis.MaxTermRunes || !utf8.ValidString(p.Text) ||
				strings.ContainsAny(p.Text, " \x00\x01\x02*~") {
				t.Errorf("pattern %+v of %q", p, query)
			}
			for _, other := range patterns[:i] {
				if other == p {
					t.Errorf("pattern %+v of %q twice", p, query)
				}
			}
		}
	})
}
