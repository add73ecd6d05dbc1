// Package ragctx is the vocabulary of the context engine: messages, queries,
// items, results, providers, turns, events and errors.
//
// It does no I/O and imports nothing but the standard library. The packages
// below it in the tree implement what is named here; package engine wires them
// into a working whole and is all that a Go program needs to import.
//
// A [ContextProvider] answers a [ContextQuery] with a [ContextResult], a list
// of [ContextItem] sorted by relevance. Several providers are asked at once;
// their items are merged, fitted into the query's token budget as counted by a
// [Counter] and written out by a [Renderer].
package ragctx
