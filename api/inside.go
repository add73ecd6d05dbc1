package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ragctx/ragctx/engine"
)

// NewInside returns a client of an engine in this process. No socket is opened: a handler answers
// each request directly. Calls need no key, have the grant of their context (see package access) or
// else of the process, do not wait at the gate, and of them only erasures are in the audit log. Only
// [Options].Version and Log are used: the limits of bodies protect servers from their callers. The
// caller closes the engine after the last call.
func NewInside(eng *engine.Engine, o Options) *Client {
	o = Options{Version: o.Version, Log: o.Log, MaxBodyBytes: unlimited, BodyMemory: unlimited}
	server := sync.OnceValue(func() *Server { return New(eng, o) }) // takes 20 ms, and some commands call nothing
	return newClient("http://127.0.0.1", inside{server: server, trusted: true})
}

// unlimited is a number of bytes that no body reaches. Multiplied by a factor for memory it still
// fits into 63 bits.
const unlimited = 1 << 50

// insideKey is the context key of an [insideCall].
type insideKey struct{}

// insideCall is the state of a request made in this process.
type insideCall struct {
	cause error // the engine's error, if the answer is a problem made of it
}

// isInside reports whether a request was made in this process.
func isInside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// keepCause hands the error behind a problem to a caller in this process, who may see all of it.
func keepCause(ctx context.Context, p *Problem) {
	if call, ok := ctx.Value(insideKey{}).(*insideCall); ok {
		call.cause = p.cause
	}
}

// causeOf returns the engine's error behind the answer to a request made in this process, or nil.
func causeOf(resp *http.Response) error {
	if resp.Request == nil {
		return nil
	}
	if call, ok := resp.Request.Context().Value(insideKey{}).(*insideCall); ok {
		return call.cause
	}
	return nil
}

// inside is a transport that calls a server in this process. Trusted requests are this process's own: they
// need no key.
type inside struct {
	server  func() *Server
	trusted bool
}

// RoundTrip implements [http.RoundTripper]. The handler runs while the answer's body is read, and
// its context ends when the body is closed.
func (i inside) RoundTrip(sent *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(sent.Context())
	if i.trusted {
		ctx = context.WithValue(ctx, insideKey{}, new(insideCall))
	}
	r := sent.Clone(ctx)
	r.RequestURI, r.Host, r.RemoteAddr = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:0"
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, w := io.Pipe()
	a := &insideAnswer{header: make(http.Header), body: w, begun: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		defer r.Body.Close()
		defer func() {
			var err error
			if p := recover(); p != nil {
				err = fmt.Errorf("answer broke off: %v", p)
			}
			a.WriteHeader(http.StatusOK) // for a handler that wrote nothing
			_ = w.CloseWithError(err)    // always nil
		}()
		i.server().ServeHTTP(a, r)
	}()
	<-a.begun
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: insideBody{body, cancel, done}, ContentLength: -1, Request: r,
	}, nil
}

// insideAnswer is the answer's writer: the caller reads each byte as the handler writes it.
type insideAnswer struct {
	header, sent http.Header
	status       int
	body         *io.PipeWriter
	begun        chan struct{}
	once         sync.Once
}

// Header implements [http.ResponseWriter].
func (a *insideAnswer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *insideAnswer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

// Write implements [http.ResponseWriter].
func (a *insideAnswer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Flush implements [http.Flusher]. Nothing is buffered.
func (*insideAnswer) Flush() {}

// insideBody is the answer's body.
type insideBody struct {
	*io.PipeReader

	cancel func()
	done   <-chan struct{}
}

// Close cancels the handler, and returns when it has ended.
func (b insideBody) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}
