package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// matrix holds the rows of a .fvecs file. Each row is its number of components as an int32, then
// the components as float32, little endian. The file is mapped, so its pages are not anonymous
// memory.
type matrix struct {
	data []byte
	rows int
	dim  int
}

// openMatrix maps a file and checks its format, and that the rows are unit vectors.
func openMatrix(path string) (matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return matrix{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return matrix{}, err
	}
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return matrix{}, fmt.Errorf("%s: %w", path, err)
	}
	dim := int(binary.LittleEndian.Uint32(head[:]))
	width := int64(dim+1) * 4
	if dim < 1 || dim > 1<<16 || info.Size()%width != 0 {
		return matrix{}, fmt.Errorf("%s: %d bytes are no rows of %d components", path, info.Size(), dim)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return matrix{}, fmt.Errorf("%s: map: %w", path, err)
	}
	m := matrix{data: data, rows: int(info.Size() / width), dim: dim}
	for i := 0; i < m.rows; i += max(1, m.rows/100) {
		if n := dot(m.row(i), m.row(i)); math.Abs(n-1) > 1e-3 {
			return matrix{}, fmt.Errorf("%s: row %d has length %.4f; rows must be unit vectors", path, i, math.Sqrt(n))
		}
	}
	return m, nil
}

// row returns a row in the mapping.
func (m matrix) row(i int) []float32 {
	at := i*(m.dim+1)*4 + 4
	return unsafe.Slice((*float32)(unsafe.Pointer(&m.data[at])), m.dim)
}

// head returns the first n rows, or all.
func (m matrix) head(n int) matrix {
	m.rows = min(m.rows, n)
	return m
}

// writer writes rows, normalised.
type writer struct {
	f   *os.File
	buf *bufio.Writer
	row []byte
}

func createFvecs(path string) (*writer, error) {
	f, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	return &writer{f: f, buf: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (w *writer) write(v []float32) error {
	w.row = binary.LittleEndian.AppendUint32(w.row[:0], uint32(len(v)))
	inverse := 1 / math.Sqrt(dot(v, v))
	for _, x := range v {
		w.row = binary.LittleEndian.AppendUint32(w.row, math.Float32bits(float32(float64(x)*inverse)))
	}
	_, err := w.buf.Write(w.row)
	return err
}

// close renames the file to its final name, so that a file is complete or absent.
func (w *writer) close() error {
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if err := w.f.Close(); err != nil {
		return err
	}
	part := w.f.Name()
	return os.Rename(part, part[:len(part)-len(".part")])
}

func dot(a, b []float32) (sum float64) {
	b = b[:len(a)]
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
