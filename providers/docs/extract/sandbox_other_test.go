//go:build !unix

package extract

import "os"

// running reports whether a process exists.
func running(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
