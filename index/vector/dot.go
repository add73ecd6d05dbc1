package vector

import "github.com/ragctx/ragctx/index/vector/kernel"

// lanes is the multiple to which rows are padded, in memory and in segment files, so that the
// kernels need no remainder loop.
const lanes = 8

// stride returns the length of a padded row, and of a padded query.
func stride(dim int) int { return kernel.Stride16(dim) }

// The segment file format must not follow changes of the kernels: this line fails to compile if the
// kernels need a larger multiple.
const _ = -uint(lanes % kernel.Lanes16)

// kernels compute all products of rows. Equal rows get equal products wherever they lie, which
// keeps the order of ties stable.
var kernels = kernel.Best()

// dot returns the product of a query with the vector of one row.
func dot(q []float32, row []int16) float32 {
	var product [1]float32
	kernels.Scan16(q, row, product[:])
	return product[0]
}

// decoded returns the vector of a row.
func decoded(row []int16, dim int) []float32 {
	v := make([]float32, dim)
	kernel.Decode16(v, row)
	return v
}
