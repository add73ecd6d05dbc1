//go:build linux && !race

package extract

import "syscall"

// limitData bounds the data segment of this process. An allocation that exceeds the limit plus
// 512 MiB fails, and the runtime ends the process. On other systems, and with the race detector's
// own memory, only the heap is checked.
func limitData(limit int64) {
	const slack = 512 << 20 // memory that the runtime reserves or has not yet returned
	data := uint64(limit + slack)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: data, Max: data})
}
