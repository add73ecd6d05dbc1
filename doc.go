// Package ragctx defines the vocabulary of the context engine: messages, queries, items, results,
// providers, turns, events and errors.
//
// It does no I/O and imports only the standard library. Other packages implement its interfaces.
// Package engine combines them and is the only package that a Go program needs to import.
//
// A [ContextProvider] answers a [ContextQuery] with a [ContextResult], a list of [ContextItem]
// sorted by relevance. Several providers are queried at once. Their items are merged, fitted into
// the query's token budget as counted by a [Counter], and written by a [Renderer].
package ragctx
