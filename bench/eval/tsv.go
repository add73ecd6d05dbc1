package eval

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Qrels are judgements: the grades of each question's documents, above 0 for relevant ones.
type Qrels map[string]map[string]int

// Group is a category and its questions.
type Group struct {
	Name      string
	Questions []string
}

// Groups are categories in the order of the file.
type Groups []Group

// maxLine bounds a line of the tab-separated files.
const maxLine = 1 << 20

// eachRow calls fn with the cells of each line that is not blank. A first line whose last cell is
// not a number is skipped as a header.
func eachRow(r io.Reader, cells int, fn func(row []string, value float64) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSuffix(sc.Text(), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		row := strings.Split(line, "\t")
		var v float64
		err := fmt.Errorf("has %d columns, not %d", len(row), cells)
		if len(row) == cells {
			v, err = strconv.ParseFloat(row[cells-1], 64)
		}
		if err == nil && math.IsNaN(v) {
			err = fmt.Errorf("score is not a number")
		}
		if err != nil && n == 1 {
			continue
		}
		if err == nil {
			err = fn(row, v)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return sc.Err()
}

// ReadQrels reads judgements: query-id, corpus-id, score, with or without a header.
func ReadQrels(r io.Reader) (Qrels, error) {
	q := make(Qrels)
	err := eachRow(r, 3, func(row []string, v float64) error {
		if q[row[0]] == nil {
			q[row[0]] = make(map[string]int)
		}
		q[row[0]][row[1]] = int(v)
		return nil
	})
	return q, err
}

// readGroups reads categories: query-id, category.
func readGroups(r io.Reader) (Groups, error) {
	var g Groups
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		row := strings.Split(strings.TrimSuffix(sc.Text(), "\r"), "\t")
		if len(row) < 2 {
			continue
		}
		i := slices.IndexFunc(g, func(x Group) bool { return x.Name == row[1] })
		if i < 0 {
			i = len(g)
			g = append(g, Group{Name: row[1]})
		}
		g[i].Questions = append(g[i].Questions, row[0])
	}
	return g, sc.Err()
}

// Rankings are the results of each question, in any order.
type Rankings map[string][]Scored

// Scored is a document and its score.
type Scored struct {
	Doc   string
	Score float64
}

// ReadRun reads a run file: query-id, corpus-id, score. A duplicate document of a question is an
// error.
func ReadRun(r io.Reader) (Rankings, error) {
	run := make(Rankings)
	type pair struct{ question, doc string }
	seen := make(map[pair]bool)
	err := eachRow(r, 3, func(row []string, v float64) error {
		p := pair{row[0], row[1]}
		if seen[p] {
			return fmt.Errorf("document %q is given twice for question %q", p.doc, p.question)
		}
		seen[p] = true
		run[p.question] = append(run[p.question], Scored{p.doc, v})
		return nil
	})
	return run, err
}

// number formats a float so that parsing it returns the same float.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func writeRanking(w io.Writer, question string, docs []Scored) error {
	for _, d := range docs {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", question, d.Doc, number(d.Score)); err != nil {
			return err
		}
	}
	return nil
}

func writeSpans(w io.Writer, question string, chunks []Span) error {
	for _, c := range chunks {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", question, c.Doc, c.Start, c.End, number(c.Score)); err != nil {
			return err
		}
	}
	return nil
}
