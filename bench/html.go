package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed report.html.tmpl
var pageText string

// WriteHTML writes a report, and what a comparison with an older one says if there
// is one, as a page with charts. The page needs no other file, has no scripts, and
// escapes all that comes from outside.
func WriteHTML(w io.Writer, r Report, c *Comparison) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"ms": ms, "tail": tail, "cpu": cpu, "memory": memory, "remarks": remarks,
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("page of the report: %w", err)
	}
	p := page{Report: r, Facts: facts(r), Charts: charts(r), HasStages: len(stageNames(r)) > 0, Tail: leastTail}
	if c != nil {
		p.Comparison, p.Forest = c, forest(c.Changes)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// page is what the template is given.
type page struct {
	Report     Report
	Facts      []fact
	Charts     []chart
	HasStages  bool
	Tail       int
	Comparison *Comparison
	Forest     template.HTML
}

// Name and Text are for the template.
func (f fact) Name() string { return f.name }

// Text is the second half.
func (f fact) Text() string { return f.text }
