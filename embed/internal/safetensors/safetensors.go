// Package safetensors reads model files of the format safetensors.
package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/ragctx/ragctx"
)

// maxTensorHeader is the limit of the JSON header. A model of 24 layers has 400 tensors in 40 KB.
const maxTensorHeader = 1 << 20

// Tensor is one tensor of a safetensors file (huggingface.co/docs/safetensors). The file has JSON
// with names, types, shapes and offsets, followed by little-endian values.
type Tensor struct {
	Kind  string // type of the values, such as F32
	Shape []int
	data  []byte
}

// kindSizes lists the supported types and the bytes of a value.
var kindSizes = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I32": 4, "I64": 8}

// Invalid returns an error that names the file.
func Invalid(format string, args ...any) error {
	return ragctx.Invalid("model.safetensors", format, args...)
}

// Parse returns the tensors of a file by name, without unsupported types. They share
// the bytes of the file.
func Parse(data []byte) (map[string]Tensor, error) {
	if len(data) < 8 {
		return nil, Invalid("is too short")
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	if n > maxTensorHeader || n > uint64(len(data)) {
		return nil, Invalid("has a header of %d bytes; the limit is %d, and the size of the file", n, maxTensorHeader)
	}
	var listed map[string]struct {
		Kind    string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(data[:n], &listed); err != nil {
		return nil, Invalid("has an invalid header: %v", err)
	}
	data = data[n:]
	tensors := make(map[string]Tensor, len(listed))
	for name, l := range listed {
		size, known := kindSizes[l.Kind]
		if !known || name == "__metadata__" {
			continue
		}
		for _, d := range l.Shape {
			if d < 0 || size > 0 && d > math.MaxInt32/size {
				return nil, Invalid("tensor %q has the shape %d", ragctx.Clip(name), l.Shape)
			}
			size *= d
		}
		o := l.Offsets
		if len(o) != 2 || o[0] > o[1] || o[1] > uint64(len(data)) || o[1]-o[0] != uint64(size) {
			return nil, Invalid("tensor %q has the offsets %d, which do not fit its shape or the file", ragctx.Clip(name), o)
		}
		tensors[name] = Tensor{l.Kind, l.Shape, data[o[0]:o[1]]}
	}
	return tensors, nil
}

// Number returns value i of a tensor.
func (t *Tensor) Number(i int) float64 {
	switch t.Kind {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "F16":
		return half(binary.LittleEndian.Uint16(t.data[2*i:]))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.data[2*i:])) << 16))
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(t.data[8*i:])))
	default:
		return float64(int8(t.data[i]))
	}
}

// half returns the value of an IEEE 754 binary16.
func half(bits uint16) float64 {
	sign := 1 - 2*float64(bits>>15)
	exponent, fraction := int(bits>>10&0x1F), float64(bits&0x3FF)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1F:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// ReadFile returns the contents of a regular file with at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, ragctx.Invalid("embedder", "%s is not a regular file of at most %d bytes", path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
