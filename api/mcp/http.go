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

// sessionless is the first version of the protocol that has no sessions: a request says
// everything itself.
const sessionless = "2026-07-28"

// Handler answers streamable HTTP. The grant of each request's context holds for its
// calls, and a session serves only the key that began it. Host and origin, keys and limits
// are the business of what stands before it.
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
	return carried(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// isBatch reports whether a request brings an array of messages, and leaves its body as it
// is. What limits requests counts each as one call.
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
			return false // the reader after this one meets it, too
		case !strings.ContainsRune(" \t\r\n", rune(b)):
			_ = body.UnreadByte() // one was just read
			return b == '['
		}
	}
	return false
}

func refuseBatch(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close") // the rest is not read
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the body is an array of messages; send each in a request of its own"}}`)
}

const requestKey = "request" // in the extra information of a token

// carried lets the context of a request travel to the calls in it. A session's calls have
// the context of the request that began it; what the SDK hands on of each request is the
// information about its bearer token, and its check is the only way to put that there.
// The key itself goes no further.
func carried(next http.Handler) http.Handler {
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

// owner names whose sessions the requests of a context may use.
func owner(ctx context.Context) string {
	g := access.From(ctx)
	return "key:" + g.Key + " user:" + g.User
}

// ofRequest returns ctx with the values of the request that brought a call.
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

// requestContext ends with a call and has the values of its request.
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

// headerOf returns the headers of the request that brought a call; none on stdio.
func headerOf[P mcp.Params](req *mcp.ServerRequest[P]) http.Header {
	if req.Extra == nil {
		return nil
	}
	return req.Extra.Header
}
