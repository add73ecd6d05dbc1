//go:build !linux

package bench_test

import "time"

// threadTime returns that of the whole process: that of a thread is not known here.
func threadTime() time.Duration { return processTime() }
