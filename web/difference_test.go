package web

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/web/internal/html"
)

// TestDifference: the edits lead from one text to the other, and are as few as the longest common
// subsequence allows.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "c", ""})
		a, b := rapid.SliceOfN(line, 0, 12).Draw(t, "a"), rapid.SliceOfN(line, 0, 12).Draw(t, "b")
		edits, whole := difference(a, b)
		var from, to []string
		changes := 0
		for _, e := range edits {
			if e.op != '+' {
				if from = append(from, e.text); e.from != len(from) {
					t.Fatalf("line %d has the number %d", len(from), e.from)
				}
			}
			if e.op != '-' {
				if to = append(to, e.text); e.to != len(to) {
					t.Fatalf("line %d has the number %d", len(to), e.to)
				}
			}
			if e.op != ' ' {
				changes++
			}
		}
		if strings.Join(from, "\n") != strings.Join(a, "\n") || strings.Join(to, "\n") != strings.Join(b, "\n") || len(from) != len(a) || !whole {
			t.Fatalf("%q to %q: %+v", a, b, edits)
		}
		if want := len(a) + len(b) - 2*common(a, b); changes != want {
			t.Fatalf("%d changes from %q to %q, want %d", changes, a, b, want)
		}
	})
}

// common returns the length of the longest common subsequence.
func common(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i, x := range a {
		for j, y := range b {
			if table[i+1][j+1] = max(table[i][j+1], table[i+1][j]); x == y {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return table[len(a)][len(b)]
}

func TestTextsThatShareNothing(t *testing.T) {
	a, b := make([]string, 3000), make([]string, 3000)
	for i := range a {
		a[i], b[i] = strings.Repeat("a", i), strings.Repeat("b", i+1)
	}
	if edits, whole := difference(a, b); whole || len(edits) != 6000 {
		t.Errorf("%d edits, whole %v", len(edits), whole)
	}
}

// TestLargeDifference: a page has a bounded number of rows.
func TestLargeDifference(t *testing.T) {
	var edits []edit
	for range 3 * maxDifference {
		edits = append(edits, edit{op: '+', text: "x"})
	}
	var page strings.Builder
	if err := html.WriteTo(&page, hunks(edits)); err != nil || strings.Count(page.String(), "<tr") > maxDifference+3 {
		t.Errorf("%d rows, %v", strings.Count(page.String(), "<tr"), err)
	}
}
