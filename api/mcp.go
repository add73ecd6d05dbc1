package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

const mcpPath = "/mcp"

// maxMCPBody is the longest message that package mcp reads.
const maxMCPBody = 8 << 20

// mountMCP mounts the Model Context Protocol.
func (s *Server) mountMCP() {
	if s.opts.MCP == nil {
		return
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		s.echo.Add(method, mcpPath, s.mcp)
	}
}

func (s *Server) mcp(c echo.Context) error {
	r := c.Request()
	if r.Method == http.MethodGet {
		// A stream of server messages stays open as long as its session. It ends when the server
		// stops; the client opens a new one later.
		_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Time{}) // unsupported writers need no deadline
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer s.whenStopping(ctx, cancel)()
		r = r.WithContext(ctx)
	} else {
		memory := s.bodies.reserve("mcp")
		defer memory.release()
		body, p := s.readMCP(c, memory)
		if p != nil {
			return p
		}
		held := &heldBody{data: body}
		held.Reset(body)
		r.Body = held
		leave, err := s.enter(r.Context(), readsNext)
		if err != nil {
			return err
		}
		defer leave()
	}
	w := &plainErrors{ResponseWriter: c.Response()}
	s.opts.MCP.ServeHTTP(w, r)
	return w.problem()
}

// readMCP returns a message body. Of one that is too long it returns just enough to show that.
func (s *Server) readMCP(c echo.Context, memory *reservation) ([]byte, *Problem) {
	const limit = maxMCPBody + 1
	r := c.Request()
	body, err := readReserved(r.Context(), memory, io.LimitReader(r.Body, limit), min(r.ContentLength, limit), limit)
	return body, s.unread(c, &huma.Operation{Method: r.Method}, err, "send less at a time")
}

// whenStopping calls fn when the server shuts down, unless ctx has ended. The returned func waits
// until that is decided.
func (s *Server) whenStopping(ctx context.Context, fn func()) func() {
	done, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-s.stopping:
			fn()
		case <-ctx.Done():
		case <-done:
		}
	}()
	return func() { close(done); <-left }
}
