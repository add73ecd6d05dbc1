// Package store defines what a database stores for the engine: the types of its rows and filters, and
// small contracts per domain. Package sqlite implements them.
//
// A write that has returned without error survives kill -9 and power loss. Each read sees one consistent
// state. Indexes are caches that follow the database through its sequence of changes (see [Changes]).
package store
