package main

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/ragctx/ragctx/providers/docs/extract"
)

// TestExtractPool: this very program, in the path by TestMain, reads files for itself.
func TestExtractPool(t *testing.T) {
	pool, err := newExtractPool(func() (string, error) { return exec.LookPath("ragctx") })
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	page := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj\n" +
		"3 0 obj<</Contents 4 0 R/Resources<</Font<</F<</Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n" +
		"4 0 obj<</Length 1>>stream\nBT /F 10 Tf 72 700 Td (read elsewhere) Tj ET\nendstream endobj"
	for x, err := range pool.Read(t.Context(), extract.File{Name: "a.pdf", Data: []byte(page)}, extract.Options{}) {
		if err != nil || x.Text != "read elsewhere\n" {
			t.Errorf("got %q, %v", x.Text, err)
		}
	}
	var help, stderr bytes.Buffer
	if run(t.Context(), []string{"--help"}, nil, &help, &stderr); bytes.Contains(help.Bytes(), []byte(extractWorker)) {
		t.Error("the help shows a command that is not for people")
	}
}
