package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/redact"
)

// tool is a tool with the role that it needs.
type tool struct {
	def    *mcp.Tool
	role   access.Role
	handle mcp.ToolHandler
}

// definition describes a tool; limits completes the schema of its arguments.
type definition struct {
	name, title, description string
	role                     access.Role
	forAll                   bool // it changes shared items
	hints                    mcp.ToolAnnotations
	limits                   func(p properties)
}

// scoped is implemented by the arguments of all tools.
type scoped interface{ requestedScope() Scope }

// plain is implemented by answers with a text besides their structured content.
type plain interface{ text() string }

// define returns a tool with arguments of type In and answers of type Out.
func define[In scoped, Out any](s *Server, d definition, call func(ctx context.Context, at Scope, in In) (Out,
	error),
) tool {
	schema := schemaOf[In]()
	p := properties(schema.Properties)
	for _, part := range new(Scope).parts() {
		if p[part.argument] != nil {
			p.text(part.argument, ragctx.MaxNameBytes, false)
		}
	}
	d.limits(p)
	args := arguments{schema, s.hideFixed(schema)}
	d.hints.Title = d.title
	// Every conversation pays for the list of tools: the answers explain themselves, without a schema.
	t := tool{role: d.role, def: &mcp.Tool{Name: d.name, Description: d.description, Annotations: &d.hints, InputSchema: schema}}
	t.handle = func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in In
		change := Change{Tool: d.name, Status: http.StatusInternalServerError} // if the call panics
		if d.role > access.Read && s.opts.Changed != nil {
			defer func() { s.opts.Changed(ctx, change) }()
		}
		out, err := func() (out Out, err error) {
			if err := access.From(ctx).RequireRole(d.role); err != nil {
				return out, err
			}
			if err := args.read(req.Params.Arguments, &in); err != nil {
				return out, err
			}
			at, fixed, err := s.scope(ctx, headerOf(req), in.requestedScope())
			change.Namespace = ragctx.Clip(at.Namespace)
			if err != nil {
				return out, err
			}
			return call(fixed.within(ctx, d.forAll), at, in)
		}()
		change.settle(ctx, in, out, err)
		if err != nil {
			return s.failed(ctx, d.name, err), nil
		}
		return answer(out)
	}
	return t
}

// schemaOf returns the schema of a type of this package.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a programming error that any test run finds
	}
	neverNull(schema)
	return schema
}

// neverNull removes null, which Go lists and pointers allow: here, empty values are empty lists or
// absent, and some clients do not support types that are lists.
func neverNull(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	neverNull(schema.Items)
	for _, p := range schema.Properties {
		neverNull(p)
	}
}

// hideFixed removes arguments that are configured, and returns their names.
func (s *Server) hideFixed(schema *jsonschema.Schema) (hidden []string) {
	for _, p := range s.opts.Scope.parts() {
		if *p.value != "" && schema.Properties[p.argument] != nil {
			delete(schema.Properties, p.argument)
			schema.PropertyOrder = nil // contains the removed names
			hidden = append(hidden, p.argument)
		}
	}
	return hidden
}

// answer returns an answer as structured content and as text.
func answer(out any) (*mcp.CallToolResult, error) {
	b, err := encode(out)
	if err != nil {
		return nil, err
	}
	text := string(b)
	if p, ok := out.(plain); ok {
		text, _ = redact.Visible(p.text())
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(b),
	}, nil
}

// encode writes JSON for models, without HTML escapes and invisible characters.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	text, _ := redact.Visible(strings.TrimSuffix(buf.String(), "\n"))
	return []byte(text), nil
}

// failed returns an error as a tool result, which the model reads and can act on. The result
// contains only what helps the model; the log has the rest.
func (s *Server) failed(ctx context.Context, name string, err error) *mcp.CallToolResult {
	code, status := ragctx.CodeOf(err)
	text := err.Error()
	if ctx.Err() != nil {
		code, text = "canceled", "the call was cancelled"
	} else if status >= 500 {
		s.log.ErrorContext(ctx, "tool failed", "tool", name, "code", string(code), "error", err)
		switch {
		case errors.Is(err, ragctx.ErrNoSpace):
			text = "the disk is full; free some space and try again"
		case errors.Is(err, context.DeadlineExceeded):
			text = "the call timed out; ask for less, or try again"
		case errors.Is(err, ragctx.ErrUnavailable), errors.Is(err, ragctx.ErrClosed):
			text = "ragctx cannot answer now; try again later"
		default:
			text = "internal error; the log of ragctx says what it was"
		}
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(code) + ": " + text}}}
}
