//go:build !unix

package extract

import "syscall"

// apart leaves a process in the group of the one that starts it.
func apart() *syscall.SysProcAttr { return nil }
