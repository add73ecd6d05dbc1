package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// newestJob sets a variable to the id of the newest job of the server at $ADDR:
// newest VARIABLE.
func newestJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newest VARIABLE")
	}
	c := api.NewClient("http://" + ts.Getenv("ADDR"))
	defer c.Close()
	list, err := c.ListJobs(context.Background(), store.JobFilter{Limit: 1})
	ts.Check(err)
	if len(list) == 0 {
		ts.Fatalf("there are no jobs")
	}
	ts.Setenv(args[0], list[0].ID)
}

// TestInterruptedIngestCancels: Ctrl-C ends the job of the server, too.
func TestInterruptedIngestCancels(t *testing.T) {
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), PauseJobs: true}) // so that it never ends by itself
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- api.New(eng, api.Options{}).Serve(serving, ln) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	home := t.TempDir()
	write(t, home, map[string]string{"docs/a.md": "alpha", "docs/b.md": "beta"})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		for {
			if list, err := eng.Jobs().List(ctx, store.JobFilter{}); err != nil || len(list) > 0 {
				interrupt()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	r := ragctxIn(ctx, t, home, "", "ingest", filepath.Join(home, "docs"), "--server", "http://"+ln.Addr().String())
	if r.code != exitInterrupted || !strings.HasPrefix(r.stderr, "ragctx: interrupted after 0 files; ingested files stay") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
	list, err := eng.Jobs().List(t.Context(), store.JobFilter{})
	if err != nil || len(list) != 1 || list[0].State != store.JobCancelled {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestKilledIngestGoesOn: the next command on the data directory does the rest.
func TestKilledIngestGoesOn(t *testing.T) {
	home := t.TempDir()
	docs, data := filepath.Join(home, "docs"), filepath.Join(home, "data")
	files := make(map[string]string)
	for i := range 300 {
		files["f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26)+".md"] = "# Lions\n\n" + strings.Repeat("Everything about lions. ", 40)
	}
	write(t, docs, files)
	cmd := exec.CommandContext(t.Context(), "ragctx", "ingest", docs, "--data", data)
	cmd.Env = append(os.Environ(), "HOME="+home)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) { // until something is stored
		if info, err := os.Stat(filepath.Join(data, "ragctx.db-wal")); err == nil && info.Size() > 300<<10 {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r := ragctxIn(t.Context(), t, home, "", "ingest", docs, "--data", data, "--json")
	var report engine.IngestReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.Created+report.Unchanged != len(files) {
		t.Errorf("%+v, %v: %s", report, err, r.stderr)
	}
	r = ragctxIn(t.Context(), t, home, "", "jobs", "list", "--json", "--data", data)
	var list []engine.Job
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) == 0 || list[0].State != store.JobDone {
		t.Errorf("%+v, %v: %s", list, err, r.stderr)
	}
	t.Logf("%d jobs, %+v", len(list), report)
}
