package store

import "time"

// Document is a stored version of a document, without its text.
type Document struct {
	ID       string         `json:"id"`
	Version  int            `json:"version"`
	Title    string         `json:"title"`
	Source   string         `json:"source"`
	MIME     string         `json:"mime"`
	Root     string         `json:"root,omitempty"`
	Stat     string         `json:"stat,omitempty"` // see [Documents.RecordFiles]
	Bytes    int            `json:"bytes"`
	Chunks   int            `json:"chunks"`
	Abstract string         `json:"abstract,omitempty"`
	Tags     []string       `json:"tags"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Occurred time.Time      `json:"occurred,omitzero"`
	Recorded time.Time      `json:"recorded"`
}

// Revision returns the revision of this version; see [Revision].
func (d Document) Revision() string { return Revision(d.Version, d.Recorded) }

// Put is the result of storing a document.
type Put struct {
	Status  Status `json:"status"`
	Version int    `json:"version"`
	Chunks  int    `json:"chunks"`
	// Revision identifies the version that is current afterwards; see [Revision].
	Revision string `json:"-"`
	// Seq is the change that indexes must reach.
	Seq uint64 `json:"-"`
}

// ListOptions selects documents.
type ListOptions struct {
	After  string // ids after this one
	Limit  int
	Prefix string // of the id
	Root   string
}

// FileState is the state of a document's file when it was read.
type FileState struct {
	ID   string // of the document
	Root string // of the document
	// Version is the version made from the file. If another one is current, the file may have
	// changed since, and the state is ignored.
	Version int
	// Stat identifies the contents of the file and the way it was read; "" clears it.
	Stat string
}

// DefaultKeepVersions is the default number of stored versions of a document.
const DefaultKeepVersions = 10
