package store

import (
	"encoding/json"
	"time"
)

// JobState is the state of a job.
type JobState string

// The states of a job. A spooling job is not accepted yet; if it never is, it leaves no trace.
const (
	JobSpooling  JobState = "spooling"
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// JobDocuments is the kind of job whose items are documents, each with its own work. Other kinds
// keep items for reports only.
const JobDocuments = "documents"

// Ended reports whether the state is final unless the job is retried.
func (s JobState) Ended() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// JobCounts counts the items of a job by outcome.
type JobCounts struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"`
	Deleted   int `json:"deleted"`
	Failed    int `json:"failed" doc:"could not be done; the job's items say why"`
	Skipped   int `json:"skipped" doc:"left out; the job's items say why"`
}

// Sum returns the number of finished items.
func (c JobCounts) Sum() int {
	return c.Created + c.Replaced + c.Unchanged + c.Deleted + c.Failed + c.Skipped
}

// Plus returns the sum of c and d.
func (c JobCounts) Plus(d JobCounts) JobCounts {
	return JobCounts{
		Created: c.Created + d.Created, Replaced: c.Replaced + d.Replaced, Unchanged: c.Unchanged + d.Unchanged,
		Deleted: c.Deleted + d.Deleted, Failed: c.Failed + d.Failed, Skipped: c.Skipped + d.Skipped,
	}
}

// Job is work that outlives its request.
type Job struct {
	// N orders jobs by creation and identifies the job inside the store.
	N  int64  `json:"-"`
	ID string `json:"id"`
	// Kind is documents (a bulk request), folder (an ingest on the server's machine) or other long work.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace" doc:"empty if the work is not about one namespace"`
	// State is done also if single items failed, and failed if the job could not go on.
	State JobState `json:"state" enum:"spooling,queued,running,done,failed,cancelled"`
	Stage string   `json:"stage,omitempty" doc:"current stage of a running job"`
	// Items is the number of items; 0 while unknown.
	Items  int       `json:"items" doc:"how many there are; 0 while it is unknown"`
	Counts JobCounts `json:"counts"`
	Chunks int       `json:"chunks" doc:"of the documents that were written"`
	// Bytes and TotalBytes count the texts of the finished items and of all items; TotalBytes is 0
	// while unknown.
	Bytes      int64 `json:"bytes" doc:"of the texts that are dealt with"`
	TotalBytes int64 `json:"total_bytes" doc:"of all texts; 0 while it is unknown"`
	Written    int64 `json:"written_bytes" doc:"of the texts that were created or replaced"`
	// Error is the reason why the job ended early. Errors of items are stored with the items.
	Error     string          `json:"error,omitempty" doc:"error that ended the job early; errors of single items are with the items"`
	Request   json.RawMessage `json:"-"`
	Result    json.RawMessage `json:"result,omitempty" doc:"result of the work besides the counts; only some kinds of job have one"`
	Created   time.Time       `json:"created_at"`
	Started   time.Time       `json:"started,omitzero"`
	Heartbeat time.Time       `json:"heartbeat,omitzero" doc:"when a running job last gave a sign of life"`
	Finished  time.Time       `json:"finished,omitzero"`
}

// JobFilter selects jobs.
type JobFilter struct {
	Before    int64 // jobs with a smaller N; 0 starts with the newest
	Limit     int
	State     JobState // "" is any
	Kind      string   // "" is any
	Namespace string   // "" is any
	Among     []string // namespaces; empty is all, and jobs without one
	Named     bool     // leave out jobs without a namespace
}

// ItemState is the state of a job item.
type ItemState string

// The states of an item.
const (
	ItemPending ItemState = "pending"
	ItemDone    ItemState = "done"
	ItemFailed  ItemState = "failed"
	ItemSkipped ItemState = "skipped"
)

// The operations of an item.
const (
	OpPut    = "put"
	OpDelete = "delete"
)

// JobItem is one unit of work of a job.
type JobItem struct {
	// N counts from 1: the line or part of the request, or the order of reports.
	N      int       `json:"n" doc:"the line or part of the request, from 1"`
	Key    string    `json:"key" doc:"the id of the document, or the path of a file; empty once the document was erased"`
	Op     string    `json:"op" enum:"put,delete"`
	State  ItemState `json:"state" enum:"pending,done,failed,skipped"`
	Status Status    `json:"status,omitempty" enum:"created,replaced,unchanged,deleted" doc:"outcome of a finished item"`
	Field  string    `json:"field,omitempty" doc:"the field that the error is about"`
	Error  string    `json:"error,omitempty" doc:"why it failed or was skipped"`
	Bytes  int64     `json:"bytes" doc:"of the text"`
	Chunks int       `json:"chunks,omitempty"`
	// Body is the work to do, in the format of the job's kind; lists leave it out.
	Body []byte `json:"-"`
}

// ItemFilter selects items of a job.
type ItemFilter struct {
	After int // items with a greater N
	Limit int
	State ItemState // "" is any
}

// JobTotals is the sum of a job's items.
type JobTotals struct {
	Items, Pending    int
	Counts            JobCounts
	Chunks            int
	Bytes, TotalBytes int64
	Written           int64
}

// Add counts an item.
func (t *JobTotals) Add(i JobItem) { t.AddMany(i.State, i.Status, 1, i.Bytes, i.Chunks) }

// AddMany counts n items of a state and status, with their bytes and chunks together.
func (t *JobTotals) AddMany(state ItemState, status Status, n int, bytes int64, chunks int) {
	t.Items, t.TotalBytes = t.Items+n, t.TotalBytes+bytes
	if state == ItemPending {
		t.Pending += n
		return
	}
	t.Bytes += bytes
	if state == ItemDone && (status == Created || status == Replaced) {
		t.Chunks += chunks
		t.Written += bytes
	}
	t.Counts.Add(state, status, n)
}

// Add counts n items of a state and status, except pending ones.
func (c *JobCounts) Add(state ItemState, status Status, n int) {
	switch state {
	case ItemFailed:
		c.Failed += n
	case ItemSkipped:
		c.Skipped += n
	case ItemPending:
	case ItemDone:
		switch status {
		case Created:
			c.Created += n
		case Replaced:
			c.Replaced += n
		case Unchanged:
			c.Unchanged += n
		case Deleted:
			c.Deleted += n
		case InQuarantine: // for memories only
		}
	}
}
