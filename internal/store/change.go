package store

// Commits identifies the state of a namespace as answers see it, since the database was opened. It
// changes before a write is acknowledged.
type Commits struct{ Global, Own uint64 }
