package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragctx/ragctx/engine"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ragctx": func() { os.Exit(realMain()) }})
}

// patience is how long a test waits for an event before it fails. Processors may be slow or busy.
const patience = 2 * time.Minute

func TestScripts(t *testing.T) {
	first := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", first+e.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TZ", "UTC") // which tables name
			return nil
		},
		Condition: func(name string) (bool, error) { // whether the permissions of folders bind this process
			if name != "permissions" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() > 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"announced": announced, "held": isHeld, "newest": newestJob, "table": makeTable, "site": serveSite, "providers": serveProviders, "eventually": eventually, "until": until, "certificate": makeCertificate},
	})
}

// announced waits until a server has written its address into the lock file of
// a data directory, and sets a variable to it: announced DIR VARIABLE.
func announced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: announced DIR VARIABLE")
	}
	o := owner(ts, args[0], func(o engine.Owner) bool { return o.Address != "" })
	ts.Setenv(args[1], o.Address)
}

// isHeld waits until a process has a data directory open: held DIR.
func isHeld(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: held DIR")
	}
	owner(ts, args[0], func(o engine.Owner) bool { return o.PID != 0 })
}

// until runs a command again and again until its output matches: until PATTERN COMMAND...
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	want, out := regexp.MustCompile(`(?m)`+args[0]), ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...) // it may fail until then
		if out = ts.ReadFile("stdout"); want.MatchString(out) {
			return
		}
	}
	ts.Fatalf("it never came to that: %s", out)
}

// owner waits until the lock file of a data directory says what is wanted. It
// does not ask engine.FindServer, whose probe could take the lock from a server.
func owner(ts *testscript.TestScript, dir string, wanted func(engine.Owner) bool) engine.Owner {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var o engine.Owner
		b, err := os.ReadFile(filepath.Join(ts.MkAbs(dir), "LOCK"))
		if err == nil && json.Unmarshal(b, &o) == nil && wanted(o) {
			return o
		}
	}
	ts.Fatalf("the data directory %s has no such owner", dir)
	return engine.Owner{}
}

// result is what a command line did.
type result struct {
	stdout, stderr string
	code           int
}

// ragctxIn runs a command line in this process, with dir as the user's home and the working
// directory.
func ragctxIn(ctx context.Context, t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	return result{stdout.String(), stderr.String(), code}
}

// write puts files into dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
