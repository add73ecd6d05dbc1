package ragctx_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
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

// TestCluster checks that the load balancer asks every node of the compose file, that the nodes have all Weaviate hosts,
// and that the version of Weaviate is the one that is tested.
func TestCluster(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	compose, balancer := read("deploy/cluster.yaml"), read("deploy/haproxy.cfg")
	nodes := regexp.MustCompile(`(?m)^  (ragctx\d):`).FindAllStringSubmatch(compose, -1)
	hosts := regexp.MustCompile(`(?m)^  (weaviate\d):$\n    <<`).FindAllStringSubmatch(compose, -1)
	if len(nodes) != 3 || len(hosts) != 3 {
		t.Fatalf("%d nodes and %d hosts of Weaviate", len(nodes), len(hosts))
	}
	for _, n := range nodes {
		if line := fmt.Sprintf("server %s %s:7700", n[1], n[1]); !strings.Contains(balancer, line) {
			t.Errorf("the load balancer lacks %q", line)
		}
	}
	joined := hosts[0][1] + "," + hosts[1][1] + "," + hosts[2][1]
	version := regexp.MustCompile(`version=v([\d.]+)`).FindStringSubmatch(read("tools/cluster/weaviate.sh"))
	for _, want := range []string{"weaviate://" + joined, "RAFT_JOIN: " + joined, "semitechnologies/weaviate:" + version[1]} {
		if !strings.Contains(compose, want) {
			t.Errorf("the compose file lacks %q", want)
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

// TestRegistry compares server.json, which registries of MCP servers read, with the version in the changelog, the
// image and the command line. The limits are those of the schema that it names.
func TestRegistry(t *testing.T) {
	var in struct {
		Schema      string `json:"$schema"`
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Repository  struct {
			URL    string `json:"url"`
			Source string `json:"source"`
		} `json:"repository"`
		Packages []struct {
			RegistryType     string             `json:"registryType"`
			Identifier       string             `json:"identifier"`
			RuntimeHint      string             `json:"runtimeHint"`
			RuntimeArguments []registryArgument `json:"runtimeArguments"`
			PackageArguments []registryArgument `json:"packageArguments"`
			Transport        struct {
				Type string `json:"type"`
			} `json:"transport"`
		} `json:"packages"`
	}
	text, err := os.ReadFile("server.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if version := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changelog); in.Version != string(version[1]) {
		t.Errorf("the version is %s, and in the changelog %s", in.Version, version[1])
	}
	if in.Name != "io.github."+strings.TrimPrefix(module, "github.com/") || in.Repository.URL != "https://"+module {
		t.Errorf("%s is not of %s", in.Name, in.Repository.URL)
	}
	if !strings.Contains(string(image), fmt.Sprintf("LABEL io.modelcontextprotocol.server.name=%q\n", in.Name)) {
		t.Error("the image has another name")
	}
	if n := len(in.Description); n == 0 || n > 100 || len(in.Packages) != 1 {
		t.Errorf("%d characters, %d packages", n, len(in.Packages))
	}
	p := in.Packages[0]
	if p.Identifier != "ghcr.io/"+strings.TrimPrefix(module, "github.com/")+":"+in.Version || p.Transport.Type != "stdio" ||
		p.PackageArguments[0] != (registryArgument{Type: "positional", Value: "mcp"}) {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(string(image), "VOLUME "+strings.TrimPrefix(p.RuntimeArguments[0].Value, "ragctx:")+"\n") {
		t.Error("the volume is another")
	}
}

// registryArgument is an argument of a package in server.json.
type registryArgument struct {
	Type, Name, Value, Default, Description string
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
