package store

import "time"

// Quotas limit the current contents of a namespace; 0 is no limit. Replaced and deleted versions
// kept for queries as of earlier times do not count.
type Quotas struct {
	Documents int `json:"documents" required:"false" minimum:"0" doc:"how many documents it may hold; 0 is no limit"`
	// Memories includes the episodes of turns.
	Memories int `json:"memories" required:"false" minimum:"0"`
	// TextBytes limits the text of documents and memories together.
	TextBytes int64 `json:"text_bytes" required:"false" minimum:"0"`
}

// Namespace describes a namespace and its current contents.
type Namespace struct {
	Name      string    `json:"name"`
	Created   time.Time `json:"created_at"`
	Documents int       `json:"documents" doc:"that it holds now"`
	Memories  int       `json:"memories" doc:"that it holds now, episodes of turns included"`
	TextBytes int64     `json:"text_bytes" doc:"of the text of those documents and memories"`
	Quotas    Quotas    `json:"quotas"`
}

// NamespaceFilter selects namespaces.
type NamespaceFilter struct {
	After string   // names after this one
	Limit int      // negative is all
	Among []string // empty is all
}
