package keyword

import (
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
)

func opener(opts Options, onDisk bool) func(*testing.T, string) index.Lexical {
	return func(t *testing.T, dir string) index.Lexical {
		t.Helper()
		if !onDisk {
			dir = ""
		}
		ix, err := Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		if r := ix.Recovered(); r != "" {
			t.Errorf("recovered: %s", r)
		}
		return ix
	}
}

func TestLexical(t *testing.T) {
	t.Run("Memory", func(t *testing.T) { indextest.TestLexical(t, opener(Options{}, false)) })
	t.Run("Disk", func(t *testing.T) { indextest.TestLexical(t, opener(Options{}, true)) })
	t.Run("TinyFlushes", func(t *testing.T) { indextest.TestLexical(t, opener(Options{FlushUnits: 2}, true)) })
	t.Run("TinyFlushesInMemory", func(t *testing.T) { indextest.TestLexical(t, opener(Options{FlushUnits: 2}, false)) })
}
