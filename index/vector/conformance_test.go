package vector_test

import (
	"testing"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/indextest"
	"github.com/ragctx/ragctx/index/vector"
)

// dim is no multiple of the kernel's lanes, so that padding is tested too.
const dim = 20

func TestFlat(t *testing.T) {
	indextest.TestDense(t, opener("flat"), indextest.DenseOptions{Dim: dim, MinRecall: 1, Volatile: true, Copies: 100_000})
}

func TestCoder(t *testing.T) {
	indextest.TestDense(t, opener("coder"), indextest.DenseOptions{Dim: dim, Volatile: true})
}

func opener(kind string) func(t *testing.T, dir string) index.Dense {
	return func(t *testing.T, _ string) index.Dense {
		leg, err := vector.Open(kind, dim)
		if err != nil {
			t.Fatal(err)
		}
		return leg
	}
}
