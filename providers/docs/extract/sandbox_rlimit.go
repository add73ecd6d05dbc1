//go:build linux && !race

package extract

import "syscall"

// limitSystem bounds the data that the system gives to this process: what asks for
// more than half a gigabyte beyond the limit at once does not get it, and the runtime
// ends the process. Elsewhere, and with the race detector's own memory, there is
// only the look at the heap.
func limitSystem(limit int64) {
	const slack = 512 << 20 // what the runtime keeps for itself and has not yet returned
	data := uint64(limit + slack)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: data, Max: data})
}
