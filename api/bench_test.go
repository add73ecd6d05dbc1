package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// BenchmarkNoKey is what a document of 1 MiB costs for keys when it has none.
func BenchmarkNoKey(b *testing.B) {
	body, err := json.Marshal(DocumentRequest{Text: strings.Repeat("A line of a document, as it comes.\n", 1<<20/35)})
	if err != nil {
		b.Fatal(err)
	}
	s := New(nil, Options{})
	c := s.echo.NewContext(httptest.NewRequest(http.MethodPut, "/v1/documents/a", nil), nil)
	op := &huma.Operation{Method: http.MethodPut, Path: "/v1/documents/{id}"}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.once(c, op, body, func(string) {}); err != nil {
			b.Fatal(err)
		}
	}
}

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
