package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// Security schemes, by their names in the OpenAPI document.
const (
	bearerScheme = "bearer"
	headerScheme = "api_key"
	apiKeyHeader = "X-API-Key"
)

// realm is the challenge for requests without a key.
const realm = `Bearer realm="ragctx"`

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "An API key, created with 'ragctx keys " +
			"create'. A server without keys requires none."},
		headerScheme: {
			Type: "apiKey", In: "header", Name: apiKeyHeader,
			Description: "The same key, for clients that cannot set Authorization.",
		},
	}
}

// authenticate adds the caller's grant to the context of the request: that of its API key, or full
// access if no keys are required. A server without keys ignores other credentials, but rejects an
// unknown key of ragctx's own format, so that it is not mistaken for a valid one. Requests within
// this process need no key.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if open(r.URL.Path) || s.isConsole(r) || isInside(r.Context()) { // a context without a grant is this process
			return next(c)
		}
		key, p := presentedKey(r.Header)
		if asks := s.asksForKeys(); !asks && !access.IsKey(key) {
			key, p = "", nil
		} else if asks && p == nil && key == "" {
			p = unauthenticated("the request has no API key", "header.Authorization",
				"is missing; send Authorization: Bearer and an API key")
		}
		if p != nil {
			return s.refuse(c, p)
		}
		grant, ctx := access.FullGrant(), r.Context()
		if key != "" {
			var err error
			if grant, err = s.engine.Keys().Authenticate(key); err != nil {
				return s.refuse(c, s.problemOf(ctx, &huma.Operation{}, err))
			}
			var done context.CancelFunc
			ctx, done = s.engine.Keys().WhileValid(ctx, key)
			defer done()
		}
		c.SetRequest(r.WithContext(access.With(ctx, grant)))
		return next(c)
	}
}

// open reports whether a path is public.
func open(path string) bool { return path == "/healthz" || path == "/readyz" }

// asksForKeys reports whether requests need an API key.
func (s *Server) asksForKeys() bool {
	return s.opts.RequireKeys || s.public.Load() || s.engine.Keys().Needed()
}

// presentedKey returns the key of a request, or "".
func presentedKey(h http.Header) (string, *Problem) {
	var keys []string
	for _, v := range h.Values(echo.HeaderAuthorization) {
		scheme, key, _ := strings.Cut(v, " ")
		known := strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token") // mem0 uses Token
		if !known || strings.TrimSpace(key) == "" {
			return "", unauthenticated("the API key is malformed", "header.Authorization", "is not Bearer and an API key")
		}
		keys = append(keys, strings.TrimSpace(key))
	}
	keys = append(keys, h.Values(apiKeyHeader)...)
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", unauthenticated("the request has several API keys", "header.Authorization",
			fmt.Sprintf("and %s have %d keys; send one", apiKeyHeader, len(keys)))
	}
	return keys[0], nil
}

func unauthenticated(detail, location, message string) *Problem {
	code, status := ragctx.CodeOf(ragctx.ErrUnauthenticated)
	return newProblem(status, string(code), detail, Fault{Location: location, Message: message})
}

// refuse answers a request with a missing or invalid key.
func (s *Server) refuse(c echo.Context, p *Problem) error {
	if p.Status == http.StatusUnauthorized {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, realm)
	}
	return p
}
