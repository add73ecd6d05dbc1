package eval

import (
	"cmp"
	"slices"
)

// Span is a retrieved chunk: the code points [Start, End) of a document's text.
type Span struct {
	Doc        string
	Start, End int
	Score      float64
}

// spanChunks is the number of chunks that recall, precision and IoU consider.
const spanChunks = 5

// SpanMeasures measure how much of the reference spans the chunks cover, in characters. Precision
// and IoU count overlapping chunks twice.
type SpanMeasures struct {
	Recall5    float64 `json:"recall@5"`
	Precision5 float64 `json:"precision@5"`
	IoU5       float64 `json:"iou@5"`
	// RecallIn is the recall of contexts that are filled in rank order; a chunk that does not fit
	// is skipped.
	RecallIn2000 float64 `json:"recall_in_2000"`
	RecallIn4000 float64 `json:"recall_in_4000"`
	RecallIn8000 float64 `json:"recall_in_8000"`
}

// MeasureSpans scores ranked chunks against the reference spans of a document, as the chunking
// evaluation of Chroma does (Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval",
// 2024).
func MeasureSpans(chunks []Span, doc string, spans [][2]int) SpanMeasures {
	var m SpanMeasures
	ref := float64(total(spans))
	if ref == 0 {
		return m
	}
	top := chunks[:min(spanChunks, len(chunks))]
	got, size := float64(covered(top, doc, spans)), 0.0
	for _, c := range top {
		size += float64(c.End - c.Start)
	}
	m.Recall5 = got / ref
	if size > 0 {
		m.Precision5 = got / size
	}
	if union := size + ref - got; union > 0 {
		m.IoU5 = got / union
	}
	in := func(budget int) float64 { return float64(covered(fit(chunks, budget), doc, spans)) / ref }
	m.RecallIn2000, m.RecallIn4000, m.RecallIn8000 = in(2000), in(4000), in(8000)
	return m
}

// fit returns the chunks, in order, that fit into budget.
func fit(chunks []Span, budget int) []Span {
	var out []Span
	for _, c := range chunks {
		if n := c.End - c.Start; n <= budget {
			out = append(out, c)
			budget -= n
		}
	}
	return out
}

// covered counts the characters of the spans that the chunks contain.
func covered(chunks []Span, doc string, spans [][2]int) int {
	var hit [][2]int
	for _, c := range chunks {
		if c.Doc != doc {
			continue
		}
		for _, s := range spans {
			if from, to := max(c.Start, s[0]), min(c.End, s[1]); from < to {
				hit = append(hit, [2]int{from, to})
			}
		}
	}
	return total(hit)
}

// total counts the characters of ranges; overlaps count once.
func total(ranges [][2]int) int {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	n, end := 0, 0
	for i, r := range sorted {
		from := r[0]
		if i > 0 {
			from = max(from, end)
		}
		if r[1] > from {
			n += r[1] - from
		}
		end = max(end, r[1])
	}
	return n
}

func (m SpanMeasures) plus(o SpanMeasures) SpanMeasures {
	return SpanMeasures{
		m.Recall5 + o.Recall5, m.Precision5 + o.Precision5, m.IoU5 + o.IoU5,
		m.RecallIn2000 + o.RecallIn2000, m.RecallIn4000 + o.RecallIn4000, m.RecallIn8000 + o.RecallIn8000,
	}
}

func (m SpanMeasures) over(n int) SpanMeasures {
	d := float64(max(n, 1))
	return SpanMeasures{
		m.Recall5 / d, m.Precision5 / d, m.IoU5 / d,
		m.RecallIn2000 / d, m.RecallIn4000 / d, m.RecallIn8000 / d,
	}
}
