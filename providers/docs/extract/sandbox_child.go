package extract

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// child is a process that reads files, seen from the one that started it.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	said  *stderrHead
	used  bool        // it has read a file
	timer *time.Timer // while idle
	once  sync.Once   // for end
	code  int
}

// passed is what of the environment a process gets: what the system, and a build that
// counts its coverage, need. It runs no programs and writes no files.
var passed = []string{"SystemRoot", "GOCOVERDIR"}

// startChild starts a process. It is not in the terminal's foreground group: an
// interrupt is the business of the one that started it.
func startChild(o PoolOptions) (*child, error) {
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...) //nolint:noctx // it outlives the call; Close ends it
	cmd.Env = []string{"GOTRACEBACK=none"}
	for _, key := range passed {
		if v, ok := os.LookupEnv(key); ok {
			cmd.Env = append(cmd.Env, key+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, o.Env...)
	cmd.SysProcAttr = apart()
	cmd.WaitDelay = time.Second
	c := &child{cmd: cmd, said: &stderrHead{}}
	cmd.Stderr = c.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return c, nil
}

// exchange sends a file and waits for its text. An [*Error] is the file's; any other
// means that the process is of no more use.
func (c *child) exchange(f File, o Options, maxMemory int64) (Text, error) {
	if err := writeFrame(c.in, newRequest(f, o, maxMemory), f.Data); err != nil {
		return Text{}, err
	}
	var a answer
	body, err := readFrame(c.out, &a, int64(o.MaxText))
	if err != nil {
		return Text{}, err
	}
	return a.text(body)
}

// kill ends the process at once. It may be called at any time, also later. Should it
// be a program that starts the worker, the end of its input ends that.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.in.Close()
}

// end lets the process end, or kills it, waits for it, and returns its exit status and what
// it said first on standard error. One that has just crashed keeps its own status.
func (c *child) end() (int, *stderrHead) {
	c.once.Do(func() {
		_ = c.in.Close() // it ends by itself then, unless it hangs
		timer := time.AfterFunc(endGrace, c.kill)
		_, _ = io.Copy(io.Discard, c.out)
		_ = c.cmd.Wait()
		timer.Stop()
		c.code = c.cmd.ProcessState.ExitCode()
	})
	return c.code, c.said
}

// endGrace is how long a process may take to end by itself.
const endGrace = 200 * time.Millisecond

// stderrHead keeps the beginning of what is written to it: there stands why a program
// ends.
type stderrHead struct {
	mu sync.Mutex
	b  []byte
}

const headBytes = 4 << 10

// Write implements io.Writer.
func (h *stderrHead) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b = append(h.b, b[:min(len(b), headBytes-len(h.b))]...)
	return len(b), nil
}

// outOfMemory reports whether the runtime said that the system gave no more memory.
func (h *stderrHead) outOfMemory() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Contains(h.b, []byte("out of memory")) || bytes.Contains(h.b, []byte("cannot allocate memory"))
}
