package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestClients runs the program of docs/clients.md that needs no library, and compares its output with
// the page. tools/clients/run.sh runs the packages.
func TestClients(t *testing.T) {
	page, err := os.ReadFile("../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		m := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(page, -1)
		if len(m) != 1 {
			t.Fatalf("the page has %d blocks of %s", len(m), language)
		}
		return string(m[0][1])
	}
	if out, err := exec.CommandContext(t.Context(), "python3", "--version").CombinedOutput(); err != nil {
		t.Skipf("python3 cannot be run here: %v %s", err, bytes.TrimSpace(out))
	}
	f := start(t, Options{})
	file := filepath.Join(t.TempDir(), "client.py")
	if err := os.WriteFile(file, []byte(block("python")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", file)
	cmd.Env = append(os.Environ(), "RAGCTX_SERVER="+f.url, "RAGCTX_KEY=", "NO_PROXY=*", "no_proxy=*")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != block("text") {
		t.Errorf("%v, it prints\n%s\nand not\n%s", err, out, block("text"))
	}
}
