package vector

import "github.com/ragctx/ragctx/index/vector/kernel"

// lanes is the multiple to which rows are padded, in memory and in segment files, so that the
// kernels need no remainder loop.
const lanes = 8

// stride returns the length of a padded row.
func stride(dim int) int { return (dim + lanes - 1) &^ (lanes - 1) }

// The segment file format must not follow changes of the kernels: this line fails to compile if the
// kernels need a larger multiple.
const _ = -uint(lanes % kernel.Lanes32)

// kernels compute all products of rows. Equal rows get equal products wherever they lie, which
// keeps the order of ties stable.
var kernels = kernel.Best()

// dot returns the dot product of q with one row of its length.
func dot(q, row []float32) float32 {
	var product [1]float32
	kernels.Scan32(q, row, product[:])
	return product[0]
}
