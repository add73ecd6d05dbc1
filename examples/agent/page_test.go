package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session/compact"
)

// blocks returns the code of a language in the page.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/agent-loop.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(page, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// TestPageIsTheCode: the loop that the page shows is the program's.
func TestPageIsTheCode(t *testing.T) {
	code, err := os.ReadFile("loop.go")
	if shown := blocks(t, "go"); err != nil || len(shown) != 1 || !strings.Contains(string(code), shown[0]) {
		t.Errorf("the page shows\n%s\nwhich is not in loop.go, %v", shown, err)
	}
}

// TestPython: the page's programs lead a conversation that is longer than the window, and
// what they send is as the vendors want it.
func TestPython(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "python3", "--version").CombinedOutput(); err != nil {
		t.Skipf("there is no python3 here: %v %s", err, out)
	}
	shown := blocks(t, "python")
	if len(shown) != 3 {
		t.Fatalf("the page has %d blocks of Python", len(shown))
	}
	for i, protocol := range []string{"openai", "anthropic"} {
		t.Run(protocol, func(t *testing.T) {
			_, server := serve(t, engine.Options{})
			m := newScripted(t, protocols[protocol], window, task)
			program := filepath.Join(t.TempDir(), "agent.py")
			if err := os.WriteFile(program, []byte(shown[0]+"\n"+shown[1+i]), 0o600); err != nil {
				t.Fatal(err)
			}
			const turns = 4
			var lines, want strings.Builder
			for n := range turns {
				fmt.Fprintln(&lines, question(n+1))
				text, _ := task(n+1, -1)
				fmt.Fprintln(&want, text)
			}
			m.follow()
			cmd := exec.CommandContext(t.Context(), "python3", program)
			cmd.Dir, cmd.Stdin = workspace(t), strings.NewReader(lines.String())
			cmd.Env = append(os.Environ(), "RAGCTX_SERVER="+server, "MODEL_API="+m.url, "MODEL=m", "OPENAI_API_KEY=key", "ANTHROPIC_API_KEY=key",
				fmt.Sprintf("WINDOW=%d", window), "NO_PROXY=*", "no_proxy=*")
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != want.String() {
				t.Errorf("%v, it prints\n%s", err, out)
			}
			heard := m.requests()
			if len(heard) != turns*3 || !strings.Contains(heard[len(heard)-1].all(), compact.Marker) {
				t.Errorf("%d requests, and no summary", len(heard))
			}
		})
	}
}
