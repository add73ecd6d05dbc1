//go:build unix

package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakePDFToText puts a program of that name into the path.
func fakePDFToText(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pdftotext"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
}

func TestPDFToText(t *testing.T) {
	good := pdfOf(lines(700, "The text of the file is read here and it is as good as the other."))
	torn := pdfOf(lines(700, "Thetextofthefileisreadhereanditis notasgoodastheotherone"))
	scan, err := os.ReadFile("testdata/pdf/scan.pdf")
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "The text of the file is read by the other program."
	for _, tt := range []struct {
		name, script string
		data         []byte
		ask          bool
		want, reason string
	}{
		{"not asked", "echo " + theirs, torn, false, "Thetext", ""},
		{"no better", "echo The text of the file.", good, true, "The text of the file is read here", ""},
		{"better", "echo " + theirs, torn, true, theirs, ""},
		{"only one", "cat \"$4\" >/dev/null && printf 'page one\\fpage two\\f'", scan, true, "page one\fpage two", ""},
		{"fails", "exit 3", scan, true, "", "only images"},
		{"says nothing", "exit 0", scan, true, "", "only images"},
		{"says too much", "yes", scan, true, "", "only images"},
		{"hangs", "exec sleep 60", scan, true, "", "only images"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fakePDFToText(t, tt.script)
			x, err := onePDF(t, tt.data, Options{PDFToText: tt.ask, Timeout: 500 * time.Millisecond, MaxText: 1 << 16})
			if !strings.HasPrefix(x.Text, tt.want) || (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("got %q, %v", x.Text, err)
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
				t.Errorf("%d files stay in the temporary directory", len(left))
			}
		})
	}
}
