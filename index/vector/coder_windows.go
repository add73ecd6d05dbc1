package vector

import (
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// openCoder reports that coder/hnsw does not build on Windows.
func openCoder(int) (index.VectorIndex, error) {
	return nil, fmt.Errorf("%w: vector graph %q does not exist on Windows; use %q", ragctx.ErrUnavailable, kindCoder, kindFlat)
}
