//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package atomicfile

import (
	"errors"
	"io"
	"os"
	"runtime"

	mmap "github.com/blevesearch/mmap-go"
)

// mapFile maps a file into memory. It returns ok = false if the file cannot be mapped.
func mapFile(f File, size int64, writable bool) (b []byte, release func() error, ok bool, err error) {
	file, ok := f.(*os.File)
	if !ok || size == 0 || writable && runtime.GOOS == "windows" {
		return nil, nil, false, nil
	}
	mode := mmap.RDONLY
	if writable {
		mode = mmap.COPY
	}
	m, err := mmap.Map(file, mode, 0)
	if err == nil && int64(len(m)) != size {
		err = errors.Join(io.ErrUnexpectedEOF, m.Unmap()) // the size changed in the meantime
	}
	if err != nil {
		return nil, nil, false, err
	}
	return m, m.Unmap, true, nil
}
