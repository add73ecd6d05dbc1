package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a transport with one message per line. Unlike the SDK's, it answers an invalid line with
// an error and continues, and it reports the end of the input only after all calls are answered: a
// client may write its messages, close, and read.
type lines struct {
	in  io.ReadCloser
	out io.Writer
}

// Connect implements [mcp.Transport].
func (l lines) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{
		in: l.in, out: l.out, incoming: make(chan jsonrpc.Message), answered: make(chan struct{}, 1),
		closed: make(chan struct{}), waiting: make(map[jsonrpc.ID]bool),
	}
	go c.receive()
	return c, nil
}

// lineConn is the connection of lines. Its goroutine ends with the input, or with the first read
// after the connection is closed.
type lineConn struct {
	in  io.ReadCloser
	out io.Writer

	incoming chan jsonrpc.Message // closed at the end of the input
	readErr  error                // error that ended the input, valid once incoming is closed; nil for a regular end

	writing sync.Mutex // held while writing a line

	mu       sync.Mutex
	waiting  map[jsonrpc.ID]bool // unanswered calls
	broken   bool                // writing has failed
	answered chan struct{}       // signals a change of waiting or broken

	closing sync.Once
	closed  chan struct{}
}

// SessionID implements [mcp.Connection].
func (*lineConn) SessionID() string { return "" }

// Close implements [mcp.Connection]. It does not close the output.
func (c *lineConn) Close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = c.in.Close()
	})
	return err
}

// Read implements [mcp.Connection].
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, more := <-c.incoming:
		if !more {
			return nil, c.end(ctx)
		}
		c.await(m)
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listening is the call that is answered only when its session ends.
const listening = "subscriptions/listen"

// await registers a call that needs an answer.
func (c *lineConn) await(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != listening {
		c.mu.Lock()
		c.waiting[r.ID] = true
		c.mu.Unlock()
	}
}

// end waits until all calls are answered or writing has failed, and returns the error of the input.
func (c *lineConn) end(ctx context.Context) error {
	for !c.settled() {
		select {
		case <-c.answered:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if c.readErr != nil {
		return fmt.Errorf("read message: %w", c.readErr)
	}
	return io.EOF
}

func (c *lineConn) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken || len(c.waiting) == 0
}

// Write implements [mcp.Connection].
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		err = c.send(b)
	}
	c.mu.Lock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(c.waiting, r.ID)
	}
	c.broken = c.broken || err != nil
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

func (c *lineConn) send(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(message, '\n'))
	return err
}

// receive reads until the input ends.
func (c *lineConn) receive() {
	defer close(c.incoming)
	r := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, errLongLine) {
			c.refuse(nil, jsonrpc.CodeInvalidRequest, err)
			continue
		}
		for _, message := range batched(line) {
			m, refused := c.decode(message)
			if refused {
				continue
			}
			select {
			case c.incoming <- m:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.readErr = err
			}
			return
		}
	}
}

var errLongLine = fmt.Errorf("the message is longer than %d MiB", maxFrameBytes>>20)

// readLine returns the next line without surrounding white space. The last line comes with the
// error that ends the input. A line that is too long is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxFrameBytes; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLongLine // the next read reports the end of the input
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// batched returns the messages of a line: none for an empty line, several for an array, as old
// versions of the protocol allow. Each is answered separately.
func batched(line []byte) []json.RawMessage {
	if len(line) == 0 {
		return nil
	}
	var many []json.RawMessage
	if line[0] == '[' && json.Unmarshal(line, &many) == nil && len(many) > 0 {
		return many
	}
	return []json.RawMessage{line}
}

// decode returns a message, or answers an invalid one.
func (c *lineConn) decode(b []byte) (m jsonrpc.Message, refused bool) {
	if !json.Valid(b) {
		c.refuse(nil, jsonrpc.CodeParseError, errors.New("the line is not JSON; send one message per line"))
		return nil, true
	}
	m, err := jsonrpc.DecodeMessage(b)
	if err != nil {
		c.refuse(idOf(b), jsonrpc.CodeInvalidRequest, fmt.Errorf("not a JSON-RPC 2.0 message: %w", err))
		return nil, true
	}
	return m, false
}

// idOf returns the id of an invalid message, if readable.
func idOf(b []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(b, &m) // only an object has an id
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// refuse answers an invalid message. If writing fails, so does the next answer, which reports it.
func (c *lineConn) refuse(id any, code int64, problem error) {
	b, err := json.Marshal(struct {
		Version string        `json:"jsonrpc"`
		ID      any           `json:"id"` // null if unknown
		Error   jsonrpc.Error `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: problem.Error()}})
	if err == nil {
		_ = c.send(b)
	}
}
