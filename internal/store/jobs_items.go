package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
)

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

// Deleted is the status of an item whose document was deleted.
const Deleted Status = "deleted"

// JobItem is one unit of work of a job.
type JobItem struct {
	// N counts from 1: the line or part of the request, or the order of reports.
	N      int       `json:"n" doc:"the line or part of the request, from 1"`
	Key    string    `json:"key" doc:"the id of the document, or the path of a file; empty once the document was erased"`
	Op     string    `json:"op" enum:"put,delete"`
	State  ItemState `json:"state" enum:"pending,done,failed,skipped"`
	Status Status    `json:"status,omitempty" enum:"created,replaced,unchanged,deleted" doc:"what became of an item that is done"`
	Field  string    `json:"field,omitempty" doc:"the field that the error is about"`
	Error  string    `json:"error,omitempty" doc:"why it failed or was skipped"`
	Bytes  int64     `json:"bytes" doc:"of the text"`
	Chunks int       `json:"chunks,omitempty"`
	// Body is the work to do, in the format of the job's kind; lists leave it out.
	Body []byte `json:"-"`
}

// AddItems appends items to a job.
func (s *Store) AddItems(ctx context.Context, job int64, items []JobItem) error {
	err := s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
		ins, err := tx.PrepareContext(ctx, `INSERT INTO job_items (job, n, key, op, state, status, field, error, bytes, chunks, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer ins.Close()
		for _, i := range items {
			if _, err := ins.ExecContext(ctx, job, i.N, i.Key, i.Op, i.State, i.Status, i.Field, i.Error, i.Bytes, i.Chunks, i.Body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failed("add items to job", err)
	}
	return nil
}

// SaveOutcomes stores the outcomes of items. Done and skipped items lose their body.
func (s *Store) SaveOutcomes(ctx context.Context, job int64, items []JobItem) error {
	err := s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
		up, err := tx.PrepareContext(ctx, `UPDATE job_items SET state = ?1, status = ?2, field = ?3, error = ?4, chunks = ?5,
			body = CASE WHEN ?1 = 'failed' THEN body END WHERE job = ?6 AND n = ?7 AND state = 'pending'`)
		if err != nil {
			return err
		}
		defer up.Close()
		for _, i := range items {
			if _, err := up.ExecContext(ctx, i.State, i.Status, i.Field, i.Error, i.Chunks, job, i.N); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failed("settle items of job", err)
	}
	return nil
}

// ItemFilter selects items of a job.
type ItemFilter struct {
	After int // items with a greater N
	Limit int
	State ItemState // "" is any
}

// itemsQuery returns the SQL of a list and its arguments.
func itemsQuery(f ItemFilter, job int64) (string, []any) {
	c := conditions{sql: `job = ? AND n > ?`, args: []any{job, f.After}}
	if f.State != "" {
		c.and(`state = ?`, f.State)
	}
	return `SELECT n, key, op, state, status, field, error, bytes, chunks FROM job_items
		WHERE ` + c.sql + ` ORDER BY n LIMIT ?`, append(c.args, f.Limit)
}

// JobItems returns items of a job in order, without their bodies.
func (s *Store) JobItems(ctx context.Context, job int64, f ItemFilter) ([]JobItem, error) {
	items := []JobItem{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		query, args := itemsQuery(f, job)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var i JobItem
			err := rows.Scan(&i.N, &i.Key, &i.Op, &i.State, &i.Status, &i.Field, &i.Error, &i.Bytes, &i.Chunks)
			items = append(items, i)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list items of job: %w", err)
	}
	return items, nil
}

// ItemBody returns the body of a pending item, or false if the item is no longer pending.
func (s *Store) ItemBody(ctx context.Context, job int64, n int) ([]byte, bool, error) {
	var body []byte
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT body FROM job_items WHERE job = ? AND n = ? AND state = 'pending'`, job, n).Scan(&body)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read item of job: %w", err)
	}
	return body, true, nil
}

// JobTotals is the sum of a job's items.
type JobTotals struct {
	Items, Pending    int
	Counts            JobCounts
	Chunks            int
	Bytes, TotalBytes int64
	Written           int64
}

// JobTotals sums the items of a job.
func (s *Store) JobTotals(ctx context.Context, job int64) (JobTotals, error) {
	var t JobTotals
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		t, err = sumItems(ctx, tx, job)
		return err
	})
	if err != nil {
		return t, fmt.Errorf("count items of job: %w", err)
	}
	return t, nil
}

func sumItems(ctx context.Context, tx *sql.Tx, job int64) (JobTotals, error) {
	var t JobTotals
	const query = `SELECT state, status, count(*), sum(bytes), sum(chunks) FROM job_items WHERE job = ? GROUP BY state, status`
	rows, err := tx.QueryContext(ctx, query, job) //nolint:sqlclosecheck // scan closes it
	if err != nil {
		return t, err
	}
	err = scan(rows, func() error {
		var state ItemState
		var status Status
		var n, chunks int
		var bytes int64
		if err := rows.Scan(&state, &status, &n, &bytes, &chunks); err != nil {
			return err
		}
		t.AddMany(state, status, n, bytes, chunks)
		return nil
	})
	return t, err
}

// Add counts an item.
func (t *JobTotals) Add(i JobItem) { t.AddMany(i.State, i.Status, 1, i.Bytes, i.Chunks) }

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

// RetryJob queues an ended job again with its failed and unprocessed items. A failed item is
// skipped if a later item of the job has stored the same id. A job without anything to retry is
// [ragctx.ErrConflict].
func (s *Store) RetryJob(ctx context.Context, id string) (Job, error) {
	var j Job
	err := s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) (err error) {
		j, err = scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs WHERE id = ? AND state <> 'spooling'`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("job %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if !j.State.Ended() {
			return fmt.Errorf("job %q: %w: it is %s; wait until it ends, or cancel it", ragctx.Clip(id), ragctx.ErrConflict, j.State)
		}
		if err := reopenItems(ctx, tx, j); err != nil {
			return err
		}
		t, err := sumItems(ctx, tx, j.N)
		if err != nil {
			return err
		}
		if t.Pending == 0 && (j.Kind == JobDocuments || j.State == JobDone) {
			return fmt.Errorf("job %q: %w: it has nothing to retry", ragctx.Clip(id), ragctx.ErrConflict)
		}
		j, err = s.requeue(ctx, tx, j, t)
		return err
	})
	if err != nil {
		return Job{}, failed("retry job", err)
	}
	return j, nil
}

// skipSuperseded reads the done items once, for any number of failed items.
const skipSuperseded = `UPDATE job_items SET state = 'skipped', body = NULL, error = 'a later item of the job has the same id'
	FROM (SELECT key, max(n) AS n FROM job_items WHERE job = ?1 AND state = 'done' GROUP BY key) AS last
	WHERE job_items.job = ?1 AND job_items.state = 'failed' AND job_items.body IS NOT NULL
		AND last.key = job_items.key AND last.n > job_items.n`

func reopenItems(ctx context.Context, tx *sql.Tx, j Job) error {
	var some bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM job_items WHERE job = ? AND state = 'failed'
		AND body IS NOT NULL)`, j.N).Scan(&some)
	if err != nil || !some {
		return err
	}
	if _, err := tx.ExecContext(ctx, skipSuperseded, j.N); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE job_items SET state = 'pending', error = '', field = ''
		WHERE job = ? AND state = 'failed' AND body IS NOT NULL`, j.N)
	return err
}

func (s *Store) requeue(ctx context.Context, tx *sql.Tx, j Job, t JobTotals) (Job, error) {
	place, err := nextPlace(ctx, tx)
	if err != nil {
		return j, err
	}
	if j.Kind == JobDocuments {
		j.Items, j.Counts, j.Chunks = t.Items, t.Counts, t.Chunks
		j.Bytes, j.TotalBytes, j.Written = t.Bytes, t.TotalBytes, t.Written
	}
	counts, err := encode(j.Counts, "{}")
	if err != nil {
		return j, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE jobs SET state = ?, place = ?, counts = ?, chunks = ?, bytes = ?, written = ?, error = '', stage = '',
		started = NULL, heartbeat = NULL, finished = NULL WHERE n = ?`, JobQueued, place, counts, j.Chunks, j.Bytes, j.Written, j.N)
	if err != nil {
		return j, err
	}
	return scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs WHERE n = ?`, j.N))
}
