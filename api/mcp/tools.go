package mcp

import (
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
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

// ToolNames returns the names of all tools.
func ToolNames() (names []string) {
	for _, t := range new(Server).tools() {
		names = append(names, t.def.Name)
	}
	return names
}

// CheckTools returns an error about a name that no tool has.
func CheckTools(names []string) error {
	for _, name := range names {
		if all := ToolNames(); !slices.Contains(all, name) {
			return ragctx.Invalid("tools", "%q is no tool; use %s", ragctx.Clip(name), strings.Join(all, ", "))
		}
	}
	return nil
}

// readOnlyHints returns the hints of read-only tools. No tool reaches beyond the data of ragctx.
func readOnlyHints() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{
		ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false),
		DestructiveHint: new(false),
	}
}

// writeHints returns the hints of tools that write.
func writeHints(destructive, idempotent, openWorld bool) mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: &destructive, IdempotentHint: idempotent, OpenWorldHint: &openWorld}
}

// readTool returns the start of a read-only tool's definition.
func readTool(name, title, description string, limits func(properties)) definition {
	return definition{
		name: name, title: title, description: description, role: access.Read, hints: readOnlyHints(),
		limits: limits,
	}
}
