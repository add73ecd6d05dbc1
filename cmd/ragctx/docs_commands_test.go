package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	shellBlock  = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)")
	shellLine   = regexp.MustCompile(`(?m)^(?: {4})?(?:\$ )?(?:[A-Z_]+=(?:'[^']*'|\S+) )*(?:\./ragctx|ragctx|go run \./cmd/ragctx) (.*)$`)
	shellWord   = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	shellEnd    = regexp.MustCompile(` +(?:#|\||>|&|;).*$`)
	inlineSpan  = regexp.MustCompile("`ragctx ([^`]+)`")
	inlineFlag  = regexp.MustCompile(`--([a-z][a-z-]+)`)
	placeholder = regexp.MustCompile(`\[--|<`)
)

// TestCommandsInPages: the command lines of the documentation are ones that the program
// understands. What a page has as an example of use is parsed whole; of commands within
// sentences, the command and its flags have to exist.
func TestCommandsInPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed := 0
	for _, path := range append(pages, "../../README.md", "../../bench/README.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "\\\n", " ")
		for _, block := range shellBlock.FindAllString(text, -1) {
			for _, line := range shellLine.FindAllStringSubmatch(block, -1) {
				if placeholder.MatchString(line[1]) {
					continue
				}
				parsed++
				var args []string
				for _, w := range shellWord.FindAllString(shellEnd.ReplaceAllString(line[1], ""), -1) {
					args = append(args, strings.Trim(w, `'"`))
				}
				if err := understood(args); err != nil {
					t.Errorf("%s: ragctx %s: %v", filepath.Base(path), line[1], err)
				}
			}
		}
		for _, span := range inlineSpan.FindAllStringSubmatch(text, -1) {
			mentioned(t, filepath.Base(path), span[1])
		}
	}
	if parsed < 50 {
		t.Errorf("only %d command lines were found", parsed)
	}
}

// understood parses a command line as the program does, and runs nothing.
func understood(args []string) error {
	root := newRoot(os.LookupEnv)
	strictBuiltins(root)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return flagError(cmd, args, err)
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// mentioned checks a command within a sentence, which may leave arguments out.
func mentioned(t *testing.T, page, text string) {
	t.Helper()
	root := newRoot(os.LookupEnv)
	strictBuiltins(root)
	words := strings.Fields(text)
	cmd, _, err := root.Find(words)
	if err != nil || cmd == root && !strings.HasPrefix(words[0], "-") && words[0] != strings.ToUpper(words[0]) {
		t.Errorf("%s: `ragctx %s`: there is no such command", page, text)
		return
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, f := range inlineFlag.FindAllStringSubmatch(text, -1) {
		if cmd.Flag(f[1]) == nil {
			t.Errorf("%s: `ragctx %s`: there is no flag --%s", page, text, f[1])
		}
	}
}

var (
	pageBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$(?:\n\n(?:[^\n]+:\n\n)?```text\n(.*?)^```$)?")
	pageReads = regexp.MustCompile(`^(?:ragctx query|ragctx memory list)`)
)

// TestTutorial runs each command of the tutorial in one shell, as a reader does, and compares the outputs.
func TestTutorial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	sh := newShell(t, "RAGCTX_ADDR="+addr)
	runPage(t, sh, "../../docs/tutorial.md", 10, addr)
}

// TestExamplesOfREST runs the commands of the page of rules for REST.
func TestExamplesOfREST(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	sh := newShell(t, "RAGCTX_ADDR="+addr)
	if out, ok := sh.run("ragctx serve > log 2>&1 &\nuntil curl -sf " + addr + "/readyz; do sleep 0.1; done\n"); !ok {
		t.Fatal(out)
	}
	runPage(t, sh, "../../docs/rest.md", 1, addr)
}

// TestDemoQuestion: the first item of the answer to the question of README.md is the one that the page shows.
func TestDemoQuestion(t *testing.T) {
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	sh := newShell(t, "")
	if out, ok := sh.run("cp -r '" + docs + "' docs\n"); !ok {
		t.Fatal(out)
	}
	runPage(t, sh, "../../README.md", 1, "")
}

// runPage runs the commands of a page, except those that install ragctx, and compares the outputs. A command that
// only reads is repeated until the background work before it is done.
func runPage(t *testing.T, sh *shell, path string, atLeast int, addr string) {
	t.Helper()
	page, err := os.ReadFile(path) //nolint:gosec // a page of this repository
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range pageBlock.FindAllStringSubmatch(string(page), -1) {
		command := strings.ReplaceAll(block[1], "localhost:7700", addr)
		if strings.HasPrefix(command, "go install") {
			continue
		}
		ran++
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(block[2])), "…", `[\s\S]*`) + "$")
		deadline := time.Now().Add(patience)
		for {
			out, ok := sh.run(command)
			if ok && want.MatchString(out) {
				break
			}
			if !pageReads.MatchString(command) || time.Now().After(deadline) {
				t.Fatalf("%s\nanswered (status 0: %v):\n%s\nthe page has:\n%s", command, ok, out, block[2])
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if ran < atLeast {
		t.Errorf("%s has %d commands", path, ran)
	}
}

// shell is a running sh that keeps its directory and its background jobs.
type shell struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func newShell(t *testing.T, env string) *shell {
	t.Helper()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	home := t.TempDir()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh") // the cleanup below ends it, with its jobs
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="+home, "RAGCTX_DATA=", env)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill $! 2>/dev/null; wait\n")
		_ = in.Close()
		_ = cmd.Wait()
		_ = r.Close()
	})
	return &shell{t, in, bufio.NewReader(r)}
}

// run runs commands and returns their output, and whether the last one succeeded.
func (s *shell) run(commands string) (out string, ok bool) {
	s.t.Helper()
	_, _ = io.WriteString(s.in, commands+"status=$?; echo; echo end of commands $status\n")
	var b strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s\n%s%v", commands, b.String(), err)
		}
		if status, end := strings.CutPrefix(line, "end of commands "); end {
			return strings.TrimSpace(b.String()), status == "0\n"
		}
		b.WriteString(line)
	}
}
