package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// TestJSON decodes what programs read.
func TestJSON(t *testing.T) {
	home := t.TempDir()
	docs := filepath.Join(home, "docs")
	write(t, docs, map[string]string{"a.md": "# Zebras\n\nEverything about zebras is <said> here.\n", "b.md": "# Lions\n\nEverything about lions.\n"})
	decoded := func(into any, args ...string) {
		t.Helper()
		r := ragctxIn(t.Context(), t, home, "", args...)
		if r.code != exitOK {
			t.Fatalf("%q: exit %d\n%s", args, r.code, r.stderr)
		}
		dec := json.NewDecoder(strings.NewReader(r.stdout))
		if err := dec.Decode(into); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, r.stdout)
		}
		if _, err := dec.Token(); err != io.EOF {
			t.Errorf("%q: more than one JSON value", args)
		}
	}
	var report engine.IngestReport
	if decoded(&report, "ingest", docs, "--json"); report.Created != 2 || report.Chunks != 2 {
		t.Errorf("ingest reports %+v", report)
	}
	var a resolve.Answer
	decoded(&a, "query", "zebras", "--format", "json", "--explain")
	if len(a.Items) == 0 || a.Items[0].ID != "docs/a.md@1#0" || len(a.Items[0].Signals) == 0 || !strings.Contains(a.XML, "&lt;said&gt;") {
		t.Errorf("query answers %+v", a)
	}
	var list []store.Document
	if decoded(&list, "docs", "list", "--json"); len(list) != 2 || list[1].ID != "docs/b.md" {
		t.Errorf("docs list is %+v", list)
	}
	var b bench.Report
	decoded(&b, "bench", "--requests", "4", "--repeat", "1", "--warmup", "0", "--clients", "2", "--json", "-")
	if m := b.Loads[0]; m.Succeeded != 4 || b.Setup.Documents != 2 || m.Latency.P50 <= 0 || m.Tokens.Max > b.Setup.MaxTokens || len(m.Stages) == 0 {
		t.Errorf("bench reports %+v", b)
	}
	var settings []shownSetting
	if decoded(&settings, "config", "--json"); len(settings) != len(allSettings()) {
		t.Errorf("config shows %+v", settings)
	}
}

// TestServeEnds serves, answers, and leaves no goroutine behind.
func TestServeEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	home := t.TempDir()
	docs := filepath.Join(home, "docs")
	write(t, docs, map[string]string{"a.md": "# Zebras\n\nEverything about zebras.\n"})
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		args := []string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(home, "data"), "--docs", docs}
		code <- run(ctx, args, strings.NewReader(""), in, &stderr)
		in.Close()
	}()
	var url string
	if _, err := fmt.Fscanf(out, "ragctx serves %s ", &url); err != nil {
		t.Fatal(err)
	}
	var drained sync.WaitGroup
	drained.Go(func() { io.Copy(io.Discard, out) })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("healthz says %s", res.Status)
	}
	stop()
	if c := <-code; c != exitOK {
		t.Errorf("exit %d after an orderly end\n%s", c, stderr.String())
	}
	drained.Wait()
}

// TestInterruptedIngest says how far it came; what was stored stays.
func TestInterruptedIngest(t *testing.T) {
	home := t.TempDir()
	docs := filepath.Join(home, "docs")
	files := make(map[string]string)
	for i := range 200 {
		files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("# File %d\n\nText of file %d.\n", i, i)
	}
	write(t, docs, files)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	sink := &interrupting{stop: func() {
		if n++; n == 20 {
			stop()
		}
	}}
	r, err := engine.Ingest(ctx, sink, engine.IngestOptions{Paths: []string{docs}, Workers: 1})
	err = outcome(ctx, r, err, nil)
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("interrupted after %d files; ingested files stay", r.Files())) {
		t.Errorf("error is %v", err)
	}
	if r.Files() < 20 || r.Files() > 30 {
		t.Errorf("report says %+v", r)
	}
	if got := ragctxIn(ctx, t, home, "", "ingest", docs); got.code != exitInterrupted || !strings.HasPrefix(got.stderr, "ragctx: ") {
		t.Errorf("exit %d, %q", got.code, got.stderr)
	}
}

func TestHelpIsComplete(t *testing.T) {
	root := newRoot(os.LookupEnv)
	for _, cmd := range root.Commands() {
		if !cmd.Hidden && (cmd.Short == "" || cmd.Example == "") {
			t.Errorf("%s has no short help or no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			if sub.Short == "" || sub.Example == "" {
				t.Errorf("%s has no short help or no example", sub.CommandPath())
			}
		}
	}
}
