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

// child is a worker process, seen from its parent.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *stderrHead
	used   bool        // it has read a file
	timer  *time.Timer // while idle
	once   sync.Once   // guards end
	code   int
}

// inheritedEnv lists the environment variables that a process inherits: those needed by the system
// and by coverage builds. A process runs no programs and writes no files.
var inheritedEnv = []string{"SystemRoot", "GOCOVERDIR"}

// startChild starts a process. It is not in the terminal's foreground group, so only its parent
// receives an interrupt.
func startChild(o PoolOptions) (*child, error) {
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...) //nolint:noctx // it outlives the call; Close ends it
	cmd.Env = []string{"GOTRACEBACK=none"}
	for _, key := range inheritedEnv {
		if v, ok := os.LookupEnv(key); ok {
			cmd.Env = append(cmd.Env, key+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, o.Env...)
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = time.Second
	c := &child{cmd: cmd, stderr: &stderrHead{}}
	cmd.Stderr = c.stderr
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

// exchange sends a file and waits for its text. An [*Error] concerns the file; after any other
// error the process is unusable.
func (c *child) exchange(f File, o Options, maxMemory int64) (Text, error) {
	if err := writeFrame(c.in, newRequest(f, o, maxMemory), f.Data); err != nil {
		return Text{}, err
	}
	var a response
	body, err := readFrame(c.out, &a, int64(o.MaxText))
	if err != nil {
		return Text{}, err
	}
	return a.text(body)
}

// kill ends the process at once. It may be called at any time and repeatedly. If the process is a
// wrapper, closing the input ends the worker behind it.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.in.Close()
}

// end asks the process to end, kills it after endGrace, and waits for it. It returns the exit
// status and the beginning of the standard error output. A process that has just crashed keeps its
// own status.
func (c *child) end() (int, *stderrHead) {
	c.once.Do(func() {
		_ = c.in.Close() // makes the worker end, unless it hangs
		timer := time.AfterFunc(endGrace, c.kill)
		_, _ = io.Copy(io.Discard, c.out)
		_ = c.cmd.Wait()
		timer.Stop()
		c.code = c.cmd.ProcessState.ExitCode()
	})
	return c.code, c.stderr
}

// endGrace is how long a process may take to end without being killed.
const endGrace = 200 * time.Millisecond

// stderrHead stores the beginning of the standard error output, where a crashing program states the
// cause.
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

// outOfMemory reports whether the runtime failed to allocate memory from the system.
func (h *stderrHead) outOfMemory() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Contains(h.b, []byte("out of memory")) || bytes.Contains(h.b, []byte("cannot allocate memory"))
}
