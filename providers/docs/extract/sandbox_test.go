package extract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// workerEnv turns the test binary into a worker, or into a program that owns a pool.
const workerEnv = "RAGCTX_EXTRACT_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(workerEnv) {
	case "serve":
		exitWith(ServeWorker(context.Background(), os.Stdin, os.Stdout))
	case "act":
		exitWith(serveWorker(context.Background(), os.Stdin, os.Stdout, act))
	case "own":
		exitWith(own())
	}
	goleak.VerifyTestMain(m)
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// act executes the command in the file.
func act(ctx context.Context, f File, o Options) (Text, error) {
	verb, arg, _ := strings.Cut(string(f.Data), " ")
	switch verb {
	case "hang":
		for { // ignores ctx
			runtime.Gosched()
		}
	case "slow":
		<-ctx.Done()
		return Text{}, ctx.Err()
	case "eat":
		eat()
	case "gulp":
		b := make([]byte, 8<<30)
		for i := range b {
			b[i] = 1
		}
	case "panic":
		go panic("reader")
		select {}
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "garbage":
		io.WriteString(os.Stdout, "Warning: this is no frame at all\n")
		select {}
	case "half":
		writeFrame(os.Stdout, response{}, []byte("text"))
		os.Exit(0)
	case "refuse":
		return Text{}, refuse("is %s", arg)
	case "pid":
		return Text{Text: strconv.Itoa(os.Getpid())}, nil
	case "env":
		return Text{Text: strings.Join(os.Environ(), "\n")}, nil
	}
	return Text{
		Text: string(f.Data), MIME: mimeMarkdown, Format: mimePDF, Title: f.Name,
		Metadata: map[string]any{MetaPages: 3, MetaAuthor: "A"}, Occurred: time.Unix(1e9, 0).UTC(),
	}, nil
}

// eat allocates more and more memory.
func eat() {
	kept := make(map[int][]byte)
	for i := 0; ; i++ {
		kept[i] = bytes.Repeat([]byte{byte(i)}, 1<<20)
	}
}

func newPool(t *testing.T, mode string, change func(*PoolOptions)) *Pool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := PoolOptions{Argv: []string{exe}, Env: []string{workerEnv + "=" + mode}}
	if change != nil {
		change(&o)
	}
	p, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// ask reads one file of an isolated format.
func ask(t *testing.T, p *Pool, what string, o Options) (Text, error) {
	t.Helper()
	for x, err := range p.Read(t.Context(), File{Name: "a.pdf", Data: []byte(what)}, o) {
		return x, err
	}
	t.Fatal("nothing was yielded")
	return Text{}, nil
}

func TestPoolReads(t *testing.T) {
	p := newPool(t, "act", nil)
	got, err := ask(t, p, "some text", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := act(t.Context(), File{Name: "a.pdf", Data: []byte("some text")}, Options{})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, ok := got.Metadata[MetaPages].(int); !ok {
		t.Errorf("pages is a %T", got.Metadata[MetaPages])
	}
}

// TestPoolFailures checks that a misbehaving reader fails only its own file, with a reason.
func TestPoolFailures(t *testing.T) {
	p := newPool(t, "act", func(o *PoolOptions) { o.MaxMemory, o.Size = minPoolMemory, 1 })
	for _, tt := range []struct{ what, reason string }{
		{"hang", "takes longer than 200ms"},
		{"slow", "takes longer than 200ms"},
		{"eat", "needs more than 64 MiB"},
		{"panic", "ended (status 2)"},
		{"exit 0", "ended (status 0)"},
		{"exit 3", "ended (status 3)"},
		{"garbage", "sent a malformed response"},
		{"refuse damaged", "is damaged"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			var o Options
			if strings.HasPrefix(tt.reason, "takes longer") {
				o.Timeout = 200 * time.Millisecond
			}
			_, err := ask(t, p, tt.what, o)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Reason, tt.reason) {
				t.Errorf("got %v, want a reason with %q", err, tt.reason)
			}
			if got, err := ask(t, p, "next", Options{}); err != nil || got.Text != "next" {
				t.Errorf("the next file: %q, %v", got.Text, err)
			}
		})
	}
}

// TestPoolAllocation checks that a single huge allocation ends the worker, not the machine.
func TestPoolAllocation(t *testing.T) {
	if runtime.GOOS != "linux" || raceEnabled {
		t.Skip("there is no limit by the system")
	}
	p := newPool(t, "act", nil)
	if _, err := ask(t, p, "gulp", Options{}); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("got %v", err)
	}
}

// TestPoolReuses reads many files with one process, and replaces a process that died while idle
// without failing a file.
func TestPoolReuses(t *testing.T) {
	p := newPool(t, "act", func(o *PoolOptions) { o.Size = 1 })
	first, err := ask(t, p, "pid", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ask(t, p, "pid", Options{}); err != nil || again.Text != first.Text {
		t.Errorf("process %s, then %s, %v", first.Text, again.Text, err)
	}
	pid, _ := strconv.Atoi(first.Text)
	proc, _ := os.FindProcess(pid)
	proc.Kill()
	if again, err := ask(t, p, "pid", Options{}); err != nil || again.Text == first.Text {
		t.Errorf("after the end of process %s: %s, %v", first.Text, again.Text, err)
	}
}

// TestPoolIdle checks that idle processes end.
func TestPoolIdle(t *testing.T) {
	p := newPool(t, "act", func(o *PoolOptions) { o.Idle = time.Millisecond })
	got, err := ask(t, p, "pid", Options{})
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(got.Text)
	waitGone(t, pid)
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for start := time.Now(); running(pid); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

func TestPoolCancel(t *testing.T) {
	p := newPool(t, "act", nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, err := range p.Read(ctx, File{Name: "a.pdf", Data: []byte("hang")}, Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// TestPoolClose checks that Close ends reads under way, and that later reads fail at once.
func TestPoolClose(t *testing.T) {
	p := newPool(t, "act", func(o *PoolOptions) { o.Size = 2 })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 4 {
				what := []string{"text", "hang", "exit 1"}[i%3]
				if _, err := ask(t, p, what, Options{Timeout: 10 * time.Second}); err == nil && what != "text" {
					t.Errorf("%s: no error", what)
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	p.Close()
	wg.Wait()
	if _, err := ask(t, p, "text", Options{}); err == nil || !strings.Contains(err.Error(), errClosed.Error()) {
		t.Errorf("after Close: %v", err)
	}
}

// TestPoolEnvironment checks that workers do not inherit secrets.
func TestPoolEnvironment(t *testing.T) {
	t.Setenv("SOME_API_KEY", "secret")
	p := newPool(t, "act", nil)
	got, err := ask(t, p, "env", Options{})
	if err != nil || strings.Contains(got.Text, "secret") || strings.Contains(got.Text, "PATH=") {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

func TestPoolNoProgram(t *testing.T) {
	if _, err := NewPool(PoolOptions{}); err == nil {
		t.Error("no error without a program")
	}
	p := newPool(t, "act", func(o *PoolOptions) { o.Argv = []string{"/nonexistent/program"} })
	if _, err := ask(t, p, "text", Options{}); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("got %v", err)
	}
}

// own starts a pool with a hanging reader and prints the process id.
func own() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := NewPool(PoolOptions{Argv: []string{exe}, Size: 1, Env: []string{workerEnv + "=act"}})
	if err != nil {
		return err
	}
	for _, what := range []string{"pid", "hang"} {
		for x := range p.Read(context.Background(), File{Name: "a.pdf", Data: []byte(what)},
			Options{Timeout: time.Hour}) {
			fmt.Println(x.Text)
		}
	}
	return nil
}

// TestPoolOrphan checks that a worker ends when its owner is killed, even in the middle of a file.
func TestPoolOrphan(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), workerEnv+"=own")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid == 0 {
		t.Fatalf("got %q, %v", line, err)
	}
	time.Sleep(50 * time.Millisecond) // the worker is reading the file that hangs
	cmd.Process.Kill()
	cmd.Wait()
	waitGone(t, pid)
}

// TestServeWorker speaks the protocol with a worker in this process.
func TestServeWorker(t *testing.T) {
	toWorker, send := io.Pipe()
	receive, fromWorker := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- ServeWorker(t.Context(), toWorker, fromWorker) }()
	in := bufio.NewReader(receive)
	for _, f := range []File{{Name: "a.txt", Data: []byte("text")}, {Name: "b.pdf", Data: []byte("%PDF-nothing")}} {
		if err := writeFrame(send, newRequest(f, Options{}.withDefaults(), 0), f.Data); err != nil {
			t.Fatal(err)
		}
		var a response
		body, err := readFrame(in, &a, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.text(body)
		want, wantErr := readInProcess(t.Context(), f, Options{}.withDefaults())
		if got.Text != want.Text || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got %q, %v; want %q, %v", f.Name, got.Text, err, want.Text, wantErr)
		}
	}
	send.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// FuzzFrame checks that invalid frames are errors and take no more memory than their length.
func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	writeFrame(&b, response{Title: "t"}, []byte("body"))
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		var a response
		body, err := readFrame(bufio.NewReader(bytes.NewReader(data)), &a, 1<<16)
		if err == nil && len(body) > len(data) {
			t.Errorf("%d bytes of %d", len(body), len(data))
		}
	})
}
