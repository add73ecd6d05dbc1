//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows)

package atomicfile

// mapped maps nothing.
func mapped(File, int64, bool) (b []byte, release func() error, ok bool, err error) {
	return nil, nil, false, nil
}
