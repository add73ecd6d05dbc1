package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// localTime formats a time in the local time zone, with the zone's name.
func localTime(t time.Time) string {
	return t.Local().Format(time.DateTime + " MST") //nolint:gosmopolitan // times are those of who asks
}

// amount returns a count with its noun: 1 message, 2 messages, 2 memories, 2 indexes.
func amount[N int | int64](n N, noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
	case isY:
		noun = stem + "ies"
	case strings.HasSuffix(noun, "x"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// textArg returns a command's text: the argument, or standard input for "-".
func textArg(arg string, stdin io.Reader, limit int) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(stdin, int64(limit)+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(b) > limit {
		return "", ragctx.TooLarge("standard input", "has more than %d bytes", limit)
	}
	return strings.TrimSpace(string(b)), nil
}

// show prints a list unless there is an error.
func show[T any](w io.Writer, asJSON bool, list []T, err error, table func(io.Writer, []T) error) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(w, list)
	case len(list) == 0:
		return nil
	}
	return table(w, list)
}

// writeTable prints rows in columns, each cell in one printable line. No rows print nothing, and an empty
// heading is left out.
func writeTable[T any](w io.Writer, heading string, rows []T, cells func(T) []any) error {
	if len(rows) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if heading != "" {
		fmt.Fprintln(tw, heading)
	}
	for _, row := range rows {
		var line []string
		for _, cell := range cells(row) {
			line = append(line, printable(fmt.Sprint(cell)))
		}
		fmt.Fprintln(tw, strings.Join(line, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

// allPages returns the elements of all pages. fetch returns the page of at most [engine.MaxPage] elements
// after the last one, or the first page after a zero element.
func allPages[T any](fetch func(last T) ([]T, error)) ([]T, error) {
	all := []T{}
	var last T
	for {
		page, err := fetch(last)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < engine.MaxPage {
			return all, nil
		}
		last = page[len(page)-1]
	}
}
