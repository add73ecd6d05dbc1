package store

// Erased counts what an erasure removed.
type Erased struct {
	Documents int `json:"documents" doc:"that had at least one version"`
	Memories  int `json:"memories" doc:"that had at least one version"`
	Versions  int `json:"versions" doc:"of documents and memories, also ended ones"`
	Turns     int `json:"turns"`
	// Procedures counts versions and drafts.
	Procedures int `json:"procedures" doc:"versions and drafts of procedures"`
	Messages   int `json:"messages" doc:"of ledgers"`
	Sessions   int `json:"sessions" doc:"stored conversations, with the forks of them"`
	// Pending is the erasure that [SecureErasures.SecureErase] completes; 0 if none was recorded.
	Pending int64 `json:"-"`
}

// PendingErasure is an incomplete erasure: queries no longer find the erased items, but files may still
// hold their bytes.
type PendingErasure struct {
	ID int64
	// UpTo maps each index that held erased items to the change it must reach to drop them.
	UpTo map[Collection]uint64
	// Removed are the collections of erased namespaces, whose index files are removed.
	Removed []Collection
}
