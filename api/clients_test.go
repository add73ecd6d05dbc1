package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestClients runs the programs of docs/clients.md, each with a server of its own, and
// compares what they print with what the page says.
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
	want := block("text")
	for _, c := range []struct {
		language, file string
		command        []string // without the file
		able           string   // an argument with which the command ends well where it can run the program
	}{
		{"python", "client.py", []string{"python3"}, "--version"},
		{"typescript", "client.ts", []string{"node", "--experimental-strip-types", "--no-warnings"}, "--version"},
	} {
		t.Run(c.language, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), c.command[0], append(slices.Clone(c.command[1:]), c.able)...).CombinedOutput(); err != nil {
				t.Skipf("%s cannot be run here: %v %s", strings.Join(c.command, " "), err, bytes.TrimSpace(out))
			}
			f := start(t, Options{})
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(block(c.language)), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), c.command[0], append(slices.Clone(c.command[1:]), file)...)
			cmd.Env = append(os.Environ(), "RAGCTX_SERVER="+f.url, "RAGCTX_KEY=", "NO_PROXY=*", "no_proxy=*")
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("%v, it prints\n%s\nand not\n%s", err, out, want)
			}
		})
	}
}
