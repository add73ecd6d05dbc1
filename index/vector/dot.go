package vector

import "github.com/ragctx/ragctx/index/vector/kernel"

// lanes is what rows are padded to, in memory and in segment files, so that the
// kernels need no tail.
const lanes = 8

// stride returns the length of a padded row.
func stride(dim int) int { return (dim + lanes - 1) &^ (lanes - 1) }

// What segment files have does not follow what kernels come to need: this does not
// compile where it would have to.
const _ = -uint(lanes % kernel.Lanes32)

// kernels compute all products of rows. Equal rows get equal products wherever
// they lie, which ties depend on.
var kernels = kernel.Best()

// dot returns the dot product of q with one row of its length.
func dot(q, row []float32) float32 {
	var product [1]float32
	kernels.Scan32(q, row, product[:])
	return product[0]
}
