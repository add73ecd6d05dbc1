package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/access"
)

// containerEnv sets the environment of deploy/Dockerfile, and returns what deploy/compose.yaml adds.
// The volume is a folder of the test, and the port is a free one.
func containerEnv(t *testing.T) (compose map[string]string) {
	t.Helper()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	data := t.TempDir()
	line := regexp.MustCompile(`(?m)^ENV (.*)$`).FindStringSubmatch(read("Dockerfile"))
	if line == nil {
		t.Fatal("the Dockerfile sets no environment")
	}
	for pair := range strings.FieldsSeq(line[1]) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, strings.NewReplacer("/data", data, ":7700", ":0").Replace(value))
	}
	compose = make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^      (RAGCTX_\w+): "(.*)"$`).FindAllStringSubmatch(read("compose.yaml"), -1) {
		compose[m[1]] = regexp.MustCompile(`\$\{\w+:-(\w+)\}`).ReplaceAllString(m[2], "$1")
	}
	return compose
}

// served is a server in this process.
type served struct {
	url    string
	output string // what it printed until it served
	stop   func() // stops it and checks its exit code
}

func serveContainer(t *testing.T) served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"serve"}, strings.NewReader(""), in, &stderr)
		in.Close()
	}()
	var text strings.Builder
	b := make([]byte, 4096)
	for !strings.Contains(text.String(), "agents: ") {
		n, err := out.Read(b)
		text.Write(b[:n])
		if err != nil {
			t.Fatalf("exit %d: %s%s", <-code, text.String(), stderr.String())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	port := regexp.MustCompile(`serves http://.*:(\d+) `).FindStringSubmatch(text.String())
	if port == nil {
		t.Fatalf("no address in %q", text.String())
	}
	return served{"http://127.0.0.1:" + port[1], text.String(), func() {
		t.Helper()
		cancel()
		if c := <-code; c != exitOK {
			t.Errorf("exit %d\n%s", c, stderr.String())
		}
	}}
}

// status returns the status of a request with a key; "" is none.
func (s served) status(t *testing.T, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestContainer runs the server with the environment of the image and of the compose file: it serves
// at once, and only with a key.
func TestContainer(t *testing.T) {
	compose := containerEnv(t)
	serve := func() (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		code = run(t.Context(), []string{"serve"}, strings.NewReader(""), &out, &errs)
		return code, out.String(), errs.String()
	}
	if code, stdout, stderr := serve(); code == exitOK || stdout != "" || !strings.Contains(stderr, "--insecure-http") {
		t.Fatalf("without TLS: exit %d, %q, %q", code, stdout, stderr)
	}
	for name, value := range compose {
		t.Setenv(name, value)
	}
	t.Setenv("RAGCTX_FIRST_KEY", "")
	if code, stdout, stderr := serve(); code == exitOK || stdout != "" || !strings.Contains(stderr, "ragctx keys create") {
		t.Fatalf("without a key: exit %d, %q, %q", code, stdout, stderr)
	}
	t.Setenv("RAGCTX_FIRST_KEY", "secret")
	if code, stdout, stderr := serve(); code != exitUsage || stdout != "" || !strings.Contains(stderr, "RAGCTX_FIRST_KEY") ||
		strings.Contains(stderr, "secret") {
		t.Fatalf("with a wrong key: exit %d, %q, %q", code, stdout, stderr)
	}

	t.Setenv("RAGCTX_FIRST_KEY", compose["RAGCTX_FIRST_KEY"])
	s := serveContainer(t)
	found := regexp.MustCompile(`(?m)^API key of an admin, shown this once: (rgx_\S+)$`).FindStringSubmatch(s.output)
	if found == nil {
		t.Fatalf("no key in %q", s.output)
	}
	check := func(s served, key string) {
		t.Helper()
		for given, want := range map[string]int{"": http.StatusUnauthorized, key: http.StatusOK} {
			if got := s.status(t, given); got != want {
				t.Errorf("status with key %q is %d, want %d", given, got, want)
			}
		}
		if code := run(t.Context(), []string{"status", "--quiet"}, strings.NewReader(""), io.Discard, io.Discard); code != exitOK {
			t.Errorf("the health check exits with %d", code)
		}
		s.stop()
	}
	check(s, found[1])

	s = serveContainer(t)
	if strings.Contains(s.output, "rgx_") {
		t.Errorf("the second start prints a key: %q", s.output)
	}
	check(s, found[1])
}

// TestFirstKeyOfTheEnvironment checks that a server takes the key of its environment and never prints it.
func TestFirstKeyOfTheEnvironment(t *testing.T) {
	compose := containerEnv(t)
	key, _, _ := access.NewText()
	for name, value := range compose {
		t.Setenv(name, value)
	}
	t.Setenv("RAGCTX_FIRST_KEY", key)
	for range 2 {
		s := serveContainer(t)
		if strings.Contains(s.output, "rgx_") {
			t.Errorf("the key is printed: %q", s.output)
		}
		if got := s.status(t, key); got != http.StatusOK {
			t.Errorf("status with the key is %d", got)
		}
		if got := s.status(t, ""); got != http.StatusUnauthorized {
			t.Errorf("status without a key is %d", got)
		}
		s.stop()
	}
}
