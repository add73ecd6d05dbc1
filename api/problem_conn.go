package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// problemListener accepts connections on which every error is a problem in JSON. net/http itself answers a
// request that it cannot read, such as one with a bad escape in its URL, in plain text; the connection
// rewrites that answer. Below TLS it sees only the answer to a client that does not speak TLS; the other
// answers are encrypted, so they stay plain text.
type problemListener struct {
	net.Listener

	newID func() string
}

// Accept implements [net.Listener].
func (l problemListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return problemConn{c, l.newID}, nil
}

type problemConn struct {
	net.Conn

	newID func() string
}

// CloseWrite ends the answer; net/http calls it before it closes a connection with unread bytes.
func (c problemConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// plainHeaders are the headers with which net/http answers a request that it cannot read.
const plainHeaders = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// withoutTLS begins the answer of net/http to a client that sends a request without TLS where TLS is spoken.
const withoutTLS = "HTTP/1.0 400 Bad Request\r\n\r\n"

// Write implements [net.Conn]; net/http writes such an answer in one call.
func (c problemConn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte(withoutTLS)) {
		return len(b), c.answer("HTTP/1.0 400 Bad Request", http.StatusBadRequest, "the server uses TLS; begin its URL with https://")
	}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	text, plain := bytes.CutPrefix(rest, []byte(plainHeaders))
	name, is := strings.CutPrefix(string(line[:min(len(line), 64)]), "HTTP/1.1 ")
	code, _, _ := strings.Cut(name, " ")
	status, err := strconv.Atoi(code)
	if !is || !plain || err != nil || status < http.StatusBadRequest {
		return c.Conn.Write(b)
	}
	detail := "the request cannot be read; percent-encode the URL, and a percent sign as %25"
	if why := strings.TrimPrefix(string(text), code+" "); why != http.StatusText(status) {
		detail = strings.TrimPrefix(why, http.StatusText(status)+": ")
	}
	return len(b), c.answer(string(line), status, detail)
}

// answer writes a problem under a status line.
func (c problemConn) answer(line string, status int, detail string) error {
	p := newProblem(status, codeOfStatus(status), detail)
	p.RequestID = c.newID()
	body, err := json.Marshal(p)
	if err == nil {
		_, err = fmt.Fprintf(c.Conn, "%s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s: %s\r\nConnection: close\r\n\r\n%s",
			line, problemType, len(body), echo.HeaderXRequestID, p.RequestID, body)
	}
	return err
}
