//go:build !amd64

package kernel

func native() []*Kernels { return nil }

func (*Kernels) dot8(q []int8, rows *Rows8, ids []uint32, out []int32) {
	gatherCodes(q, rows, ids, out)
}

func (*Kernels) scan8(q, run []int8, out []int32) { scanCodes(q, run, out) }

func (*Kernels) dot16(q []float32, rows *Rows16, ids []uint32, out []float32) {
	gatherFloats(q, rows, ids, out)
}

func (*Kernels) scan16(q []float32, run []int16, out []float32) { scanFloats(q, run, out) }
