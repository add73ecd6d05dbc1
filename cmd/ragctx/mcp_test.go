package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is 'ragctx mcp' run as an editor runs it, with a client of it.
type agent struct {
	*mcp.ClientSession

	cmd    *exec.Cmd
	stderr *bytes.Buffer
	out    *bytes.Buffer // all that it wrote to standard output
}

// tee lets a client read from a process and keeps what it read.
type tee struct {
	io.Reader
	io.Closer
}

func startAgent(t *testing.T, home string, args ...string) *agent {
	t.Helper()
	// TestMain has put this very program into the path.
	a := &agent{cmd: exec.Command("ragctx", append([]string{"mcp"}, args...)...), stderr: new(bytes.Buffer), out: new(bytes.Buffer)}
	a.cmd.Env = append(a.cmd.Environ(), "HOME="+home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
	a.cmd.Stderr, a.cmd.Dir = a.stderr, home
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	client := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil)
	a.ClientSession, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: tee{io.TeeReader(out, a.out), out}, Writer: in}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, a.stderr)
	}
	return a
}

// end closes its standard input, and looks at what it left behind.
func (a *agent) end(t *testing.T) {
	t.Helper()
	a.Close()
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, a.stderr)
	}
	for line := range strings.Lines(a.out.String()) {
		var message struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &message); err != nil || message.JSONRPC != "2.0" {
			t.Errorf("standard output has %q", line)
		}
	}
}

// call calls a tool and returns its text.
func (a *agent) call(t *testing.T, name string, args map[string]any) string {
	t.Helper()
	res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, a.stderr)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return "error: " + text
	}
	return text
}

// awaitJob waits until a job has ended.
func (a *agent) awaitJob(t *testing.T, answer string) string {
	t.Helper()
	var begun struct {
		ID string `json:"job_id"`
	}
	if err := json.Unmarshal([]byte(answer), &begun); err != nil || begun.ID == "" {
		t.Fatalf("no job was begun: %s", answer)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text := a.call(t, "job_status", map[string]any{"id": begun.ID})
		if strings.Contains(text, `"state":"done"`) || strings.Contains(text, `"state":"failed"`) {
			return text
		}
	}
	t.Fatal("the job does not end")
	return ""
}

// TestMCP runs the command as editors do: two side by side, of which the first has the
// data directory, and the second goes on when the first has ended.
func TestMCP(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{"notes/zebra.md": "# Zebras\n\nZebras live in savannas.\n", "secret/lion.md": "# Lions\n\nThe lion's password.\n"})
	first := startAgent(t, home, "--user", "ada", "--allow-path", "notes")
	second := startAgent(t, home, "--namespace", "default", "--allow-path", "notes", "--log-level", "debug")

	first.awaitJob(t, first.call(t, "ingest", map[string]any{"paths": []string{"notes"}}))
	for _, a := range []*agent{first, second} {
		if text := a.call(t, "context", map[string]any{"query": "where do zebras live?"}); !strings.Contains(text, "savannas") {
			t.Errorf("context: %s", text)
		}
		for _, path := range []string{"secret", "notes/../secret/lion.md", "/", "http://127.0.0.1/"} {
			if text := a.call(t, "ingest", map[string]any{"paths": []string{path}}); !strings.HasPrefix(text, "error: invalid: paths[0]: ") {
				t.Errorf("%s is ingested: %s", path, text)
			}
		}
	}
	kept := first.call(t, "memory_add", map[string]any{"content": "Ada prefers zebras."})
	var m struct{ ID string }
	if err := json.Unmarshal([]byte(kept), &m); err != nil || m.ID == "" {
		t.Fatal(kept)
	}
	// The second acts for nobody unless it is told: over a server, too.
	for _, tool := range []string{"fetch", "memory_history"} {
		if text := second.call(t, tool, map[string]any{"id": m.ID}); !strings.HasPrefix(text, "error: not_found") {
			t.Errorf("%s of somebody's memory: %s", tool, text)
		}
		if text := second.call(t, tool, map[string]any{"id": m.ID, "user_id": "ada"}); !strings.Contains(text, "prefers zebras") {
			t.Errorf("%s for ada: %s", tool, text)
		}
	}
	if text := first.call(t, "memory_search", map[string]any{"query": "zebras", "user_id": "bob"}); !strings.HasPrefix(text, "error: invalid: user_id: ") {
		t.Errorf("the user that is set can be changed: %s", text)
	}
	found := second.call(t, "codesearch", map[string]any{"query": "savannas"})
	if !strings.Contains(found, `"id":"notes/zebra.md@1#0"`) {
		t.Error(found)
	}
	if text := second.call(t, "fetch", map[string]any{"id": "notes/zebra.md@1#0"}); !strings.Contains(text, `"type":"passage"`) {
		t.Error(text)
	}
	write(t, home, map[string]string{"notes/lion.md": "# Lions\n\nLions sleep.\n"})
	for name := range strings.FieldsSeq("zebra lion") { // what was written just now is read again
		before := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(home, "notes", name+".md"), before, before); err != nil {
			t.Fatal(err)
		}
	}
	second.awaitJob(t, second.call(t, "ingest", map[string]any{"paths": []string{filepath.Join(home, "notes")}}))

	// A second time nothing has changed, which is an answer.
	if text := second.call(t, "ingest", map[string]any{"paths": []string{filepath.Join(home, "notes")}}); !strings.Contains(text, `"unchanged":2`) {
		t.Error(text)
	}

	first.end(t)
	if text := second.call(t, "context", map[string]any{"query": "what do lions do?"}); !strings.Contains(text, "Lions sleep") {
		t.Errorf("after the first has ended: %s", text)
	}
	if r := ragctxIn(t.Context(), t, home, "", "docs", "list"); r.code != exitOK || !strings.Contains(r.stdout, "notes/lion.md") {
		t.Errorf("beside an agent: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	second.end(t)
	if r := ragctxIn(t.Context(), t, home, "", "docs", "list"); r.code != exitOK || !strings.Contains(r.stdout, "notes/lion.md") {
		t.Errorf("after the agents: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestMCPReadOnly offers nothing that writes.
func TestMCPReadOnly(t *testing.T) {
	a := startAgent(t, t.TempDir(), "--read-only")
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_add", Arguments: map[string]any{"content": "x"}}); err == nil {
		t.Error("a tool that is not offered can be called")
	}
	a.end(t)
}

// TestMCPInterrupted ends in order when it is told to, with its input still open.
func TestMCPInterrupted(t *testing.T) {
	a := startAgent(t, t.TempDir())
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip(err) // where there are no signals
	}
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, a.stderr)
	}
	a.Close()
}

// TestMCPSaysWhatIsWrong on standard error, and writes nothing else.
func TestMCPSaysWhatIsWrong(t *testing.T) {
	for want, args := range map[string][]string{
		"--allow-path: nowhere": {"mcp", "--allow-path", "nowhere"},
		"takes no arguments":    {"mcp", "x"},
	} {
		if r := ragctxIn(t.Context(), t, t.TempDir(), "", args...); r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: exit %d, %q, %q", args, r.code, r.stdout, r.stderr)
		}
	}
}

// TestMCPDocs holds that the configurations of the documentation can be read, and name
// flags that there are; and that it names every tool.
func TestMCPDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) < 8 {
		t.Errorf("%d blocks of JSON", len(blocks))
	}
	for _, block := range blocks {
		if !json.Valid([]byte(block[1])) {
			t.Errorf("not JSON:\n%s", block[1])
		}
	}
	commands := regexp.MustCompile("ragctx mcp((?: --[a-z-]+(?: [^\\s-`]+)?)*)").FindAllStringSubmatch(string(b), -1)
	for _, c := range commands {
		checkFlags(t, strings.Fields(c[1]))
	}
	for _, list := range regexp.MustCompile(`(?m)"?args"?(?::| =) (\[.*\])`).FindAllStringSubmatch(string(b), -1) {
		var args []string
		if err := json.Unmarshal([]byte(list[1]), &args); err != nil || args[0] != "mcp" {
			t.Errorf("%s: %v", list[1], err)
			continue
		}
		checkFlags(t, args[1:])
	}
	a := startAgent(t, t.TempDir())
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if !strings.Contains(string(b), "| `"+tool.Name+"` |") {
			t.Errorf("the documentation does not name %s", tool.Name)
		}
	}
	a.end(t)
}

func checkFlags(t *testing.T, args []string) {
	t.Helper()
	root := newRoot(os.LookupEnv)
	cmd, rest, err := root.Find(append([]string{"mcp"}, args...))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
}
