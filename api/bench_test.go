package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkCheckJSON checks a document of 1 MiB.
func BenchmarkCheckJSON(b *testing.B) {
	text := strings.Repeat("A line of a document, as it comes.\nUnd eine mit Umläuten: äöü.\n", 1<<20/65)
	src, err := json.Marshal(DocumentRequest{Text: text})
	if err != nil {
		b.Fatal(err)
	}
	s := New(nil, Options{})
	schemas := s.api.OpenAPI().Components.Schemas
	schema := schemas.SchemaFromRef("#/components/schemas/DocumentRequest")
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if faults, err := checkJSON(src, schema, schemas); err != nil || len(faults) > 0 {
			b.Fatal(err, faults)
		}
	}
}
