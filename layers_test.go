package ragctx_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ragctx/ragctx"

// layers lists the packages from the bottom up. A package may import only
// packages listed before its own line.
var layers = []string{
	// leaves: they know nothing of each other
	"internal/atomicfile internal/budget internal/logtest internal/lru internal/throttle internal/trace internal/text/timeexpr providers/docs/extract/internal/pdf web/internal/html",
	". internal/atomicfile/faultfs",
	"embed/internal/safetensors embed/internal/wordpiece internal/access internal/httpclient internal/redact internal/text/analysis internal/text/chunk",
	"embed/internal/kernel index/vector/kernel index/keyword/internal/blockmax session/wire session/wire/pairing",
	"internal/events internal/imports internal/llm internal/otlp internal/pgclient internal/rerank internal/text/sentence internal/tokens",
	"embed index index/vector/hnsw internal/queryexpand session xmlfmt",
	"embed/minilm embed/remote embed/static index/indextest index/keyword index/vector internal/ledger internal/passage session/sessiontest",
	"embed/builtin index/local index/weaviate internal/ledger/ledgertest internal/resolve session/assemble session/compact",
	"session/stage",
	"internal/store",
	"internal/retrieve internal/store/sqlstore",
	"internal/store/sqlite",
	"index/pgvector internal/store/postgres internal/store/postgres/pgtest",
	// providers and stages
	"providers/docs/extract providers/docs/fetch providers/memory/facts providers/remote",
	"providers/docs providers/memory providers/procedures",
	"internal/store/storetest providers/docs/watch session/stage/remote session/view internal/webhook",
	// the engine, and what speaks for it
	"engine",
	"api/reference bench",
	"api/internal/request",
	"api/internal/compat",
	"api/internal/compat/mem0 api/internal/compat/openai api/internal/compat/rerank",
	"api api/mcp bench/eval examples/agent examples/crm examples/docsfolder",
	"web",
	"cmd/ragctx",
}

// TestImportsPointDown reads the sources itself: a test that ran "go list" would
// be answered from the test cache after a change in another package.
func TestImportsPointDown(t *testing.T) {
	level := make(map[string]int)
	for i, line := range layers {
		for dir := range strings.FieldsSeq(line) {
			level[path.Join(module, dir)] = i
		}
	}
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "tools") {
			return fs.SkipDir
		}
		if d.IsDir() && name != "." {
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir // another module
			}
		}
		if d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Join(module, path.Dir(name))
		from, listed := level[pkg]
		if !listed {
			t.Errorf("%s is on no layer; add it to layers", pkg)
			return nil
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to, ours := level[imp]; ours && to >= from {
				t.Errorf("%s: %s (layer %d) imports %s (layer %d)", name, pkg, from, imp, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
