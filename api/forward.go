package api

import (
	"context"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// everywhere lists the operations that each node of a shared database answers: questions, reads of documents and
// memories, and the state of the node. The leader answers the others.
var everywhere = []string{
	"healthz", "readyz", "metrics", "status",
	"context", "search", "search-memories", "explain", "assemble", "embeddings", "get-embedder",
	"list-documents", "get-document", "get-item", "get-ranking", "list-namespaces", "get-namespace",
	"list-memories", "get-memory", "memory-history", "memory-stats", "list-memory-tags", "get-turn",
	"list-procedures", "get-procedure", "procedure-history",
	"mem0-ping", "mem0-list", "mem0-list-v2", "mem0-list-v3", "mem0-search", "mem0-search-v2", "mem0-search-v3",
	"mem0-get", "mem0-history", "mem0-entities", "openai-search-vector-store", "rerank", "rerank-v2",
}

// forwardedHeader marks a request that another node has forwarded. It is not forwarded again.
const forwardedHeader = "Ragctx-Forwarded"

// forwarder sends requests to the node that leads.
type forwarder struct {
	here map[endpoint]bool // documented routes that each node answers

	mu          sync.Mutex
	certificate string // of transport
	transport   *http.Transport
}

// note adds an operation that each node answers.
func (f *forwarder) note(operation, method, path string) {
	if slices.Contains(everywhere, operation) {
		if f.here == nil {
			f.here = make(map[endpoint]bool)
		}
		f.here[endpoint{published(path), method}] = true
	}
}

// to returns the transport to a leader.
func (f *forwarder) to(l store.Leader) *http.Transport {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.transport == nil || f.certificate != l.Certificate {
		if f.transport != nil {
			f.transport.CloseIdleConnections()
		}
		f.certificate, f.transport = l.Certificate, transportTo(l.Certificate)
	}
	return f.transport
}

// forward sends a request to the node that leads, unless this one can answer it.
func (s *Server) forward(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if isInside(r.Context()) || s.engine.Node().Leads() || s.answersHere(c) {
			return next(c)
		}
		if r.Header.Get(forwardedHeader) != "" {
			return busy(http.StatusServiceUnavailable, time.Second, "this node does not lead any more, and another one takes over")
		}
		leader, err := s.engine.Node().Leader()
		if err != nil {
			return busy(http.StatusServiceUnavailable, time.Second, err.Error())
		}
		to, err := url.Parse(leader.URL)
		if err != nil {
			return err
		}
		return s.relay(c, leader, to)
	}
}

// answersHere reports whether each node answers a request.
func (s *Server) answersHere(c echo.Context) bool {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	route := s.routeOf(c)
	return route == noRoute || route == "/openapi.json" || s.forwarder.here[endpoint{route, method}]
}

// relay answers a request with the answer of the node that leads.
func (s *Server) relay(c echo.Context, leader store.Leader, to *url.URL) (err error) {
	out := newPieceWriter(c.Response())
	_ = out.ctl.SetReadDeadline(time.Time{}) // the other node has its own
	ctx, cancel := s.engine.Node().WhileLeading(c.Request().Context(), leader)
	defer cancel()
	proxy := httputil.ReverseProxy{
		Transport: s.forwarder.to(leader), FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			sent, err := url.ParseRequestURI(p.In.RequestURI) // as it was before routing
			if err != nil {
				sent = p.In.URL
			}
			p.Out.URL = &url.URL{Scheme: to.Scheme, Host: to.Host, Path: sent.Path, RawPath: sent.RawPath, RawQuery: sent.RawQuery}
			p.Out.Host = p.In.Host // which this node has checked
			p.Out.Header.Del(echo.HeaderAcceptEncoding)
			p.Out.Header.Set(forwardedHeader, "1")
			p.Out.Header.Set(echo.HeaderXRequestID, requestID(p.In.Context()))
			if access.From(p.In.Context()).Key == engine.LocalKey {
				p.Out.Header.Del(apiKeyHeader)
				p.Out.Header.Set(echo.HeaderAuthorization, "Bearer "+leader.Token)
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			for name := range resp.Header {
				c.Response().Header().Del(name)
			}
			if media, _, _ := mime.ParseMediaType(resp.Header.Get(echo.HeaderContentType)); media == eventsType ||
				resp.StatusCode == http.StatusSwitchingProtocols {
				context.AfterFunc(ctx, s.whenStopping(ctx, cancel))
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, failed error) { err = unreachable(leader.URL, failed) },
	}
	proxy.ServeHTTP(out, c.Request().WithContext(ctx))
	return err
}

// unreachable is the problem of a leader that does not answer.
func unreachable(at string, err error) *Problem {
	what := "; the request may have been carried out"
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		what = ""
	}
	return busy(http.StatusServiceUnavailable, time.Second,
		"the node that leads ("+at+") does not answer"+what+"; another one takes over within half a minute")
}
