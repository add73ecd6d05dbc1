package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ragctx/ragctx/bench"
)

//go:embed report.html.tmpl
var pageText string

// WriteHTML writes a report as a page with charts, with the comparison if c is not nil. The page
// needs no other file and has no scripts. All external text is escaped.
func WriteHTML(w io.Writer, r bench.Report, c *Comparison) error {
	t, err := template.New("report").Funcs(template.FuncMap{"ms": bench.Milliseconds}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("page of the report: %w", err)
	}
	var table strings.Builder
	if err := bench.WriteTable(&table, r); err != nil {
		return err
	}
	p := page{Setup: r.Setup, Table: table.String(), Charts: charts(r)}
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
	Setup      bench.Setup
	Table      string
	Charts     []chart
	Comparison *Comparison
	Forest     template.HTML
}
