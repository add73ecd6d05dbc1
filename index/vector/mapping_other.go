//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows)

package vector

import "github.com/ragctx/ragctx/durable"

// contents returns the bytes of a file and a function to let go of them.
func contents(f durable.File, size int64) ([]byte, func() error, error) {
	return readContents(f, size)
}
