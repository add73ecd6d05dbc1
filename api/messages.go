package api

import "github.com/ragctx/ragctx/api/internal/request"

// Metadata preserves numbers as written, because a float64 cannot hold every id.
type Metadata = request.Metadata

// Messages are the messages of a conversation.
type Messages = request.Messages
