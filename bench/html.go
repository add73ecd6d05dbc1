package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed report.html.tmpl
var pageText string

// WriteHTML writes a report as a page with charts, with the comparison if c is not nil. The page
// needs no other file and has no scripts. All external text is escaped.
func WriteHTML(w io.Writer, r Report, c *Comparison) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"ms": ms, "tail": tail, "cpu": cpu, "memory": memory, "remarks": remarks,
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("page of the report: %w", err)
	}
	p := page{Report: r, Facts: facts(r), Charts: charts(r), HasStages: len(stageNames(r)) > 0, Tail: leastTail}
	if c != nil {
		p.Comparison, p.Forest = c, forestPlot(c.Changes)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// page is the data of the template.
type page struct {
	Report     Report
	Facts      []fact
	Charts     []chart
	HasStages  bool
	Tail       int
	Comparison *Comparison
	Forest     template.HTML
}

// Name returns the fact's name, for the template.
func (f fact) Name() string { return f.name }

// Text returns the fact's value, for the template.
func (f fact) Text() string { return f.text }
