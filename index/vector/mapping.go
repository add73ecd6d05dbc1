//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package vector

import (
	"errors"
	"io"
	"os"

	mmap "github.com/blevesearch/mmap-go"

	"github.com/ragctx/ragctx/durable"
)

// contents returns the bytes of a file, mapped if it is one of the operating
// system's, and a function to let go of them.
func contents(f durable.File, size int64) ([]byte, func() error, error) {
	file, ok := f.(*os.File)
	if !ok || size == 0 {
		return readContents(f, size)
	}
	m, err := mmap.Map(file, mmap.RDONLY, 0)
	if err == nil && int64(len(m)) != size {
		err = errors.Join(io.ErrUnexpectedEOF, m.Unmap()) // it changed meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	return m, m.Unmap, nil
}
