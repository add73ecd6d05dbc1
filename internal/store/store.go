// Package store defines what a database stores for the engine: the types of its rows and filters, and
// small contracts per domain. Packages sqlite and postgres implement them with the statements of sqlstore.
//
// All contracts have these rules:
//   - A write that has returned without error survives kill -9 and power loss. A failed
//     write has stored nothing. If its context ended, the write may still have been stored.
//   - Each read sees one consistent state. Methods may be called at the same time.
//   - Indexes are caches that follow the database through its sequence of changes (see [Changes]). A write of
//     items returns the change that they must reach, mostly called seq.
//   - The number ns is the id of a namespace, from [Namespaces]. A write under the id of an erased namespace is
//     [ragctx.ErrConflict].
//   - Where a method takes a user, "" is the user of shared data, and anyUser ignores the user.
//   - What does not exist, or belongs to another user, is [ragctx.ErrNotFound]. A condition that does not hold
//     is [ragctx.ErrPrecondition], a write over a quota [ragctx.ErrQuota].
//   - Ids, keys and names are compared and ordered by their bytes.
//   - Times of items are exact to the microsecond.
//   - One process at a time writes, see [Shared]. What [Changes.Commits] returns is counted in that process.
package store
