package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
)

var (
	faultStep = flag.Int("faults.step", 0, "TestFaults lets every so manieth system call of a kind fail; 0 is one of some kinds, 1 is every one")
	faultOnly = flag.String("faults.only", "", "the only kind of TestFaults, such as fsync:EIO")
)

// systemFaults are the system calls that fail below the program, and how. An fsync of 0 lies: it
// is not carried out.
var systemFaults = []string{
	"pwrite64:error=EIO", "pwrite64:error=ENOSPC", "fsync:error=EIO", "fdatasync:error=EIO", "fsync,fdatasync:retval=0",
	"pread64:error=EIO", "ftruncate:error=EIO", "unlinkat:error=EIO", "renameat:error=EIO",
}

// TestFaults runs the real program with one system call failing, for each call of a row of writes
// of every kind, by strace. What was acknowledged is there afterwards, nothing is there by half,
// and no request is answered by an internal error.
//
//	go test ./cmd/ragctx -run TestFaults -faults.step=1 -timeout 12h
func TestFaults(t *testing.T) {
	if err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot inject faults here: %v", err)
	}
	begun := t.TempDir()
	s := startServer(t, begun)
	url, err := s.url()
	if err != nil {
		t.Fatal(err)
	}
	key := firstKey(t, url)
	if code := s.end(t, syscall.SIGTERM); code != exitOK {
		t.Fatalf("ended with status %d", code)
	}
	if *faultStep == 0 {
		for _, f := range []string{"pwrite64:error=ENOSPC", "fsync:error=EIO", "fdatasync:error=EIO"} {
			if !strikeWith(t, begun, key, f, 1) {
				t.Errorf("%s never came", f)
			}
		}
		return
	}
	for _, f := range systemFaults {
		if *faultOnly != "" && *faultOnly != f {
			continue
		}
		t.Run(f, func(t *testing.T) {
			n := 1
			for ; strikeWith(t, begun, key, f, n); n += *faultStep {
				if t.Failed() {
					t.Fatalf("call %d", n)
				}
			}
			t.Logf("up to call %d", n)
		})
	}
}

// strikeWith does the row of writes with a fault at the n-th call of each thread, and reports
// whether there was one.
func strikeWith(t *testing.T, begun, key, fault string, n int) bool {
	t.Helper()
	dir, trace := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "trace")
	if err := os.CopyFS(dir, os.DirFS(begun)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	calls, _, _ := strings.Cut(fault, ":")
	when := fmt.Sprintf(":when=%d", n)
	if strings.Contains(fault, "retval") {
		when = fmt.Sprintf(":when=%d+", n) // a disk that lies goes on lying
	}
	s := startServer(t, dir, "strace", "-f", "-qq", "--seccomp-bpf", "-o", trace, "-e", "trace="+calls, "-e", "signal=none", "-e", "inject="+fault+when)
	all := things("x")
	url, err := s.url()
	if err == nil { // else it ended, and said why
		c := over(url, key)
		stopped := false
		for _, th := range all {
			for th.done < len(th.steps) {
				err := th.next(c)
				if err == nil {
					if stopped {
						t.Errorf("%s at call %d: a write is acknowledged after nothing more is written", fault, n)
					}
					continue
				}
				refused, ok := errors.AsType[*refusedError](err)
				if !ok || refused.status != http.StatusServiceUnavailable && refused.status != http.StatusInsufficientStorage {
					t.Errorf("%s at call %d, %s, step %d: %v", fault, n, th.kind, th.done, err)
				} else if strings.Contains(refused.body, "cannot write any more") {
					stopped = true
				}
				break
			}
		}
		tellsTheTruth(t, c, stopped, calls == "pread64")
		if stopped {
			asksTell(t, dir)
		}
		if fault == "fsync:error=EIO" && n == 1 && !stopped {
			t.Error("a failed sync did not stop the writes")
		}
		if pid := engine.OwnerOf(dir).PID; pid != 0 {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Errorf("%s at call %d: the server was gone: %v\n%s", fault, n, err, s.stderr.String())
			}
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("%s at call %d: the server does not end\n%s", fault, n, s.stderr.String())
	}
	if strings.Contains(s.stderr.String(), "loading shared libraries") {
		return true // the fault came before the program
	}
	if strings.Contains(s.stderr.String(), "panic") || s.cmd.ProcessState.ExitCode() > exitFailed {
		t.Errorf("%s at call %d: ended as %v\n%s", fault, n, s.cmd.ProcessState, s.stderr.String())
	}
	examine(t, dir, key, all)
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte("(INJECTED)"))
}

// tellsTheTruth wants a server that has stopped writing to say so wherever it is asked, and one
// that has not, not to. Where the fault was a read, SQLite takes the file for damaged, and so may
// the server.
func tellsTheTruth(t *testing.T, c *caller, stopped, read bool) {
	t.Helper()
	want := map[string]string{
		"/readyz": "cannot write any more", "/v1/status": "cannot write any more", "/metrics": `ragctx_store_failed{kind="writes_stopped"} 1`,
	}
	for path, says := range want {
		status, body, err := c.send("GET", path, "")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if read && strings.Contains(body, "the database file is damaged") {
			continue
		}
		if strings.Contains(body, says) != stopped || path == "/readyz" && (status == http.StatusServiceUnavailable) != stopped {
			t.Errorf("writes have stopped: %v; %s: %d %.400s", stopped, path, status, body)
		}
	}
}

// asksTell wants the commands that ask a server that has stopped writing to say so.
func asksTell(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"status"}, {"doctor"}, {"status", "--quiet"}} {
		home := t.TempDir()
		cmd := exec.Command("ragctx", append(args, "--data", dir)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != exitFailed || len(args) == 1 && !bytes.Contains(out, []byte("cannot write any more")) {
			t.Errorf("ragctx %v: %v\n%s", args, err, out)
		}
	}
}
