package store

import (
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// AuditEntry records a change that a server was asked to make.
type AuditEntry struct {
	Seq       int64     `json:"sequence" doc:"grows with every entry"`
	At        time.Time `json:"at"`
	Key       string    `json:"key_id,omitempty" doc:"of the API key; absent if none was asked for, local for commands beside the server"`
	KeyName   string    `json:"key_name,omitempty" doc:"name of the key, while the key is listed"`
	Request   string    `json:"request_id"`
	Operation string    `json:"operation" doc:"as the OpenAPI document names it; of agents mcp: and the tool"`
	Namespace string    `json:"namespace,omitempty" doc:"absent if it is about none"`
	// Target is the id of the object, if the request or its answer names one, until it is erased.
	Target string `json:"target,omitempty"`
	Status int    `json:"status" doc:"of the answer"`
	// Erases means that the target was erased, so its name is not stored.
	Erases bool `json:"-"`
}

// AuditFilter selects entries of the audit log.
type AuditFilter struct {
	Before    int64 // entries with a smaller Seq; 0 starts with the newest
	Limit     int
	Key       string   // "" is any
	Namespace string   // "" is any
	Among     []string // namespaces; empty is all, and entries without one
}

// RequestKey identifies a request that its client may repeat.
type RequestKey struct {
	Namespace, Route, Key string
}

// StoredResponse is the stored state of a request with a [RequestKey].
type StoredResponse struct {
	Hash []byte // of the request
	// Seed is the id of the created resource if the request names none: the same for every
	// repetition.
	Seed    string
	Status  int // HTTP; 0 until the response is stored
	Header  map[string]string
	Body    []byte
	Created time.Time // when the request first arrived
}

// ErrKeyReused is the error for a key that another request has used.
var ErrKeyReused = fmt.Errorf("%w: the key came with another request before", ragctx.ErrInvalid)

// MaxKeys limits the API keys that are not revoked.
const MaxKeys = 10_000

// StoredKey is an API key and the hash of its secret.
type StoredKey struct {
	access.Key

	Hash access.Hash
}
