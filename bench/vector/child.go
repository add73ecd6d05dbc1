package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// child is a process that serves one index, see [serve].
type child struct {
	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	answers string // file to which the process writes ids
}

func startChild(ctx context.Context, name string, argv []string, tmp string) (*child, error) {
	c := &child{name: name, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	c.answers = filepath.Join(tmp, filepath.Base(name)+".ids")
	return c, c.cmd.Start()
}

// do runs a command and returns its duration.
func (c *child) do(format string, args ...any) (measured, error) {
	var m measured
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		return m, fmt.Errorf("%s: %w", c.name, err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return m, fmt.Errorf("%s: %s: %w", c.name, fmt.Sprintf(format, args...), err)
	}
	return m, json.Unmarshal(line, &m)
}

// ask runs some queries with a command and returns k hit ids per query.
func (c *child) ask(verb string, ef, queries, k int) (measured, []uint32, error) {
	m, err := c.do("%s %d %d %d %s", verb, ef, queries, k, c.answers)
	if err != nil {
		return m, nil, err
	}
	data, err := os.ReadFile(c.answers)
	if err != nil {
		return m, nil, err
	}
	ids := make([]uint32, len(data)/4)
	_, err = binary.Decode(data, binary.LittleEndian, ids)
	return m, ids, err
}

func (c *child) stop() error {
	if c == nil {
		return nil // it was not started
	}
	_ = c.in.Close()
	return c.cmd.Wait()
}
