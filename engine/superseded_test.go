package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
)

// TestSuperseded checks that a decision record which says what supersedes it ranks below that record, and only if
// that record is found.
func TestSuperseded(t *testing.T) {
	for name, status := range map[string]string{
		"front matter": "---\nstatus: superseded by 0007\n---\n%s",
		"a line":       "%s\n\nStatus: Superseded by [ADR 7](0007-queue.md)\n",
		"a section":    "%s\n\n## Status\n\nSuperseded by ADR-7\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			f.put("adr/0003-queue.md", fmt.Sprintf(status, "# Which queue carries jobs\n\nRabbitMQ is the queue that carries jobs."))
			f.put("adr/0007-queue.md", "# Jobs move\n\nRabbitMQ is replaced: jobs are rows of a table.\n")
			f.put("other/0007-queue.md", "# Doors\n\nThe queue at the door has no jobs.\n")
			first := func(query string) []string {
				found, err := f.Search(t.Context(), ragctx.ContextQuery{Query: query})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.IsSortedFunc(found.Items, func(a, b ragctx.ContextItem) int { return int(1e6 * (b.Relevance - a.Relevance)) }) {
					t.Errorf("%s: the items are not sorted", query)
				}
				var ids []string
				for _, it := range found.Items {
					ids = append(ids, it.Metadata["document"].(string))
				}
				return ids
			}
			got := first("which queue carries jobs?")
			if len(got) < 2 || got[0] != "adr/0007-queue.md" || got[1] != "adr/0003-queue.md" {
				t.Errorf("%v: the successor is not first, or its record not second", got)
			}
			if got := first("carries"); len(got) == 0 || got[0] != "adr/0003-queue.md" {
				t.Errorf("%v: without its successor, the record is not first", got)
			}
		})
	}
}
