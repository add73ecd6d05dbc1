package throttle

import (
	"runtime"
	"syscall"
)

// niceness is that of demoted threads: a tenth of a core is theirs while others need all.
const niceness = 10

// lowerPriority sets the niceness of the thread, which on Linux is each thread's own. A kernel
// that refuses leaves it as it is.
func lowerPriority() {
	runtime.LockOSThread() // never unlocked: who may not lower its niceness cannot take it back
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness)
}
