package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx/internal/access"
)

// tools returns all tools in the documented order.
func (s *Server) tools() []tool {
	return []tool{
		s.contextTool(), s.searchTool(), s.fetchTool(), s.codesearchTool(),
		s.memorySearchTool(), s.memoryAddTool(), s.memoryForgetTool(), s.memoryHistoryTool(),
		s.ingestTool(), s.jobStatusTool(),
	}
}

// looking returns the hints of read-only tools. No tool reaches beyond the data of ragctx.
func looking() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false),
		DestructiveHint: new(false)}
}

// changing returns the hints of tools that write.
func changing(destructive, idempotent, openWorld bool) mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: &destructive, IdempotentHint: idempotent, OpenWorldHint: &openWorld}
}

// reading returns the start of a read-only tool's definition.
func reading(name, title, description string, limits func(properties)) definition {
	return definition{name: name, title: title, description: description, role: access.Read, hints: looking(),
		limits: limits}
}
