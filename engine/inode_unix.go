//go:build unix

package engine

import (
	"io/fs"
	"strconv"
	"syscall"
)

// inode distinguishes a file from another one of the same size and time that was moved into its
// place.
func inode(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 36)
	}
	return ""
}
