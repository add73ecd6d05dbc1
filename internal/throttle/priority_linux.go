package throttle

import (
	"runtime"
	"syscall"
)

// niceness is the nice value of threads with lowered priority. They get a tenth of a core when all
// cores are busy.
const niceness = 10

// lowerPriority sets the niceness of the current thread; on Linux it is a property of the thread.
// If the kernel refuses, the priority stays the same.
func lowerPriority() {
	runtime.LockOSThread() // never unlocked: an unprivileged thread cannot raise its priority again
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness)
}
