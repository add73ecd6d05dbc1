//go:build unix

package extract

import (
	"os"
	"syscall"
)

// apart makes a process the leader of its own group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killAll kills the group of a process. An error says that it has ended.
func killAll(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
