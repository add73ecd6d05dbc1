package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// TestOpenAPI fails when the routes and the document in testdata differ. Run
// with -update after a change that is meant.
func TestOpenAPI(t *testing.T) {
	f := start(t, Options{Version: "test"})
	a := f.call(t, "GET", "/openapi.json", "")
	if a.status != 200 || a.header.Get("Content-Type") != "application/openapi+json" {
		t.Fatalf("status %d, type %q", a.status, a.header.Get("Content-Type"))
	}
	golden := filepath.Join("testdata", "openapi.json")
	got := []byte(a.body + "\n")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the document has changed; run go test ./api -run TestOpenAPI -update (-want +got):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// TestOpenAPIIsComplete checks that every route of the router is documented and
// every reference resolves.
func TestOpenAPIIsComplete(t *testing.T) {
	f := start(t, Options{})
	var doc struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(f.spec(), &doc); err != nil {
		t.Fatal(err)
	}
	param := regexp.MustCompile(`([^\\]):(\w+)`)
	for _, r := range f.echo.Routes() {
		path := published(param.ReplaceAllString(r.Path, "$1{$2}"))
		if path != "/openapi.json" && doc.Paths[path][strings.ToLower(r.Method)] == nil {
			t.Errorf("%s %s is not documented", r.Method, path)
		}
	}
	for ref := range strings.SplitSeq(string(f.spec()), `"$ref": "#/components/schemas/`) {
		name, _, ok := strings.Cut(ref, `"`)
		if ok && !strings.HasPrefix(ref, "{") && doc.Components.Schemas[name] == nil {
			t.Errorf("reference to %q, which is not there", name)
		}
	}
	if strings.Contains(string(f.spec()), "$schema") || doc.Components.Schemas["ErrorModel"] != nil {
		t.Error("the document shows huma's own schemas")
	}
}

// TestLimitsAgree checks limits in struct tags against those they repeat.
func TestLimitsAgree(t *testing.T) {
	if DefaultMaxBodyBytes <= docs.DefaultMaxBytes {
		t.Error("the longest document does not fit into a body")
	}
	f := start(t, Options{})
	schemas := f.api.OpenAPI().Components.Schemas.Map()
	for _, tc := range []struct {
		schema, field string
		got           func(*huma.Schema) int
		want          int
	}{
		{"ContextRequest", "query", maxLength, ragctx.MaxQueryBytes},
		{"ContextRequest", "max_results", maximum, ragctx.MaxResultsLimit},
		{"ContextRequest", "max_tokens", maximum, ragctx.MaxTokensLimit},
		{"ContextRequest", "exclude", maxItems, ragctx.MaxResultsLimit},
		{"ContextRequest", "queries", maxItems, ragctx.MaxQueries},
		{"ContextRequest", "namespace", maxLength, ragctx.MaxNameBytes},
		{"FilterRequest", "tags", maxItems, ragctx.MaxFilterValues},
		{"DocumentRequest", "tags", maxItems, docs.MaxTags},
		{"Sizes", "target_chars", maximum, docs.MaxChunkChars},
		{"Sizes", "max_chars", maximum, docs.MaxChunkChars},
		{"MemoryRequest", "tags", maxItems, ragctx.MaxMemoryTags},
		{"TurnRequest", "tags", maxItems, ragctx.MaxMemoryTags},
		{"TurnRequest", "messages", maxItems, memory.MaxMessages},
	} {
		if got := tc.got(schemas[tc.schema].Properties[tc.field]); got != tc.want {
			t.Errorf("%s.%s: limit %d, want %d", tc.schema, tc.field, got, tc.want)
		}
	}
	for _, p := range f.api.OpenAPI().Paths["/v1/documents"].Get.Parameters {
		if p.Name == "limit" && (maximum(p.Schema) != engine.MaxPage || fmt.Sprint(p.Schema.Default) != strconv.Itoa(engine.DefaultPage)) {
			t.Errorf("limit: %d, default %v", maximum(p.Schema), p.Schema.Default)
		}
	}
	s := schemas["MemoryRequest"].Properties["memory_type"]
	var types []string
	for _, v := range s.Enum {
		types = append(types, v.(string))
		if _, err := ragctx.ParseMemoryType(v.(string)); err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(types, string(ragctx.MemoryWorking)) || len(types) != 4 {
		t.Errorf("memory types = %v", types)
	}
}

func maxLength(s *huma.Schema) int { return *s.MaxLength }

func maxItems(s *huma.Schema) int { return *s.MaxItems }

func maximum(s *huma.Schema) int { return int(*s.Maximum) }
