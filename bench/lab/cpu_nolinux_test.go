//go:build !linux

package main_test

import "time"

// threadTime returns the CPU time of the whole process: this system does not report that of a thread.
func threadTime() time.Duration { return processTime() }
