package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words lists the elements, attributes and values of random trees: names that the readers know, in
// unexpected places.
type words struct {
	file, part, open, close string
	tags, attrs, values     []string
}

func vocabularies() []words {
	values := []string{
		"", "0", "1", "2", "-1", "9", "99999999999", "true", "begin", "separate", "end", "page",
		"restart", "berschrift1", "A1", "ZZ9", "s", "b", "inlineStr", "title", "body", "rId1", "F0FC",
	}
	return []words{
		{
			"a.docx", "word/document.xml",
			`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
				`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
				`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">`, `</w:document>`,
			strings.Fields("w:body w:p w:p w:r w:r w:t w:t w:pPr w:rPr w:pStyle w:numPr w:numId w:ilvl " +
				"w:outlineLvl w:tbl w:tblGrid w:gridCol w:tr w:trPr w:tc w:tcPr w:gridSpan w:vMerge w:gridBefore " +
				"w:br w:tab w:lastRenderedPageBreak w:pageBreakBefore w:fldChar w:instrText " +
				"w:footnoteReference w:sdt w:sdtPr w:sdtContent w:ins w:del w:vanish w:sym w:txbxContent " +
				"mc:AlternateContent mc:Choice mc:Fallback m:d m:dPr m:nary m:t"),
			strings.Fields("w:val w:type w:id w:fldCharType w:font w:char"), values,
		},
		{
			"a.pptx", "ppt/slides/slide1.xml",
			`<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` +
				`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
				`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">`, `</p:sld>`,
			strings.Fields("p:cSld p:spTree p:sp p:sp p:grpSp p:nvSpPr p:nvPr p:ph p:cNvPr p:txBody a:p a:p a:r " +
				"a:t a:t a:br a:pPr a:buAutoNum a:buNone a:buChar a:fld a:tbl a:tr a:tc p:graphicFrame p:pic " +
				"p:nvPicPr mc:AlternateContent mc:Choice"),
			strings.Fields("type lvl startAt vMerge hidden descr"), values,
		},
		{
			"a.xlsx", "xl/worksheets/sheet1.xml",
			`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`, `</worksheet>`,
			strings.Fields("sheetData row row c c c v v f is t dimension"),
			strings.Fields("r s t ref"), values,
		},
	}
}

// tree generates a random element with its content.
func (w words) tree(t *rapid.T, b *strings.Builder, depth int) {
	tag := rapid.SampledFrom(w.tags).Draw(t, "tag")
	b.WriteString("<" + tag)
	if rapid.Bool().Draw(t, "attribute") {
		b.WriteString(" " + rapid.SampledFrom(w.attrs).Draw(t, "name") + `="` +
			rapid.SampledFrom(w.values).Draw(t, "value") + `"`)
	}
	b.WriteString(">")
	if depth < 8 {
		for range rapid.IntRange(0, 4).Draw(t, "children") {
			w.tree(t, b, depth+1)
		}
	}
	b.WriteString(rapid.SampledFrom([]string{"", "x", "- 1", "44200.5", "a|b\n# c", "\t &lt;i&gt;"}).Draw(t, "text"))
	b.WriteString("</" + tag + ">")
}

// TestTrees reads documents with elements in meaningless places.
func TestTrees(t *testing.T) {
	for _, w := range vocabularies() {
		name := map[string]string{
			"a.docx": "word.docx.txtar", "a.pptx": "deck.pptx.txtar",
			"a.xlsx": "ledger.xlsx.txtar",
		}[w.file]
		support := supporting(t, name, w.part)
		t.Run(w.file, rapid.MakeCheck(func(r *rapid.T) {
			var b strings.Builder
			b.WriteString(w.open)
			for range rapid.IntRange(1, 4).Draw(r, "roots") {
				w.tree(r, &b, 0)
			}
			b.WriteString(w.close)
			fuzzPart(t, w.file, append([]string{w.part, b.String()}, support...)...)
		}))
	}
}
