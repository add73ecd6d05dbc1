package vector_test

import (
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/vector"
	"github.com/ragctx/ragctx/internal/atomicfile/faultfs"
)

// dim is no multiple of the kernel's lanes, so that padding is tested too.
const dim = 20

func TestFlat(t *testing.T) {
	indextest.TestVector(t, opener("flat"), indextest.VectorOptions{Dim: dim, Stored: vector.KeptVector, MinRecall: 1, Volatile: true, Copies: 100_000})
}

func TestStored(t *testing.T) {
	for name, o := range map[string]vector.Options{
		"Files":       {},
		"TinyFlushes": {FlushChanges: 4, FS: faultfs.New()}, // in memory: thousands of syncs take their time
	} {
		t.Run(name, func(t *testing.T) {
			indextest.TestVector(t, storedOpener(o), indextest.VectorOptions{Dim: dim, Stored: vector.KeptVector, MinRecall: 1, Copies: 5000})
		})
	}
}

func TestCoder(t *testing.T) {
	indextest.TestVector(t, opener("coder"), indextest.VectorOptions{Dim: dim, Stored: vector.KeptVector, Volatile: true})
}

func opener(kind string) func(t *testing.T, dir string) index.VectorIndex {
	return func(t *testing.T, _ string) index.VectorIndex {
		return open(t, vector.Options{Graph: kind, Dimensions: dim})
	}
}

func storedOpener(o vector.Options) func(t *testing.T, dir string) index.VectorIndex {
	return func(t *testing.T, dir string) index.VectorIndex {
		o.Graph, o.Dir, o.Dimensions, o.Identity = "flat", dir, dim, "conformance"
		ix := open(t, o)
		if r := ix.(interface{ Recovered() string }).Recovered(); r != "" {
			t.Errorf("recovered: %s", r)
		}
		return ix
	}
}

func open(t *testing.T, o vector.Options) index.VectorIndex {
	t.Helper()
	ix, err := vector.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}
