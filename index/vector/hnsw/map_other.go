//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris)

package hnsw

import "github.com/ragctx/ragctx/durable"

// contents returns the bytes of a file, and a function to let go of them. Windows
// can map files, too, but not remove or replace them then.
func contents(f durable.File, size int64) ([]byte, func() error, error) {
	return readContents(f, size)
}
