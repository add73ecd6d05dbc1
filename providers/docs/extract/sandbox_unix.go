//go:build unix

package extract

import "syscall"

// ownGroup makes a process the leader of its own process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
