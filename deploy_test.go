package ragctx_test

import (
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
