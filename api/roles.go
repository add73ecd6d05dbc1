package api

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/internal/access"
)

// operationRoles lists the operations of each role. The engine enforces further limits by the grant
// in the context. An unlisted operation requires admin and fails a test.
var operationRoles = map[access.Role][]string{
	access.None: {"healthz", "readyz"},
	access.Read: {
		"context", "search", "search-memories", "explain", "assemble", "pack", "embeddings", "get-embedder",
		"vector-status", "metrics",
		"list-documents", "get-document", "list-duplicates", "get-item", "get-ranking", "list-namespaces", "get-namespace",
		"list-jobs", "get-job", "list-job-items", "watch-job",
		"stream-events", "list-providers", "list-session-providers",
		"list-sessions", "get-session", "list-session-messages", "get-session-message", "list-session-labels",
		"compile-session", "compile", "compact",
		"list-session-compactions", "list-session-observations", "export-session",
		"list-clusters", "get-cluster", "get-cluster-state", "query-messages", "export-messages", "stream-messages",
		"list-memories", "get-memory", "memory-history", "export-memories", "extract-memories", "list-quarantine",
		"memory-stats",
		"list-memory-tags", "get-turn",
		"list-procedures", "get-procedure", "preview-procedure", "procedure-history",
		"mem0-ping", "mem0-list", "mem0-list-v2", "mem0-list-v3", "mem0-search", "mem0-search-v2", "mem0-search-v3",
		"mem0-get", "mem0-history", "mem0-entities",
		"openai-models", "openai-model", "openai-files", "openai-file", "openai-file-content",
		"openai-vector-stores", "openai-vector-store",
		"openai-search-vector-store", "openai-store-files", "openai-store-file", "openai-store-file-content", "openai-batch",
		"openai-batch-files", "rerank", "rerank-v2",
	},
	access.Write: {
		"put-document", "post-document", "put-documents", "delete-document", "cancel-job", "retry-job",
		"append-messages", "import-messages", "erase-cluster",
		"remember", "remember-outcome", "change-memory", "delete-memory", "change-memory-tags", "put-memory-tags",
		"undo-memory",
		"release-memory", "discard-memory", "import-memories", "prune-memories", "complete-turn", "undo-turn",
		"assemble-session", "erase-session", "erase-user",
		"add-session-provider", "remove-session-provider",
		"create-session", "change-session", "append-session-messages", "label-session-message", "put-session-section",
		"delete-session-section",
		"compact-session", "undo-session-compaction", "fork-session", "navigate-session", "import-session",
		"put-draft", "delete-draft", "publish-procedure", "unpublish-procedure", "roll-back-procedure", "erase-procedure",
		"mem0-add", "mem0-add-v3", "mem0-update", "mem0-delete", "mem0-delete-all",
		"openai-upload-file", "openai-delete-file", "openai-create-vector-store", "openai-change-vector-store",
		"openai-delete-vector-store", "openai-add-file", "openai-change-file", "openai-remove-file", "openai-create-batch",
		"openai-cancel-batch",
		"mem0-delete-entity", "mem0-delete-entity-v2", "mem0-batch-update", "mem0-batch-delete",
	},
	access.Admin: {
		"create-key", "list-keys", "revoke-key", "list-audit", "status",
		"create-namespace", "put-quotas", "erase-namespace",
		"put-ranking", "put-embedder", "reembed", "snapshot", "doctor",
	},
}

// roleOf returns the role that an operation requires.
func roleOf(operation string) access.Role {
	for role, operations := range operationRoles {
		if slices.Contains(operations, operation) {
			return role
		}
	}
	return access.Admin
}

// describeRole adds the required role to the description of an operation.
func describeRole(op *huma.Operation) {
	role := roleOf(op.OperationID)
	if op.Extensions == nil {
		op.Extensions = make(map[string]any)
	}
	op.Extensions["x-required-role"] = role.String()
	op.Security = []map[string][]string{}
	if role > access.None {
		op.Security = append(op.Security, map[string][]string{bearerScheme: {}}, map[string][]string{headerScheme: {}})
	}
}
