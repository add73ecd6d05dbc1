//go:build unix

package extract

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running reports whether a process exists, zombies included.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestPoolBehindProgram checks that a worker behind a wrapper program ends with it, even in the middle
// of a file.
func TestPoolBehindProgram(t *testing.T) {
	p := newPool(t, "act", func(o *PoolOptions) {
		o.Size, o.Argv = 1, []string{"/bin/sh", "-c", `"$0"; exit $?`, o.Argv[0]}
	})
	got, err := ask(t, p, "pid", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, p, "hang", Options{Timeout: 50 * time.Millisecond}); err == nil ||
		!strings.Contains(err.Error(), "takes longer") {
		t.Errorf("got %v", err)
	}
	pid, err := strconv.Atoi(got.Text)
	if err != nil || pid == os.Getpid() {
		t.Fatalf("process %q, %v", got.Text, err)
	}
	waitGone(t, pid)
}
