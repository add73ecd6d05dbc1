package keyword

import (
	"path/filepath"
	"testing"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// Scorch's builder merges segments without a stats reporter.
func TestMergeWithoutReporter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	b, err := scorch.NewBuilder(map[string]any{"path": path, "batchSize": 1, "buildPathPrefix": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(3) { // each a segment
		doc := document.NewDocument(key(id))
		doc.AddField(newTerms([]storedKey{{text: "harbour"}}))
		if err := b.Index(doc); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil { // which merges them
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(path, "*.zap")); len(files) != 1 || err != nil {
		t.Errorf("segments are %q, %v", files, err)
	}
}
