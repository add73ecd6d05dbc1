//go:build unix

package extract

import "syscall"

// running reports whether a process exists, zombies included.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
