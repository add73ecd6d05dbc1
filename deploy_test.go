package ragctx_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDockerfile checks that the image is built with the module's version of Go and without cgo,
// and that it runs without root rights and has a health check.
func TestDockerfile(t *testing.T) {
	file, err := os.ReadFile("deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)[1]
	for _, line := range []string{
		"FROM golang:" + string(version) + " AS build", "CGO_ENABLED=0", "FROM scratch", "USER 65532:65532", "VOLUME /data", "ENV HOME=/data RAGCTX_DATA=/data RAGCTX_ADDR=0.0.0.0:7700 RAGCTX_FIRST_KEY=new",
		`CMD ["/ragctx", "status", "--quiet"]`, `ENTRYPOINT ["/ragctx"]`,
	} {
		if !strings.Contains(string(file), line) {
			t.Errorf("no %s", line)
		}
	}
}

// TestUnit verifies the systemd unit and its TLS drop-in, with /bin/true in place of ragctx.
func TestUnit(t *testing.T) {
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	unit, err := os.ReadFile("deploy/ragctx.service")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ragctx.service")
	text := strings.ReplaceAll(string(unit), "ExecStart=ragctx", "ExecStart=true")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile("deploy/tls.conf")
	if err == nil {
		err = os.Mkdir(file+".d", 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(file+".d", "tls.conf"), more, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), systemd, "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMonitoring checks that /metrics has every series that the alerts and the dashboard name, by its
// golden file, with the values of the labels that are fixed.
func TestMonitoring(t *testing.T) {
	golden, err := os.ReadFile("api/testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deploy/prometheus/rules.yaml", "deploy/grafana/ragctx.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
		series := regexp.MustCompile(`\b(?:ragctx|go)_[a-z0-9_]+`).FindAllString(string(text), -1)
		if len(series) < 10 {
			t.Errorf("%s names %d series", name, len(series))
		}
		for _, s := range series {
			if !regexp.MustCompile(`(?m)^` + s + `[{ ]`).Match(golden) {
				t.Errorf("%s: /metrics has no %s", name, s)
			}
		}
		for _, label := range regexp.MustCompile(`\b(state|status|result|route|reason)=\\?"([^"\\]+)`).FindAllStringSubmatch(string(text), -1) {
			if want := label[1] + `="` + label[2] + `"`; label[2] != "5xx" && !strings.Contains(string(golden), want) {
				t.Errorf("%s: no series has %s", name, want)
			}
		}
	}
}

// TestLLMs checks that llms.txt names every page of docs, and no page that is not there.
func TestLLMs(t *testing.T) {
	text, err := os.ReadFile("llms.txt")
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(link[1]); err != nil {
			t.Errorf("%s is named, and not there", link[1])
		}
		named[link[1]] = true
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, p := range pages {
		if p = filepath.ToSlash(p); p != "docs/style.md" && p != "docs/README.md" && !named[p] {
			t.Errorf("%s is not named in llms.txt", p)
		}
	}
}

// TestEditors compares the files for editors with the first block of each editor in docs/mcp.md, and reads
// the links that add the server.
func TestEditors(t *testing.T) {
	page, err := os.ReadFile("docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("deploy/editors/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimPrefix(filepath.Ext(name), ".")
		if kind == "json" && !json.Valid(text) || !strings.Contains(string(page), "```"+kind+"\n"+string(text)+"```") {
			t.Errorf("%s is not a block of docs/mcp.md", name)
		}
	}
	if n := strings.Count(string(page), "\n### "); n != len(files) {
		t.Errorf("docs/mcp.md names %d editors, and %d have files", n, len(files))
	}
	cursor := regexp.MustCompile(`config=([A-Za-z0-9+/=]+)`).FindSubmatch(page)
	code := regexp.MustCompile("vscode:mcp/install\\?([^`]+)").FindSubmatch(page)
	if cursor == nil || code == nil {
		t.Fatal("there are no links")
	}
	config, err := base64.StdEncoding.DecodeString(string(cursor[1]))
	if err != nil {
		t.Fatal(err)
	}
	install, err := url.QueryUnescape(string(code[1]))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(config), install} {
		var server struct {
			Command string
			Args    []string
		}
		if err := json.Unmarshal([]byte(text), &server); err != nil || server.Command != "ragctx" || strings.Join(server.Args, " ") != "mcp" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
