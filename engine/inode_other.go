//go:build !unix

package engine

import "io/fs"

// inode returns "": file numbers are not available here.
func inode(fs.FileInfo) string { return "" }
