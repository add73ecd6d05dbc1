package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx/bench"
)

// longText is 4 MB unless it is asked for 15, which takes minutes:
//
//	go test ./cmd/ragctx -run TestLongTextMemory -memory.text=15000000 -v
var longText = flag.Int("memory.text", 4_000_000, "bytes of the text of TestLongTextMemory")

// mostForLong is what a server may take at most for a text of 15 MB, in MiB with all files
// that it has mapped: 240 were measured, and 2,600 before long texts were written in pieces.
const mostForLong = 400

// TestLongTextMemory sends a real server one long text, as a file and as JSON: beside a small
// document that is there, and to a new one. What it takes for that has a bound.
func TestLongTextMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes in 8 MB of text")
	}
	var b strings.Builder
	for i := 0; b.Len() < *longText; i++ {
		b.WriteString(bench.Generated(1, i))
	}
	text := b.String()[:*longText]
	body, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	for _, sent := range []struct{ first, media, body string }{{"a note", "text/plain", text}, {"", "application/json", string(body)}} {
		t.Run(sent.media, func(t *testing.T) {
			s := startServing(t)
			if sent.first != "" {
				s.put(t, "note.txt", "text/plain", sent.first)
			}
			before := s.memory(t, "VmHWM")
			s.put(t, "long.txt", sent.media, sent.body)
			time.Sleep(2 * time.Second) // for what it does after the answer
			most := s.memory(t, "VmHWM")
			t.Logf("%d MiB before, at most %d MiB, now %d MiB, of which %d of its own", before, most, s.memory(t, "VmRSS"), s.memory(t, "RssAnon"))
			if most > mostForLong {
				t.Errorf("a text of %d bytes takes %d MiB, more than %d", *longText, most, mostForLong)
			}
		})
	}
}

// servingProgram is a server of its own process.
type servingProgram struct {
	url string
	pid int
}

// startServing starts the program whose memory is measured: the one without the race detector, if RAGCTX_PLAIN names it,
// because the detector's own memory and time are several times those of the program.
func startServing(t *testing.T) servingProgram {
	t.Helper()
	cmd := exec.Command(cmp.Or(os.Getenv("RAGCTX_PLAIN"), "ragctx"), "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "error")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOGC=") || strings.HasPrefix(v, "GOMEMLIMIT=")
	}), "HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	s := servingProgram{pid: cmd.Process.Pid}
	for lines := bufio.NewScanner(out); s.url == "" && lines.Scan(); {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			s.url = strings.Fields(lines.Text()[at:])[0]
		}
	}
	if s.url == "" {
		t.Fatal("the server did not start")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// put stores a document.
func (s servingProgram) put(t *testing.T, id, media, body string) {
	t.Helper()
	status, _, err := exchange(t.Context(), http.MethodPut, s.url+"/v1/documents/"+id, media, body)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%s: status %d, %v", id, status, err)
	}
}

// memory returns what the kernel counts of the process, in MiB.
func (s servingProgram) memory(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return n >> 10
		}
	}
	t.Skipf("the kernel does not tell %s", name)
	return 0
}
