package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragctx/ragctx"
	program "github.com/ragctx/ragctx/providers/remote"
)

// account is a provider that has one thing to say. Its value is its name.
type account string

func (a account) Name() string { return string(a) }

func (a account) Query(context.Context, ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	r.Add(ragctx.ContextItem{ID: "1", Content: "the account of " + string(a), Relevance: 0.9})
	return r, nil
}

const providerSecret = "0123456789abcdef0123"

// serveProviders starts the programs of two providers and writes settings that name
// them: providers FILE.
func serveProviders(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: providers FILE")
	}
	settings := make([]map[string]any, 0, 2)
	for _, name := range []string{"crm", "wiki"} {
		s := httptest.NewServer(program.Handler(account(name), providerSecret))
		ts.Defer(s.Close)
		settings = append(settings, map[string]any{"name": name, "url": s.URL + "/?token=x", "secret_env": "CRM_SECRET"})
	}
	settings[0]["failure_mode"], settings[0]["turn_url"] = "fail_closed", settings[0]["url"]
	settings[1]["scope"] = "session"
	b, err := json.Marshal(map[string]any{"providers": settings})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// TestProvidersPage runs the program of docs/providers.md with the settings of that
// page.
func TestProvidersPage(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "providers.md"))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	ln.Close()
	home := t.TempDir()
	for _, block := range regexp.MustCompile("(?ms)^```[a-z]+ ([a-z.]+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		write(t, home, map[string]string{block[1]: strings.ReplaceAll(block[2], "9001", port)})
	}
	t.Setenv("ONCALL_SECRET", "4f1d0c9b8a7e6d5c")
	program := exec.CommandContext(t.Context(), python, filepath.Join(home, "oncall.py"))
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Process.Kill()
		program.Wait()
	})
	ask := func() result {
		return ragctxIn(t.Context(), t, home, "", "query", "who is on call today?", "--config", filepath.Join(home, "settings.json"), "--data", filepath.Join(home, "d"))
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // until it listens
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			break
		}
	}
	r := ask()
	if !strings.Contains(r.stdout, "<context source=\"oncall:rota\" type=\"Resource\" id=\"rota-today\">\nOn call today: Ada Berg, 4711.\n</context>") {
		t.Errorf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	t.Setenv("ONCALL_SECRET", "another secret of the two")
	if r = ask(); strings.Contains(r.stdout, "Ada Berg") || !strings.Contains(r.stderr, "401") {
		t.Errorf("signed with another secret: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}
