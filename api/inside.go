package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ragctx/ragctx/engine"
)

// NewInside returns a client of an engine in this process, without a server between: what
// it asks for is done as by this process, whichever keys there are. The engine stays the
// caller's to close, after the last call.
func NewInside(eng *engine.Engine) *Client {
	return &Client{base: "http://127.0.0.1", http: &http.Client{Transport: inside{New(eng, Options{})}}}
}

// insideKey marks the contexts of requests that came over no network.
type insideKey struct{}

// isInside reports whether a request was made in this process.
func isInside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// inside has a server answer in this process.
type inside struct{ server *Server }

// RoundTrip implements [http.RoundTripper]. The request is answered while the body of its
// answer is read, and ends when that is closed.
func (i inside) RoundTrip(sent *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.WithValue(sent.Context(), insideKey{}, true))
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
			a.WriteHeader(http.StatusOK) // of an answer that says nothing
			_ = w.CloseWithError(err)    // which cannot fail
		}()
		i.server.ServeHTTP(a, r)
	}()
	<-a.begun
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: insideBody{body, cancel, done}, ContentLength: -1, Request: sent,
	}, nil
}

// insideAnswer is an answer that is read as it is written.
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

// Flush implements [http.Flusher]: nothing waits.
func (*insideAnswer) Flush() {}

// insideBody is the body of an answer.
type insideBody struct {
	*io.PipeReader

	cancel func()
	done   <-chan struct{}
}

// Close ends the request, also one whose answer was not read to its end.
func (b insideBody) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}
