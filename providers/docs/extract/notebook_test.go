package extract

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// repeated returns JSON with a long list of equal elements.
func repeated(before, element, after string, size int) []byte {
	return []byte(before + strings.Repeat(element+",", size/(len(element)+1)) + element + after)
}

// TestNotebookLimits reads files whose values would take many times their size in memory.
func TestNotebookLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	const size = 6 << 20
	cell := `{"cells":[{"cell_type":"code","source":"a","outputs":[`
	for _, x := range []struct {
		name   string
		data   []byte
		reason string
	}{
		{"cells", repeated(`{"cells":[`, `{}`, `]}`, size), "has more than 20000 cells; split it"},
		{
			"outputs that are none", repeated(cell, `[]`, `]}]}`, size),
			"holds more than 1000000 fields and lines; split it",
		},
		{
			"lines", repeated(`{"cells":[{"source":[`, `""`, `]}]}`, size),
			"holds more than 1000000 fields and lines; split it",
		},
		{
			"text", repeated(`{"cells":[`, `{"source":"`+strings.Repeat("a", 1<<16)+`"}`, `]}`, 2<<20),
			"holds more than 1048576 bytes of text, the limit; split it",
		},
		{
			"text in lines", repeated(`{"cells":[{"source":[`, `"`+strings.Repeat("a", 1<<16)+`"`, `]}]}`, 2<<20),
			"holds more than 1048576 bytes of text, the limit; split it",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readCells(t.Context(), string(x.data), 1<<20)
			runtime.ReadMemStats(&after)
			if err == nil || err.Error() != x.reason {
				t.Errorf("got %v", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 40*uint64(len(x.data)) {
				t.Errorf("%d bytes take %d", len(x.data), used)
			}
		})
	}
}

// TestNotebookMetadata reads authors given as strings or as objects.
func TestNotebookMetadata(t *testing.T) {
	for authors, want := range map[string]any{
		`["Ann", "Ben"]`: "Ann", `[{"name": "Ann"}]`: "Ann", `[7, {"email": "e"}, {"name": "Ann"}]`: "Ann",
		`"Ann"`: nil, `[]`: nil,
	} {
		f := File{Name: "x.ipynb", Data: []byte(`{"cells":[{"source":"s"}],"metadata":{"title":"T","authors":` +
			authors + `}}`)}
		for x, err := range Read(t.Context(), f, Options{}) {
			if err != nil || x.Title != "T" || x.Metadata[MetaAuthor] != want {
				t.Errorf("%s: %+v, %v", authors, x, err)
			}
		}
	}
}

func TestNotebookCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readCells(ctx, string(repeated(`{"cells":[`, `{}`, `]}`, 4000)), 1000); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
}
