package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// AddItems implements [store.JobItems].
func (s *Store) AddItems(ctx context.Context, job int64, items []store.JobItem) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		ins, err := tx.PrepareContext(ctx, `INSERT INTO job_items (job, n, key, op, state, status, field, error, bytes, chunks, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer ins.Close()
		for _, i := range items {
			if _, err := ins.ExecContext(ctx, job, i.N, i.Key, i.Op, i.State, i.Status, i.Field, i.Error, i.Bytes,
				i.Chunks, i.Body); err != nil {
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

// SaveOutcomes implements [store.JobItems].
func (s *Store) SaveOutcomes(ctx context.Context, job int64, items []store.JobItem) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
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

// itemsQuery returns the SQL of a list and its arguments.
func itemsQuery(f store.ItemFilter, job int64) (string, []any) {
	c := conditions{sql: `job = ? AND n > ?`, args: []any{job, f.After}}
	if f.State != "" {
		c.and(`state = ?`, f.State)
	}
	return `SELECT n, key, op, state, status, field, error, bytes, chunks FROM job_items
		WHERE ` + c.sql + ` ORDER BY n LIMIT ?`, append(c.args, f.Limit)
}

// JobItems implements [store.JobItems].
func (s *Store) JobItems(ctx context.Context, job int64, f store.ItemFilter) ([]store.JobItem, error) {
	items := []store.JobItem{}
	err := s.view(ctx, func(tx *Tx) error {
		query, args := itemsQuery(f, job)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var i store.JobItem
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

// ItemBody implements [store.JobItems].
func (s *Store) ItemBody(ctx context.Context, job int64, n int) ([]byte, bool, error) {
	var body []byte
	err := s.view(ctx, func(tx *Tx) error {
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

// JobTotals implements [store.JobItems].
func (s *Store) JobTotals(ctx context.Context, job int64) (store.JobTotals, error) {
	var t store.JobTotals
	err := s.view(ctx, func(tx *Tx) (err error) {
		t, err = sumItems(ctx, tx, job)
		return err
	})
	if err != nil {
		return t, fmt.Errorf("count items of job: %w", err)
	}
	return t, nil
}

func sumItems(ctx context.Context, tx *Tx, job int64) (store.JobTotals, error) {
	var t store.JobTotals
	const query = `SELECT state, status, count(*), sum(bytes), sum(chunks) FROM job_items WHERE job = ? GROUP BY state, status`
	rows, err := tx.QueryContext(ctx, query, job) //nolint:sqlclosecheck // Scan closes it
	if err != nil {
		return t, err
	}
	err = Scan(rows, func() error {
		var state store.ItemState
		var status store.Status
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

// RetryJob implements [store.Jobs].
func (s *Store) RetryJob(ctx context.Context, id string) (store.Job, error) {
	var j store.Job
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) (err error) {
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
		if t.Pending == 0 && (j.Kind == store.JobDocuments || j.State == store.JobDone) {
			return fmt.Errorf("job %q: %w: it has nothing to retry", ragctx.Clip(id), ragctx.ErrConflict)
		}
		j, err = s.requeue(ctx, tx, j, t)
		return err
	})
	if err != nil {
		return store.Job{}, failed("retry job", err)
	}
	return j, nil
}

// skipSuperseded reads the done items once, for any number of failed items.
const skipSuperseded = `UPDATE job_items SET state = 'skipped', body = NULL, error = 'a later item of the job has the same id'
	FROM (SELECT key, max(n) AS n FROM job_items WHERE job = ?1 AND state = 'done' GROUP BY key) AS last
	WHERE job_items.job = ?1 AND job_items.state = 'failed' AND job_items.body IS NOT NULL
		AND last.key = job_items.key AND last.n > job_items.n`

func reopenItems(ctx context.Context, tx *Tx, j store.Job) error {
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

func (s *Store) requeue(ctx context.Context, tx *Tx, j store.Job, t store.JobTotals) (store.Job, error) {
	place, err := nextPlace(ctx, tx)
	if err != nil {
		return j, err
	}
	if j.Kind == store.JobDocuments {
		j.Items, j.Counts, j.Chunks = t.Items, t.Counts, t.Chunks
		j.Bytes, j.TotalBytes, j.Written = t.Bytes, t.TotalBytes, t.Written
	}
	counts, err := encode(j.Counts, "{}")
	if err != nil {
		return j, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE jobs
		SET state = ?, place = ?, counts = ?, chunks = ?, bytes = ?, written = ?, error = '', stage = '',
		started = NULL, heartbeat = NULL, finished = NULL WHERE n = ?`, store.JobQueued, place, counts, j.Chunks, j.Bytes, j.Written, j.N)
	if err != nil {
		return j, err
	}
	return scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs WHERE n = ?`, j.N))
}
