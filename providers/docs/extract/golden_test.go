package extract

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens anew")

// describe formats the texts of a file for a golden file.
func describe(t *testing.T, f File, o Options) string {
	t.Helper()
	var b strings.Builder
	for x, err := range Read(t.Context(), f, o) {
		if own, ok := errors.AsType[*Error](err); ok {
			fmt.Fprintf(&b, "=== %s\nerror: %s\n\n", own.Path, own.Reason)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "=== %s\ntitle: %s\nmime: %s\nformat: %s\n", x.Path, x.Title, x.MIME, x.Format)
		for _, k := range slices.Sorted(maps.Keys(x.Metadata)) {
			fmt.Fprintf(&b, "%s: %v\n", k, x.Metadata[k])
		}
		if !x.Occurred.IsZero() {
			fmt.Fprintf(&b, "occurred: %s\n", x.Occurred.UTC().Format(time.RFC3339))
		}
		fmt.Fprintf(&b, "---\n%s\n", x.Text)
	}
	return b.String()
}

// TestGolden compares the corpora with golden files that a person checked.
func TestGolden(t *testing.T) {
	for _, pattern := range []string{"html/*.*html", "mail/*.eml", "mail/*.mbox", "notebook/*.ipynb"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			t.Run(filepath.Base(name), func(t *testing.T) {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				got := describe(t, File{Name: filepath.Base(name), Data: data}, Options{})
				golden := name + ".golden"
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
