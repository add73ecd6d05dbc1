//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows)

package atomicfile

// mapFile reports that files cannot be mapped on this platform.
func mapFile(File, int64, bool) (b []byte, release func() error, ok bool, err error) {
	return nil, nil, false, nil
}
