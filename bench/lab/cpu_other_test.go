//go:build !unix

package main_test

import "time"

// processTime returns 0: this system does not report it.
func processTime() time.Duration { return 0 }
