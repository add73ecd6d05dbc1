//go:build !unix

package extract

import (
	"os"
	"syscall"
)

// apart leaves a process in the group of the one that starts it.
func apart() *syscall.SysProcAttr { return nil }

// killAll kills a process. An error says that it has ended.
func killAll(p *os.Process) { _ = p.Kill() }
