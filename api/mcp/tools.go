package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx/internal/access"
)

// tools returns every tool, in the order in which they are explained.
func (s *Server) tools() []tool {
	return []tool{
		s.contextTool(), s.searchTool(), s.fetchTool(), s.codesearchTool(),
		s.memorySearchTool(), s.memoryAddTool(), s.memoryForgetTool(), s.memoryHistoryTool(),
		s.ingestTool(), s.jobStatusTool(),
	}
}

// looking are the hints of tools that change nothing; nothing here reaches beyond what
// ragctx has.
func looking() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false), DestructiveHint: new(false)}
}

// changing are the hints of tools that write.
func changing(destructive, idempotent, openWorld bool) mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: &destructive, IdempotentHint: idempotent, OpenWorldHint: &openWorld}
}

// reading begins the definition of a tool that changes nothing.
func reading(name, title, description string, limits func(properties)) definition {
	return definition{name: name, title: title, description: description, role: access.Read, hints: looking(), limits: limits}
}
