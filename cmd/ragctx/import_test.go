package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/imports"
)

// TestImportContinues interrupts an import between two batches. The next one stores the rest, and finds the
// first batch unchanged.
func TestImportContinues(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range importBatch + 100 {
		fmt.Fprintf(&lines, "{\"id\": \"doc/%d\", \"text\": \"Machine %d stands in room %d.\"}\n", i, i, i*7)
	}
	write(t, dir, map[string]string{"all.jsonl": lines.String()})
	eng, err := engine.Open(t.Context(), engine.Options{Dir: dir + "/data", PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	c := &client{Client: api.NewInside(eng, api.Options{}), local: eng}
	c.startJobs()
	run := func(ctx context.Context, after int, cancel func()) importReport {
		w := &importer{client: c, namespace: "default", progress: io.Discard}
		n := 0
		for _, k := range imports.Kinds() {
			if k.Name != "jsonl" {
				continue
			}
			err := k.Read(ctx, dir+"/all.jsonl", func(i imports.Item) error {
				if n++; n == after {
					cancel()
				}
				return w.take(ctx, i)
			})
			if ferr := w.flush(ctx); (err != nil || ferr != nil) != (ctx.Err() != nil) {
				t.Fatal(err, ferr)
			}
		}
		return w.report
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := run(ctx, importBatch+50, cancel)
	if first.Documents.Created != importBatch {
		t.Errorf("%+v", first)
	}
	second := run(t.Context(), 0, nil)
	if want := (importCounts{Created: 100, Unchanged: importBatch}); second.Documents != want || second.Failed != 0 {
		t.Errorf("%+v", second)
	}
}
