package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	loadTime    = flag.Duration("memory.load", 5*time.Second, "how long TestMemoryLoad sends large bodies at least")
	loadMiB     = flag.Int("memory.limit", 1536, "MiB of memory that the server of TestMemoryLoad may have")
	loadClients = flag.Int("memory.clients", 16, "how many clients of TestMemoryLoad send large bodies at a time")
	loadRoute   = flag.String("memory.route", "", "the only route to which TestMemoryLoad sends large bodies; empty is all")
)

// TestMemoryLoad sends a server with little memory the largest bodies that each route
// takes, from many clients at a time. It must live, answer small requests all the while, and
// tell each large one that it refuses when to come again.
//
//	go test ./cmd/ragctx -run TestMemoryLoad -memory.load=10m -memory.clients=64 -v -timeout 20m
func TestMemoryLoad(t *testing.T) {
	s := startLimited(t, *loadMiB<<20)
	bodies := slices.DeleteFunc(largeBodies(t), func(b largeBody) bool { return *loadRoute != "" && b.path != *loadRoute })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	var counts loadCounts
	all.Go(func() { // the load goes on until a large body was served, however slow the machine is
		defer cancel()
		for begun := time.Now(); time.Since(begun) < *loadTime || counts.served.Load() == 0; time.Sleep(10 * time.Millisecond) {
			if s.alive() != nil || time.Since(begun) > *loadTime+2*time.Minute {
				return
			}
		}
	})
	for i := range *loadClients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7)) //nolint:gosec // the routes need not be a secret
			for ctx.Err() == nil {
				b := bodies[r.IntN(len(bodies))]
				counts.large(t, ctx, s.url, b)
			}
		})
	}
	var took []time.Duration
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			took = append(took, counts.small(t, ctx, s.url, i))
			time.Sleep(20 * time.Millisecond)
		}
	})
	all.Wait()
	if err := s.alive(); err != nil {
		t.Errorf("the server did not live: %v\n%s", err, s.stderr.String())
	}
	if len(took) == 0 || counts.served.Load() == 0 {
		t.Fatalf("no large body was served: %d refused for good, %d told to come again, %d cut off; %d small requests",
			counts.tooLarge.Load(), counts.again.Load(), counts.cut.Load(), len(took))
	}
	slices.Sort(took)
	t.Logf("%d large bodies served, %d refused for good, %d told to come again, %d cut off; %d small requests, %d told to come again, p50 %v, p99 %v; at most %d MiB",
		counts.served.Load(), counts.tooLarge.Load(), counts.again.Load(), counts.cut.Load(), len(took), counts.smallAgain.Load(),
		took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond), s.peak()>>20)
}

// largeBody is a request with as long a body as its route takes.
type largeBody struct{ method, path, media, body string }

// largeBodies returns a request for each route that takes large bodies.
func largeBodies(t *testing.T) []largeBody {
	const mostJSON, mostFile = 39 << 20, 60 << 20
	line := "The release manager of week %d reads the runbook before a deploy to Oslo-%d. "
	var b strings.Builder
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintf(&b, line, i, i*7919%10007)
	}
	text := strings.Repeat(b.String(), mostFile/b.Len()+1)[:mostFile]
	messages := func(n, size int) (out []map[string]string) {
		for i := range n {
			out = append(out, map[string]string{"role": []string{"user", "assistant"}[i%2], "content": text[i*size : (i+1)*size]})
		}
		return out
	}
	encode := func(v any) string {
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	const asJSON = "application/json"
	few, many := messages(1000, mostJSON/1100), messages(200, mostJSON/220)
	head := `{"type":"session","id":"s"}` + "\n"
	return []largeBody{
		{"POST", "/v1/compile", asJSON, encode(map[string]any{"messages": few})},
		{"POST", "/v1/compact", asJSON, encode(map[string]any{"messages": few})},
		{"POST", "/v1/assemble", asJSON, encode(map[string]any{"messages": many, "window": 32000})},
		{"POST", "/v1/sessions", asJSON, encode(map[string]any{"messages": few})},
		{"POST", "/v1/turns", asJSON, encode(map[string]any{"session_id": "s", "prompt": text[:15<<20], "response": text[:15<<20]})},
		{"PUT", "/v1/documents/large.md", asJSON, encode(map[string]any{"text": text[:31<<20]})},
		{"PUT", "/v1/documents/large.txt", "text/plain", text[:31<<20]},
		{"PUT", "/v1/documents/larger.txt", "text/plain", text},
		{"POST", "/v1/documents:bulk", "application/x-ndjson", encode(map[string]any{"id": "bulk.md", "text": text[:31<<20]}) + "\n"},
		{"POST", "/v1/search", asJSON, encode(map[string]any{"query": text[:mostJSON-1000]})},
		{"POST", "/v1/context", asJSON, encode(map[string]any{"query": "x", "messages": few})},
		{"POST", "/v1/embeddings", asJSON, encode(map[string]any{"input": []string{text[:mostJSON-1000]}, "model": "static"})},
		{"POST", "/v1/memories", asJSON, encode(map[string]any{"content": text[:mostJSON-1000]})},
		{"POST", "/v1/memories:import", "application/x-ndjson", encode(map[string]any{"id": "m", "content": text[:7<<20]}) + "\n"},
		{"POST", "/mem0/v1/memories/", asJSON, encode(map[string]any{"messages": few, "user_id": "u"})},
		{"POST", "/v1/clusters/c/messages", asJSON, encode(map[string]any{"messages": []any{map[string]any{"topic": "t", "content": map[string]any{"text": text[:mostJSON-1000]}}}})},
		{"POST", "/v1/sessions/imported:import", "application/x-ndjson", head + strings.Repeat(encode(map[string]any{"type": "message", "role": "user", "content": text[:1<<20]})+"\n", 60)},
	}
}

// loadCounts counts what became of requests.
type loadCounts struct {
	served, tooLarge, again, cut, smallAgain atomic.Int64
}

// large sends a large body and looks at the answer.
func (n *loadCounts) large(t *testing.T, ctx context.Context, url string, b largeBody) {
	status, header, err := exchange(ctx, b.method, url+b.path, b.media, b.body)
	switch {
	case ctx.Err() != nil:
	case err != nil: // the server closes the connection on a body that it does not read
		n.cut.Add(1)
		time.Sleep(10 * time.Millisecond)
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		n.again.Add(1)
		if seconds, err := strconv.Atoi(header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("%s %s: status %d without Retry-After", b.method, b.path, status)
		}
	case status == http.StatusRequestEntityTooLarge:
		n.tooLarge.Add(1)
	case status >= http.StatusInternalServerError:
		t.Errorf("%s %s: status %d", b.method, b.path, status)
	default:
		n.served.Add(1)
	}
}

// small sends a small request and returns how long it took.
func (n *loadCounts) small(t *testing.T, ctx context.Context, url string, i int) time.Duration {
	begun := time.Now()
	path, body := "/v1/search", `{"query":"who reads the runbook?"}`
	if i%2 == 0 {
		path, body = "/v1/turns", fmt.Sprintf(`{"session_id":"small","prompt":"Note %d","response":"Noted."}`, i)
	}
	status, _, err := exchange(ctx, http.MethodPost, url+path, "application/json", body)
	switch {
	case ctx.Err() != nil:
	case status == http.StatusTooManyRequests:
		n.smallAgain.Add(1)
	case err != nil || status >= http.StatusBadRequest:
		t.Errorf("a small request to %s: status %d, %v", path, status, err)
	}
	return time.Since(begun)
}

// exchange sends a request and reads its whole answer.
func exchange(ctx context.Context, method, url, media, body string) (status int, header http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", media)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header, err
}

// limitedServer is a server in a control group with little memory.
type limitedServer struct {
	url    string
	cmd    *exec.Cmd
	stderr bytes.Buffer
	group  string
	ended  chan error
}

// startLimited starts a server in a control group of its own; it skips the test where this
// process may not make one.
func startLimited(t *testing.T, bytes int) *limitedServer {
	t.Helper()
	s := &limitedServer{group: controlGroup(t, bytes), ended: make(chan error, 1)}
	s.cmd = exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs" && exec ragctx serve --addr 127.0.0.1:0 --data "$1" --log-level error`, s.group, t.TempDir())
	s.cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && s.url == "" {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			s.url = strings.Fields(lines.Text()[at:])[0]
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		s.ended <- s.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it would store what it took first
		<-s.ended
		time.Sleep(100 * time.Millisecond) // for the group to be empty
		_ = os.Remove(s.group)
	})
	if s.url == "" {
		t.Fatalf("the server did not start: %s", s.stderr.String())
	}
	return s
}

// alive returns why the server has ended; nil if it has not.
func (s *limitedServer) alive() error {
	select {
	case err := <-s.ended:
		s.ended <- err
		return cmp.Or(err, fmt.Errorf("it ended"))
	default:
		return nil
	}
}

// peak returns the most memory that the server had; 0 is not known.
func (s *limitedServer) peak() int64 {
	for _, file := range []string{"memory.peak", "memory.max_usage_in_bytes"} {
		text, _ := os.ReadFile(filepath.Join(s.group, file))
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// controlGroup makes a control group with a limit of memory below that of this process.
func controlGroup(t *testing.T, bytes int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip("there are no control groups:", err)
	}
	root, limit, parent := "/sys/fs/cgroup", "memory.max", ""
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && fields[1] == "memory" {
			root, limit, parent = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", fields[2]
			break
		}
		if len(fields) == 3 && fields[1] == "" {
			parent = fields[2]
		}
	}
	dir := filepath.Join(root, parent, "ragctx-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		dir = filepath.Join(root, filepath.Base(dir)) // in a container the path may be the host's
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skip("no control group can be made here:", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(bytes)), 0o644); err != nil {
		_ = os.Remove(dir)
		t.Skip("the memory of a control group cannot be limited here:", err)
	}
	return dir
}
