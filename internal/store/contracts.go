package store

import (
	"context"
	"io"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// Store is a database: all contracts of this package. A consumer takes the one that it needs.
type Store interface {
	Documents
	passage.Source
	Memories
	Curation
	Facts
	Owners
	Turns
	ProcedureWriter
	ProcedureReader
	Jobs
	JobItems
	JobUpkeep
	Requests
	Keys
	Audit
	Namespaces
	SessionProviders
	Changes
	Embedders
	Vectors
	Settings
	Erasures
	SecureErasures
	Space
	Health
	Snapshots
	Parts
}

// Documents are the documents of namespaces, each with its versions and chunks.
type Documents interface {
	// Has reports whether the current version of a document has this hash and root, so that storing it
	// again would change nothing. Like a write it returns the change that indexes must reach: they may
	// not have indexed it yet.
	Has(ctx context.Context, ns int64, id string, hash []byte, root string) (Put, bool, error)
	// PutDocument stores a document, or a new version if the content differs, with all chunks or none.
	// A non-empty root names the source folder of a file; replacing a document of another root is
	// [ragctx.ErrConflict]. All conditions must hold. Versions beyond the store's limit are removed,
	// the oldest first.
	PutDocument(ctx context.Context, ns int64, doc passage.PreparedDocument, root string, c Content, when ...Condition) (Put, error)
	// DeleteDocument ends a document. Queries as of earlier times still find it. All conditions must hold.
	DeleteDocument(ctx context.Context, ns int64, id string, when ...Condition) (uint64, error)
	// DropDocument ends a document if its current version is the one in f: it was not stored again
	// since. Otherwise the error is [ragctx.ErrNotFound].
	DropDocument(ctx context.Context, ns int64, f FileState) (uint64, error)
	// Document returns a version of a document and its text; version 0 is the current one.
	Document(ctx context.Context, ns int64, id string, version int) (Document, string, error)
	// DocumentChunks returns the chunks of a version of a document, in order; version 0 is the current
	// one.
	DocumentChunks(ctx context.Context, ns int64, id string, version int) ([]passage.Chunk, error)
	// ListDocuments returns current documents in order of their ids.
	ListDocuments(ctx context.Context, ns int64, o ListOptions) ([]Document, error)
	// RecordFiles stores the states of the files that current documents were ingested from, for
	// [Document.Stat]: an unchanged file need not be read again. It ignores documents that are missing
	// or have another root or version. A new version starts without a state.
	RecordFiles(ctx context.Context, ns int64, files []FileState) error
	// Sketches returns the sketches of a namespace's current documents, for finding near-duplicates. It
	// leaves out documents stored before there were sketches.
	Sketches(ctx context.Context, ns int64) ([]passage.SketchedDocument, error)
}

// Memories are the memories of namespaces, each with its versions.
type Memories interface {
	// ReplaceMemory stores a memory, or a new version if anything of it differs. Unless version over is
	// current, it is [ragctx.ErrConflict]; 0 accepts any version or none. All conditions must hold.
	// Occurred defaults to now. It returns the stored memory, the outcome and the change that indexes
	// must reach.
	//
	// The tier limits the working memories; those with the lowest score are ended.
	ReplaceMemory(
		ctx context.Context, ns int64, m ragctx.Memory, c Content, tier Tier, over int, when ...Condition,
	) (ragctx.Memory, Status, uint64, error)
	// Memory returns the current version of a memory.
	Memory(ctx context.Context, ns int64, id string, now time.Time) (ragctx.Memory, error)
	// DeleteMemory ends a memory of the user or a shared one (with anyUser: any memory) and discards
	// the quarantined memory of the same id. Queries as of earlier times still find an ended memory. If
	// neither exists, the error is [ragctx.ErrNotFound]; seq is 0 if only a quarantined memory existed.
	// All conditions must hold.
	DeleteMemory(ctx context.Context, ns int64, id, user string, anyUser bool, when ...Condition) (seq uint64, err error)
	// ListMemories lists memories in the filter's order, by default by score, highest first. The scores
	// that it returns are bit-equal to those that it compares with a [MemoryCursor].
	ListMemories(ctx context.Context, ns int64, f MemoryFilter) ([]ragctx.Memory, error)
	// CountMemories counts the memories that a filter selects.
	CountMemories(ctx context.Context, ns int64, f MemoryFilter) (n int, err error)
	// MemoryTags counts the tags of the memories that a filter selects, most frequent first, then by
	// name, at most the filter's limit. After is the last one of the previous page; zero starts at the
	// beginning.
	MemoryTags(ctx context.Context, ns int64, f MemoryFilter, after TagCount) ([]TagCount, error)
	// MemoryStats counts memories, of the short-term ones at most shortTerm. Of the filter only the
	// scope applies.
	MemoryStats(ctx context.Context, ns int64, f MemoryFilter, shortTerm int) (MemoryStats, error)
	// PruneMemories ends the memories that a policy selects and returns their ids, at most limit; with
	// dry it only returns them. Pinned memories stay. An undo restores an ended memory, and queries as
	// of earlier times find it.
	PruneMemories(
		ctx context.Context, ns int64, f MemoryFilter, p ragctx.PrunePolicy, dry bool, limit int,
	) (ids []string, seq uint64, err error)
	// RecordUses adds to the counts of memories. It skips memories that no longer exist.
	RecordUses(ctx context.Context, uses []Use) error
}

// Curation is the history of memories, undo, and the quarantine.
type Curation interface {
	// MemoryHistory returns the events of a memory, oldest first. Without anyUser every version of the
	// memory must belong to the user or be shared.
	MemoryHistory(ctx context.Context, ns int64, id, user string, anyUser bool) ([]ragctx.MemoryChange, error)
	// TurnChanges returns the changes of memories extracted from a turn, in order. Without anyUser it
	// leaves out memories of other users.
	TurnChanges(ctx context.Context, ns int64, turn, user string, anyUser bool) ([]TurnChange, error)
	// Undo reverts the newest change of a memory that has not been undone, and returns it. A created
	// memory is ended, an ended or replaced one is restored, a merge loses its source. Memories
	// superseded by the creation are restored as well. A second undo reverts the change before.
	Undo(ctx context.Context, ns int64, id, user string, anyUser bool) (done ragctx.MemoryChange, seq uint64, err error)
	// UndoTurn reverts the facts extracted from a turn: created memories, added sources and superseded
	// memories. Later changes stay. It returns the ids of the changed memories, oldest first.
	UndoTurn(ctx context.Context, ns int64, turn, user string, anyUser bool) (ids []string, seq uint64, err error)
	// PutInQuarantine puts a caller's memory into quarantine and replaces the quarantined memory of the
	// same id. If a memory of the id is current, or the id belongs to another user, it is
	// [ragctx.ErrConflict].
	PutInQuarantine(ctx context.Context, ns int64, m ragctx.Memory, reason string) error
	// Quarantine lists quarantined memories, oldest first, after a row (0 starts with the first). Of
	// the filter only the scope and the limit apply.
	Quarantine(ctx context.Context, ns int64, f MemoryFilter, after int64) ([]Quarantined, error)
	// Quarantined returns a quarantined memory. Without anyUser it must belong to the user or be shared;
	// so it is in Release and Discard.
	Quarantined(ctx context.Context, ns int64, id, user string, anyUser bool) (q Quarantined, err error)
	// Release stores a quarantined memory and removes it from quarantine.
	Release(ctx context.Context, ns int64, id, user string, anyUser bool, c Content) (seq uint64, err error)
	// Discard deletes a memory from quarantine. The turn that it was extracted from does not restore it.
	Discard(ctx context.Context, ns int64, id, user string, anyUser bool) error
}

// Facts are the memories extracted from turns.
type Facts interface {
	// Facts returns the extracted memories among the given ids that belong to a user and an agent, in
	// the order of the ids, at most limit.
	Facts(ctx context.Context, ns int64, user, agent string, ids []string, limit int) ([]ragctx.Memory, error)
	// StoreFacts stores the facts extracted from a turn, all or none. A fact that a memory of the same user
	// and agent already states is merged: the memory gets another source. A memory with another value
	// of the same exclusive attribute is superseded, unless its turn is the later one. A fact extracted
	// from the turn before is skipped, even if the memory was deleted since. It returns the outcomes in
	// the order of the facts. With dry it stores nothing.
	StoreFacts(ctx context.Context, ns int64, facts []ExtractedFact, dry bool) (out []FactOutcome, seq uint64, err error)
	// HasFacts reports whether a namespace has facts extracted from turns.
	HasFacts(ctx context.Context, ns int64) (yes bool, err error)
	// ChunksOfFacts returns the chunks of the turns that facts were extracted from, by the facts' chunks, in
	// order: the chunks of the turn's current episode. It leaves out chunks of other items and turns
	// without an episode.
	ChunksOfFacts(ctx context.Context, ns int64, facts []uint64, now time.Time) (map[uint64][]passage.Chunk, error)
	// FactsOfTurns returns the facts extracted from turns, by turn id: the facts current at the reference
	// time, and superseded or reworded ones with their current replacement.
	FactsOfTurns(ctx context.Context, ns int64, turns []string, f MemoryFilter) (map[string][]ragctx.TurnFact, error)
}

// Owners answers which ids are shared among users.
type Owners interface {
	// WasEverShared reports whether anything of a memory or turn, current or earlier, is shared. If anything
	// of it belongs to another user, the error is [ragctx.ErrNotFound].
	WasEverShared(ctx context.Context, ns int64, id, user string) (shared bool, err error)
	// IsShared reports whether a current or quarantined memory is shared, regardless of earlier
	// owners of its id.
	IsShared(ctx context.Context, ns int64, id string) (shared bool, err error)
	// CountOwners counts the memories that a filter selects by user, agent and session, in the order of
	// kind and name, at most the filter's limit of each kind.
	CountOwners(ctx context.Context, ns int64, f MemoryFilter) ([]OwnerCount, error)
}

// OwnerCount counts the memories of a user, an agent or a session.
type OwnerCount struct {
	Kind        string // user, agent or session
	Name        string
	Memories    int
	First, Last time.Time // of occurrence
}

// Turns are the completed turns and their deliveries to providers.
type Turns interface {
	// PutTurn stores a turn verbatim together with its episode, all or nothing; m is nil for a turn
	// without text. An existing turn with the same content is [Unchanged]. It is a conflict if the
	// content differs, if the turn's memory was deleted since, or if anything under its id belongs to
	// another user. With deliver the same transaction marks the turn for delivery to providers; row
	// identifies it there.
	PutTurn(
		ctx context.Context, ns int64, t ragctx.Turn, m *ragctx.Memory, c Content, deliver bool,
	) (st Status, seq uint64, row int64, err error)
	// Turn returns a turn verbatim. Without anyUser it must belong to the user or be shared.
	Turn(ctx context.Context, ns int64, id, user string, anyUser bool) (t StoredTurn, err error)
	// PendingTurns returns the rows of the turns with pending deliveries and their origins, oldest
	// first.
	PendingTurns(ctx context.Context) (rows []int64, origins []TurnOrigin, err error)
	// PendingTurn returns a turn with pending deliveries, or false if none are pending.
	PendingTurn(ctx context.Context, row int64) (u PendingTurn, ok bool, err error)
	// MarkDelivered records the delivery of a turn to a provider.
	MarkDelivered(ctx context.Context, u PendingTurn, provider string) error
	// CountFailure counts a failed delivery.
	CountFailure(ctx context.Context, row int64) error
	// UncountFailure reverts CountFailure: the delivery did not fail.
	UncountFailure(ctx context.Context, row int64) error
	// FinishTurns removes turns whose deliveries are complete. It reports whether a redelivery of some was
	// requested since they were read; those stay pending.
	FinishTurns(ctx context.Context, turns []PendingTurn) (pending bool, err error)
}

// ProcedureWriter changes procedures.
type ProcedureWriter interface {
	// PutProcedureDraft stores the draft of a procedure and replaces the previous one. Published
	// versions stay unchanged.
	PutProcedureDraft(ctx context.Context, k ProcedureKey, b ragctx.ProcedureBody) (ragctx.Procedure, error)
	// DeleteProcedureDraft removes the draft of a procedure, and the procedure if no version was ever
	// published. A missing draft is [ragctx.ErrNotFound].
	DeleteProcedureDraft(ctx context.Context, k ProcedureKey) error
	// PublishProcedure turns the draft into an immutable version and makes it canonical.
	PublishProcedure(ctx context.Context, k ProcedureKey) (ragctx.Procedure, error)
	// UnpublishProcedure clears the canonical version: agents no longer see the procedure. Published
	// versions stay.
	UnpublishProcedure(ctx context.Context, k ProcedureKey) (ragctx.Procedure, error)
	// RollbackProcedure makes an earlier version canonical again and supersedes all later ones. The
	// draft stays.
	RollbackProcedure(ctx context.Context, k ProcedureKey, version int) (ragctx.Procedure, error)
	// StoreProcedure stores an extracted procedure, once per turn. It is a conflict if a known
	// procedure no longer exists, or a new one exists by now.
	StoreProcedure(ctx context.Context, l ExtractedProcedure) (op ragctx.ChangeOp, err error)
}

// ProcedureReader reads procedures.
type ProcedureReader interface {
	// Procedure returns a procedure with its draft and its versions.
	Procedure(ctx context.Context, k ProcedureKey) (p ragctx.Procedure, err error)
	// ProcedureVersion returns a published version of a procedure; number 0 is the canonical one.
	ProcedureVersion(ctx context.Context, k ProcedureKey, number int) (ragctx.ProcedureVersion, error)
	// ProcedureHistory returns the events of a procedure, oldest first.
	ProcedureHistory(ctx context.Context, k ProcedureKey) ([]ragctx.ProcedureChange, error)
	// ListProcedures returns procedures by name. The cost per procedure does not depend on its body's
	// length.
	ListProcedures(ctx context.Context, ns int64, f ProcedureFilter) ([]ragctx.ProcedureEntry, error)
	// LatestProcedures returns at most limit of an owner's procedures, the last created first: the draft of
	// each, otherwise the canonical or the newest version.
	LatestProcedures(ctx context.Context, ns int64, o ragctx.ProcedureOwner, limit int) ([]ragctx.NamedProcedure, error)
	// Skills returns the canonical versions of a namespace's procedures, of all users, by name and
	// without bodies. With asOf it returns the versions that were canonical then.
	Skills(ctx context.Context, ns int64, asOf time.Time) ([]PublishedTrigger, error)
	// ProceduresState changes whenever a procedure may have changed. If it is the same before and after
	// a read of procedures, the read is current.
	ProceduresState() uint64
}

// Jobs is the queue of background jobs.
type Jobs interface {
	// CreateJob stores a new job in state [JobSpooling] or [JobQueued] and sets its N and Created. A
	// used id is [ragctx.ErrConflict]. A queued job does not wait for other writes of the background.
	CreateJob(ctx context.Context, j *Job) error
	// QueueJob accepts a spooling job once all items are stored; t is their sum.
	QueueJob(ctx context.Context, n int64, t JobTotals) error
	// NextJob returns the next job of a kind to run: the job that was running when the process ended,
	// otherwise the job accepted first. It returns false if no job is waiting.
	NextJob(ctx context.Context, kind string) (Job, bool, error)
	// SaveJob stores the changes of a running job: state, progress, error, result and times. A job that
	// has ended stays unchanged.
	SaveJob(ctx context.Context, j Job) error
	// Job returns a job by id. A spooling job is not found: it is not accepted yet.
	Job(ctx context.Context, id string) (Job, error)
	// Jobs returns jobs, newest first.
	Jobs(ctx context.Context, f JobFilter) ([]Job, error)
	// CancelQueued cancels a queued job, or a job that was running when the process ended and has not
	// resumed. It returns false if the job has ended or is unknown.
	CancelQueued(ctx context.Context, id string) (bool, error)
	// RetryJob queues an ended job again with its failed and unprocessed items. A failed item is
	// skipped if a later item of the job has stored the same id. A job without anything to retry is
	// [ragctx.ErrConflict].
	RetryJob(ctx context.Context, id string) (Job, error)
	// DeleteJob deletes a job and its items.
	DeleteJob(ctx context.Context, job int64) error
}

// JobItems are the items of jobs.
type JobItems interface {
	// AddItems appends items to a job.
	AddItems(ctx context.Context, job int64, items []JobItem) error
	// SaveOutcomes stores the outcomes of items. Done and skipped items lose their body.
	SaveOutcomes(ctx context.Context, job int64, items []JobItem) error
	// JobItems returns items of a job in order, without their bodies.
	JobItems(ctx context.Context, job int64, f ItemFilter) ([]JobItem, error)
	// ItemBody returns the body of a pending item, or false if the item is no longer pending.
	ItemBody(ctx context.Context, job int64, n int) ([]byte, bool, error)
	// JobTotals sums the items of a job.
	JobTotals(ctx context.Context, job int64) (JobTotals, error)
	// DeleteItems deletes the items of a job in a state, or all items if the state is "".
	DeleteItems(ctx context.Context, job int64, state ItemState) error
	// PendingDocuments returns the documents of a namespace that a job may still write or delete; all means any
	// document.
	PendingDocuments(ctx context.Context, namespace string, keys []string) (documents map[string]bool, all bool, err error)
}

// JobUpkeep finds the jobs to count and to delete.
type JobUpkeep interface {
	// ActiveJobs returns the number of queued and running jobs.
	ActiveJobs(ctx context.Context) (queued, running int, err error)
	// ExpiredJobs returns the numbers of the jobs that ended before a time and of the spooling jobs.
	ExpiredJobs(ctx context.Context, before time.Time) (ended, spooling []int64, err error)
}

// Requests are the idempotency keys and the responses stored under them.
type Requests interface {
	// BeginRequest records a request under its key and returns its stored state, with the response if it has
	// one. A new key gets seed; an entry from before oldest counts as new. A key of another request is
	// [ErrKeyReused].
	BeginRequest(ctx context.Context, k RequestKey, hash []byte, seed string, oldest time.Time) (StoredResponse, error)
	// Response returns the stored state of a request, or false if it is unknown or from before oldest.
	Response(ctx context.Context, k RequestKey, oldest time.Time) (StoredResponse, bool, error)
	// SaveResponse stores the response to a request that [Requests.BeginRequest] recorded. It does
	// nothing if the key was recorded anew, with another seed.
	SaveResponse(ctx context.Context, k RequestKey, a StoredResponse) error
	// DropRequest deletes a request that [Requests.BeginRequest] recorded with a seed, as if it had never
	// arrived.
	DropRequest(ctx context.Context, k RequestKey, seed string) error
	// PruneResponses deletes the entries from before a time, in bounded batches: a response may be as
	// long as its resource.
	PruneResponses(ctx context.Context, before time.Time) error
}

// Keys are the API keys.
type Keys interface {
	// Keys returns all API keys, oldest first.
	Keys(ctx context.Context) ([]StoredKey, error)
	// CreateKey stores a new API key and deletes keys revoked long ago. With [MaxKeys] keys that are not
	// revoked it is [ragctx.ErrQuota].
	CreateKey(ctx context.Context, k StoredKey) error
	// RevokeKey revokes an API key permanently and returns it. An already revoked key keeps its time of
	// revocation.
	RevokeKey(ctx context.Context, id string) (StoredKey, error)
	// RecordKeyUses stores the time of the last request for each API key, by id. It skips unknown keys.
	RecordKeyUses(ctx context.Context, last map[string]time.Time) error
}

// Audit is the audit log.
type Audit interface {
	// AddAudit appends entries and drops the oldest. It keeps about keep successful and keep refused
	// entries: refused requests cost their caller nothing and must not displace the others.
	AddAudit(ctx context.Context, entries []AuditEntry, keep int) error
	// Audit returns entries of the audit log, newest first.
	Audit(ctx context.Context, f AuditFilter) ([]AuditEntry, error)
}

// Namespaces are the namespaces with their quotas.
type Namespaces interface {
	// Namespace returns the id of a namespace; with create it is created if missing. An erased
	// namespace of the same name had another id, to which nothing can be written.
	Namespace(ctx context.Context, name string, create bool) (int64, error)
	// CreateNamespace creates a namespace. An existing one is [ragctx.ErrConflict].
	CreateNamespace(ctx context.Context, name string, q Quotas) (n Namespace, err error)
	// SetQuotas changes the quotas of a namespace. Contents over the quota stay.
	SetQuotas(ctx context.Context, name string, q Quotas) (n Namespace, err error)
	// DescribeNamespace returns a namespace and its contents.
	DescribeNamespace(ctx context.Context, name string) (n Namespace, err error)
	// ListNamespaces returns namespaces and their contents, by name. The counts are kept with each
	// namespace, so reading them costs nothing more.
	ListNamespaces(ctx context.Context, f NamespaceFilter) ([]Namespace, error)
}

// SessionProviders are the providers assigned to sessions.
type SessionProviders interface {
	// AddSessionProvider assigns a provider to a session, up to limit providers. It reports whether the
	// provider is new to the session.
	AddSessionProvider(ctx context.Context, k SessionKey, name string, limit int) (added bool, err error)
	// RemoveSessionProvider removes a provider from a session and reports whether it was assigned.
	RemoveSessionProvider(ctx context.Context, k SessionKey, name string) (removed bool, err error)
	// SessionProviders returns the providers of a session in the order of their assignment.
	SessionProviders(ctx context.Context, k SessionKey) (list []SessionProvider, err error)
	// SessionKnown reports whether a session is stored, had a turn, or was ever assigned a provider.
	SessionKnown(ctx context.Context, k SessionKey) (known bool, err error)
}

// Changes is the sequence of changes that indexes follow. Changes become visible in the order of their numbers: after a
// reader has seen one, no change with a smaller number appears.
type Changes interface {
	// Catalog calls apply with every chunk of the collection, without texts and vectors, in unordered
	// batches. The last batch carries the newest change. It fails with [ragctx.ErrNotFound] for an erased namespace, so
	// that no index of it is made anew.
	Catalog(ctx context.Context, c Collection, apply func(index.Batch) error) error
	// Follow returns a bounded number of changes after a sequence number. The caller repeats it with
	// the batch's Seq until that stays the same. Vectors come from the given embedder; 0 leaves them
	// out.
	Follow(ctx context.Context, c Collection, after uint64, texts bool, embedder int64) (index.Batch, error)
	// NewestChange returns the highest sequence number ever assigned to a change.
	NewestChange(ctx context.Context) (n uint64, err error)
	// Token identifies the newest opening that changed the database.
	Token() string
	// KnowsToken reports whether a token belongs to this or an earlier opening.
	KnowsToken(token string) bool
	// Commits returns the state of a namespace as answers see it, without reading the database.
	Commits(ns int64) Commits
	// NextExpiry returns the first time after the given one at which an item of a namespace expires,
	// earlier versions included; zero if nothing expires.
	NextExpiry(ctx context.Context, ns int64, after time.Time) (time.Time, error)
}

// Embedders are the identities of embedders.
type Embedders interface {
	// Embedder returns the id of an embedder's vectors. Any difference in the identity makes another
	// id.
	Embedder(ctx context.Context, identity embed.Identity) (int64, error)
	// EmbedderIdentity returns the identity of the embedder with an id.
	EmbedderIdentity(ctx context.Context, id int64) (embed.Identity, error)
	// AnyEmbedder returns the id of an embedder with stored vectors; 0 if the database has no vectors.
	AnyEmbedder(ctx context.Context) (int64, error)
	// ChangeEmbedder switches the embedder whose vectors are searched, and records the first chunk that
	// may lack its vectors, unless an earlier one is recorded.
	ChangeEmbedder(ctx context.Context, id string, from uint64) error
}

// Vectors are the stored vectors of texts.
type Vectors interface {
	// Vectors returns the stored vectors of the keys; the map lacks the others. An empty vector means
	// that the embedder has none for the text.
	Vectors(ctx context.Context, embedder int64, keys []VectorKey) (map[VectorKey][]float32, error)
	// PutVectors stores vectors of texts; an empty vector means that the embedder has none for a text.
	// With announce it appends changes for the indexes and returns the newest change of each
	// collection.
	PutVectors(
		ctx context.Context, embedder int64, texts []Unembedded, vectors [][]float32, announce bool,
	) (map[Collection]uint64, error)
	// Unembedded checks up to limit chunks after the given one. It returns those without a vector of
	// the embedder, and the last chunk checked, which is after itself at the end. It leaves out chunks
	// whose [VectorKey] is not the one of their [EmbedText]: their vectors would not be found.
	Unembedded(ctx context.Context, embedder int64, after uint64, limit int) ([]Unembedded, uint64, error)
	// LastChunk returns the id of the newest chunk, 0 if none exists.
	LastChunk(ctx context.Context) (uint64, error)
	// CountChunks counts all chunks, which takes long in a large database.
	CountChunks(ctx context.Context) (int, error)
	// AnnounceVectors makes the indexes load the vectors of the items of up to limit chunks after the
	// given one. It returns the change that each index must reach, and the last of these chunks; after
	// if there are none.
	AnnounceVectors(ctx context.Context, after uint64, limit int) (map[Collection]uint64, uint64, error)
	// MarkEmbedded records that all chunks up to last have the embedder's vectors. It does nothing if
	// another embedder is searched by now: the missing vectors are then the other one's.
	MarkEmbedded(ctx context.Context, embedder int64, last uint64) error
	// DeleteOldVectors deletes up to limit vectors of all embedders except one, and reports whether more
	// may exist.
	DeleteOldVectors(ctx context.Context, keep int64, limit int) (bool, error)
}

// Settings are the settings of the data directory.
type Settings interface {
	// Setting returns a setting of the data directory; "" if it is unset.
	Setting(ctx context.Context, key string) (string, error)
	// SetSetting changes a setting of the data directory; "" unsets it.
	SetSetting(ctx context.Context, key, value string) error
}

// Erasures hides what a caller erases. Queries no longer find it on return.
type Erasures interface {
	// EraseDocument removes every version of a document, for queries as of any time. Erasing a missing
	// document is no error.
	EraseDocument(ctx context.Context, ns int64, id string, when ...Condition) (Erased, error)
	// EraseMemory removes every version of a memory and the turn it was made from. Without anyUser the
	// memory must belong to the user or be shared, as in [Memories.DeleteMemory].
	EraseMemory(ctx context.Context, ns int64, id, user string, anyUser bool, when ...Condition) (Erased, error)
	// EraseSession removes the turns and memories of a session and its stored messages: of one user (""
	// means shared), or with anyUser of all users. The condition applies
	// to that user's stored session. A memory written in several sessions loses only the versions of
	// this one. If its current version goes, the memory is gone, but queries as of earlier times find
	// the versions of other sessions.
	EraseSession(ctx context.Context, ns int64, id, user string, anyUser bool, when session.Condition) (Erased, error)
	// EraseUser removes everything that belongs to a user in a namespace. If an id belonged to several
	// users in turn, only the user's versions go.
	EraseUser(ctx context.Context, ns int64, user string) (Erased, error)
	// EraseProcedure removes a procedure permanently: its draft, every version and its history. Erasing
	// a missing procedure is no error.
	EraseProcedure(ctx context.Context, k ProcedureKey) (Erased, error)
	// EraseNamespace removes a namespace and everything in it permanently. It is hidden at once: later
	// writes under its name create a new namespace, writes with the old id fail. Around calls note,
	// which hides the namespace, at most once, and keeps others from writing stale data under the name.
	EraseNamespace(ctx context.Context, name string, around func(note func() error) error) (Erased, error)
}

// SecureErasures completes erasures: afterwards no file holds an erased byte.
type SecureErasures interface {
	// PendingErasures returns the incomplete erasures, oldest first.
	PendingErasures(ctx context.Context) ([]PendingErasure, error)
	// Erasing reports whether a recorded erasure has not hidden its items yet. PendingErasures returns it
	// as soon as it has.
	Erasing() bool
	// SecureErase completes erasures: afterwards no file of the database holds an erased byte, neither in
	// rows nor in unused space nor in a log. Done are the erasures of PendingErasures that the indexes
	// have followed and compacted. Others are not completed: they may have hidden items since, whose
	// rows still exist.
	SecureErase(ctx context.Context, done []int64) error
	// AwaitCollection waits until the store has once removed hidden items in the background and completed
	// the erasures that an earlier process left unfinished.
	AwaitCollection(ctx context.Context) error
}

// Shared is implemented by a store that several processes use at a time. One of them leads: it alone makes
// changes that answers depend on. The others follow it.
type Shared interface {
	// Leads reports whether this process leads.
	Leads() bool
	// Alone reports whether no other process can lead at the moment.
	Alone() bool
	// Lead makes this process the leader unless another one is.
	Lead(ctx context.Context) (bool, error)
	// Watch calls changed after each commit of another process. Its argument is the namespace with other answers,
	// 0 for all, or [OnlyKeys]. The first call has 0. Commits that concern no other process are left out. It returns when the
	// connection is lost.
	Watch(ctx context.Context, changed func(ns int64)) error
	// Refresh empties the caches of a namespace, or of all with 0.
	Refresh(ns int64)
	// Newest returns the newest change of a collection.
	Newest(ctx context.Context, c Collection) (uint64, error)
	// ErasedNamespaces returns the ids of the namespaces that were ever erased.
	ErasedNamespaces(ctx context.Context) ([]int64, error)
	// Announce stores the address of the leader, and Leader returns it.
	Announce(ctx context.Context, l Leader) error
	Leader(ctx context.Context) (Leader, error)
}

// OnlyKeys stands for a namespace in writes of API keys. No answer depends on them, but every process holds the keys.
const OnlyKeys = -2

// Leader is where the leader of a shared store serves HTTP.
type Leader struct {
	// URL is "" if it does not serve. Host is the name of its machine.
	URL  string `json:"url"`
	Host string `json:"host"`
	// Token is accepted like an admin's API key.
	Token string `json:"token"`
	// Certificate is the SHA-256, in hex, of the server's certificate; "" without TLS.
	Certificate string `json:"certificate,omitempty"`
}

// Space reserves disk space, so that deletes succeed on a full disk. A store without files does nothing.
type Space interface {
	// BeginFreeing prevents the allocation of the reserve until end is called, for operations that free
	// space outside the database. Calls may be nested.
	BeginFreeing() (end func())
	// ReleaseReserve releases the reserve for an operation that meets a full disk outside the database. From
	// then on only writes that free space are allowed.
	ReleaseReserve()
}

// Health reports the state of the database.
type Health interface {
	// Failures returns the failures that need an operator, such as a stopped writer or a damaged
	// database.
	Failures() (out []*ragctx.RepairError)
	// Ready fails while the store cannot read or write.
	Ready(ctx context.Context) error
	// Verify reads the whole database and reports faults. It runs concurrently with other work and
	// changes nothing. It fails only if ctx ends or the store closes: unreadable data is a finding.
	Verify(ctx context.Context, o VerifyOptions) (VerifyReport, error)
	// Close finishes the accepted writes and closes the database. Later calls fail with
	// [ragctx.ErrClosed]. It may be called more than once.
	Close() error
}

// Snapshots copies the database.
type Snapshots interface {
	// WriteSnapshot writes one consistent state of the database to w, in the frame of [FrameSnapshot]. The
	// store may hold back other work until it is done, so w must not be slow.
	WriteSnapshot(ctx context.Context, w io.Writer, o SnapshotOptions) (info SnapshotInfo, err error)
}

// Ledger is the durable [ledger.Log] of a database: appended messages survive kill -9 and power loss once
// Append returns. Concurrent appends share a commit.
type Ledger interface {
	ledger.Log
	ledger.Importer
	Clusters

	// Counts returns the counters.
	Counts() LedgerCounts
	// Close ends all subscriptions; later operations fail. It may be called more than once.
	Close() error
}

// Clusters are the ledgers of namespaces.
type Clusters interface {
	// ClustersOf returns the clusters of a namespace that have a message, at most 100, or
	// [ragctx.ErrNotFound]. Imports can copy a message into several clusters; the first cluster to have
	// it comes first.
	ClustersOf(ctx context.Context, namespace, id string) (names []string, err error)
	// Clusters returns clusters of a namespace by name, after a name.
	Clusters(ctx context.Context, namespace, after string, limit int) ([]ClusterInfo, error)
	// Cluster returns a cluster, or [ragctx.ErrNotFound].
	Cluster(ctx context.Context, namespace, name string) (ClusterInfo, error)
	// Erase removes a cluster permanently; see [Erasures].
	Erase(ctx context.Context, ns int64, cluster string) (Erased, error)
}

// Sessions is the durable [session.Storage] of a database: completed writes survive kill -9 and power
// loss.
type Sessions interface {
	session.Storage

	// List returns sessions of a namespace, newest first by creation, and the cursor of the next page, 0
	// at the end. A change does not move a session in the list.
	List(ctx context.Context, namespace string, f SessionFilter) (list []ListedSession, next int64, err error)
}

// Parts are the stores of conversations and of the ledger in the same database.
type Parts interface {
	// Ledger returns the store's log of messages. Call it once: subscribers of one log do not see the
	// appends of another. Without a clock in the options it uses the store's. The caller closes it
	// before the store.
	Ledger(o ledger.Options) Ledger
	// Sessions returns the store's sessions. Without a clock in the options it uses the store's.
	Sessions(o session.Options) Sessions
	// Notes returns the stored observations.
	Notes() stage.Notes
}
