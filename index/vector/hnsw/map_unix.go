//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package hnsw

import (
	"errors"
	"io"
	"os"

	mmap "github.com/blevesearch/mmap-go"

	"github.com/ragctx/ragctx/durable"
)

// contents returns the bytes of a file, and a function to let go of them. A file
// of the operating system is mapped: what is written to its bytes stays in memory.
func contents(f durable.File, size int64) ([]byte, func() error, error) {
	file, ok := f.(*os.File)
	if !ok || size == 0 {
		return readContents(f, size)
	}
	m, err := mmap.Map(file, mmap.COPY, 0)
	if err == nil && int64(len(m)) != size {
		err = errors.Join(io.ErrUnexpectedEOF, m.Unmap()) // it changed meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	return m, m.Unmap, nil
}
