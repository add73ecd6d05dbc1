//go:build !unix

package extract

import "syscall"

// ownGroup leaves a process in its parent's group.
func apart() *syscall.SysProcAttr { return nil }
