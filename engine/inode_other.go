//go:build !unix

package engine

import "io/fs"

// inode is not known here.
func inode(fs.FileInfo) string { return "" }
