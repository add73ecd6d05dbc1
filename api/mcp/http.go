package mcp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx/internal/access"
)

// sessionless is the first version of the protocol without sessions: each request is
// self-contained.
const sessionless = "2026-07-28"

// Handler serves streamable HTTP. Each call has the grant of its request's context, and a session
// serves only the key that started it. The caller must check host, origin, keys and limits before.
func (s *Server) Handler() http.Handler {
	serverFor := func(r *http.Request) *mcp.Server {
		if access.From(r.Context()).Role >= access.Write {
			return s.writing
		}
		return s.reading
	}
	options := mcp.StreamableHTTPOptions{
		Logger: s.log, SessionTimeout: s.opts.SessionIdle, MaxRequestBodyBytes: maxFrameBytes,
		DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	}
	stateful := mcp.NewStreamableHTTPHandler(serverFor, &options)
	options.Stateless = true
	stateless := mcp.NewStreamableHTTPHandler(serverFor, &options)
	return withRequestContext(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isBatch(r) {
			refuseBatch(w)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= sessionless {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	}))
}

// isBatch reports whether a request is an array of messages, without consuming the body. The
// limiter would count such an array as a single call.
func isBatch(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	for range maxFrameBytes {
		switch b, err := body.ReadByte(); {
		case err != nil:
			return false // the next reader meets the error, too
		case !strings.ContainsRune(" \t\r\n", rune(b)):
			_ = body.UnreadByte() // follows a successful read
			return b == '['
		}
	}
	return false
}

func refuseBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close") // the rest is not read
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the body is an array of `+
		`messages; send each in a request of its own"}}`)
}

const requestKey = "request" // key in the extra information of a token

// withRequestContext passes the context of each request to its calls. Otherwise calls of a session have the
// context of the request that started it. Of each request the SDK passes on only the information
// about its bearer token, and only the SDK's own check can set that. The key itself is not passed
// on.
func withRequestContext(next http.Handler) http.Handler {
	verify := func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: owner(r.Context()), Extra: map[string]any{requestKey: r.Context()}}, nil
	}
	h := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer checked")
		r.Header.Del("X-API-Key")
		h.ServeHTTP(w, r)
	})
}

// owner returns the owner of the sessions that requests of a context may use.
func owner(ctx context.Context) string {
	g := access.From(ctx)
	return "key:" + g.Key + " user:" + g.User
}

// ofRequest returns ctx with the values of the call's request.
func ofRequest(ctx context.Context, extra *mcp.RequestExtra) context.Context {
	if extra == nil || extra.TokenInfo == nil {
		return ctx
	}
	values, ok := extra.TokenInfo.Extra[requestKey].(context.Context)
	if !ok {
		return ctx
	}
	return requestContext{ctx, values}
}

// requestContext has the lifetime of a call and the values of its request.
type requestContext struct {
	context.Context

	values context.Context
}

// Value implements [context.Context].
func (c requestContext) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// headerOf returns the headers of the call's request; none on stdio.
func headerOf[P mcp.Params](req *mcp.ServerRequest[P]) http.Header {
	if req.Extra == nil {
		return nil
	}
	return req.Extra.Header
}
