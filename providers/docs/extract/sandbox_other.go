//go:build !unix

package extract

import "syscall"

// ownGroup leaves a process in its parent's group.
func ownGroup() *syscall.SysProcAttr { return nil }
