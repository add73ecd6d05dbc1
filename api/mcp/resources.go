package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// URIs of the resources. Ids are percent-encoded.
const (
	documentRoot = "ragctx://document/"
	memoryRoot   = "ragctx://memory/"
)

// maxResourceBytes limits a resource, which is sent whole; fetch has pages.
const maxResourceBytes = 4 << 20

// escape encodes an id as a part of a URI.
func escape(id string) string {
	return strings.ReplaceAll(url.QueryEscape(id), "+", "%20") // escapes all reserved characters, unlike a path
}

func (s *Server) addResources(srv *mcp.Server) {
	srv.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "document", Title: "Document", URITemplate: documentRoot + "{id}",
		Description: "Text of the current version of a document. The id is percent-encoded.",
	}, s.resource(documentRoot, func(ctx context.Context, at Scope, id string) (string, string, error) {
		d, text, err := s.engine.Document(ctx, at.Namespace, id, 0)
		return text, d.MIME, err
	}))
	srv.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "memory", Title: "Memory", URITemplate: memoryRoot + "{id}", MIMEType: "text/plain",
		Description: "Text of a memory. The id is percent-encoded.",
	}, s.resource(memoryRoot, func(ctx context.Context, at Scope, id string) (string, string, error) {
		m, err := s.memory(ctx, at, id)
		return m.Content, "text/plain", err
	}))
}

// resource returns a handler for the resources below a root.
func (s *Server) resource(root string, read func(ctx context.Context, at Scope, id string) (text, mime string,
	err error),
) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, root))
		if err != nil || id == "" || ragctx.ValidName("id", id) != nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		ctx, at, err := s.reader(ctx, headerOf(req))
		if err != nil {
			return nil, err
		}
		text, mime, err := read(ctx, at, id)
		switch {
		case errors.Is(err, ragctx.ErrNotFound):
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		case err != nil:
			return nil, s.hidden(ctx, "resource", err)
		case len(text) > maxResourceBytes:
			return nil, ragctx.TooLarge("uri", "has %d bytes of text; the limit of a resource is %d: "+
				"read it page by page with the tool fetch", len(text), maxResourceBytes)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: req.Params.URI, MIMEType: mime,
			Text: text,
		}}}, nil
	}
}

// reader returns the scope of a call outside of tools, and ctx with its grant.
func (s *Server) reader(ctx context.Context, h http.Header) (context.Context, Scope, error) {
	if err := access.From(ctx).RequireRole(access.Read); err != nil {
		return ctx, Scope{}, err
	}
	at, fixed, err := s.scope(ctx, h, Scope{})
	return fixed.within(ctx, false), at, err
}

// hidden returns the part of an error that helps the caller, and logs the rest.
func (s *Server) hidden(ctx context.Context, what string, err error) error {
	if _, status := ragctx.CodeOf(err); status < 500 {
		return err
	}
	s.log.ErrorContext(ctx, "request failed", "what", what, "error", err)
	return errors.New("internal error; the log of ragctx says what it was")
}

const maxCompletions = 100 // the protocol's limit

// complete proposes document ids.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref == nil || req.Params.Ref.URI != documentRoot+"{id}" || req.Params.Argument.Name != "id" {
		return out, nil
	}
	ctx, at, err := s.reader(ctx, headerOf(req))
	if err != nil {
		return nil, err
	}
	prefix, err := url.PathUnescape(req.Params.Argument.Value)
	if err != nil || ragctx.ValidName("id", prefix) != nil {
		return out, nil //nolint:nilerr // half an escape completes to nothing
	}
	found, err := s.engine.ListDocuments(ctx, at.Namespace, store.ListOptions{Prefix: prefix, Limit: maxCompletions + 1})
	if err != nil {
		return nil, s.hidden(ctx, "completion", err)
	}
	out.Completion.HasMore = len(found) > maxCompletions
	for _, d := range found[:min(len(found), maxCompletions)] {
		out.Completion.Values = append(out.Completion.Values, escape(d.ID))
	}
	return out, nil
}
