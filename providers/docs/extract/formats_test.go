package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/providers/docs/extract"
)

func TestExtensions(t *testing.T) {
	exts := extract.Extensions()
	if !slices.IsSorted(exts) {
		t.Errorf("%v is not in order", exts)
	}
	for _, ext := range exts {
		if ext == "" || strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
			t.Errorf("%q is not an extension", ext)
		}
	}
	if extract.Holds("a.txt") {
		t.Error("a text holds files")
	}
	if got := extract.ShortName("made/up"); got != "made/up" {
		t.Errorf("an unknown type is called %q", got)
	}
}
