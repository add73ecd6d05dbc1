//go:build unix

package extract

import "syscall"

// apart makes a process the leader of its own group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
