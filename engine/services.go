package engine

// Documents ingests, lists, deletes and erases documents.
type Documents struct{ *core }

// Memories stores, revises, lists and erases memories.
type Memories struct{ *core }

// Procedures drafts, publishes and lists procedures.
type Procedures struct{ *core }

// Sessions has the stored conversations, their turns and the providers of their own.
type Sessions struct{ *core }

// Ledger has the messages that agents exchange within clusters.
type Ledger struct{ *core }

// Jobs runs and reports work that outlives a request.
type Jobs struct{ *core }

// Indexes has the embedder, the ranking and the state of the indexes.
type Indexes struct{ *core }

// Events has the events of this process.
type Events struct{ *core }

// Keys has the API keys.
type Keys struct{ *core }

// Requests remembers the answers to requests with an idempotency key.
type Requests struct{ *core }

// Admin has namespaces, quotas, the audit log, snapshots and health.
type Admin struct{ *core }

// Node is this process among those that share a database. With a database of its own it leads.
type Node struct{ *core }

// Metrics has the counters of this process.
type Metrics struct{ *core }

// Node returns the service for processes that share a database.
func (e *core) Node() Node { return Node{e} }

// Documents returns the service for documents.
func (e *core) Documents() Documents { return Documents{e} }

// Memories returns the service for memories.
func (e *core) Memories() Memories { return Memories{e} }

// Procedures returns the service for procedures.
func (e *core) Procedures() Procedures { return Procedures{e} }

// Sessions returns the service for stored conversations.
func (e *core) Sessions() Sessions { return Sessions{e} }

// Ledger returns the service for ledgers.
func (e *core) Ledger() Ledger { return Ledger{e} }

// Jobs returns the service for jobs.
func (e *core) Jobs() Jobs { return Jobs{e} }

// Indexes returns the service for embedder, ranking and indexes.
func (e *core) Indexes() Indexes { return Indexes{e} }

// Events returns the service for events.
func (e *core) Events() Events { return Events{e} }

// Keys returns the service for API keys.
func (e *core) Keys() Keys { return Keys{e} }

// Requests returns the service for requests with an idempotency key.
func (e *core) Requests() Requests { return Requests{e} }

// Admin returns the service for administration.
func (e *core) Admin() Admin { return Admin{e} }

// Metrics returns the counters of this process.
func (e *core) Metrics() Metrics { return Metrics{e} }
