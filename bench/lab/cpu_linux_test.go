package main_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of the calling thread. A caller that compares two values must lock
// the goroutine to its thread.
func threadTime() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		return 0
	}
	return time.Duration(at.Nano())
}
