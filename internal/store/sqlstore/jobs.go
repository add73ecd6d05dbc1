package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

const jobColumns = `n, id, kind, namespace, state, stage, items, counts, chunks, bytes, total_bytes, written, error,
	request, result, created, started, heartbeat, finished`

func scanJob(row interface{ Scan(...any) error }) (store.Job, error) {
	var j store.Job
	var counts, request, result string
	var created, started, heartbeat, finished sql.NullInt64
	err := row.Scan(&j.N, &j.ID, &j.Kind, &j.Namespace, &j.State, &j.Stage, &j.Items, &counts, &j.Chunks, &j.Bytes,
		&j.TotalBytes, &j.Written, &j.Error, &request, &result, &created, &started, &heartbeat, &finished)
	j.Counts = decode[store.JobCounts](counts)
	j.Request, j.Result = json.RawMessage(request), json.RawMessage(result)
	j.Created, j.Started, j.Heartbeat, j.Finished = moment(created), moment(started), moment(heartbeat), moment(finished)
	return j, err
}

// CreateJob implements [store.Jobs].
func (s *Store) CreateJob(ctx context.Context, j *store.Job) error {
	p := Low
	if j.State == store.JobQueued {
		p = High
	}
	err := s.write.doIn(ctx, NoNamespaces, p, func(ctx context.Context, tx *Tx) error {
		now := s.now().UTC().Truncate(time.Microsecond)
		var place any
		if j.State == store.JobQueued {
			n, err := nextPlace(ctx, tx)
			if err != nil {
				return err
			}
			place = n
		}
		err := tx.QueryRowContext(ctx, `INSERT INTO jobs (id, kind, namespace, state, place, request, created)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING n`,
			j.ID, j.Kind, j.Namespace, j.State, place, string(j.Request), now.UnixMicro()).Scan(&j.N)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("job %q: %w: the id is taken", ragctx.Clip(j.ID), ragctx.ErrConflict)
		}
		j.Created = now
		return err
	})
	if err != nil {
		return failed("create job", err)
	}
	return nil
}

// lastPlace reads active jobs only: ended jobs are many and need no place.
const lastPlace = `SELECT coalesce(max(place), 0) FROM jobs WHERE state IN ('queued', 'running')`

func nextPlace(ctx context.Context, tx *Tx) (place int64, err error) {
	err = tx.QueryRowContext(ctx, lastPlace).Scan(&place)
	return place + 1, err
}

// QueueJob implements [store.Jobs].
func (s *Store) QueueJob(ctx context.Context, n int64, t store.JobTotals) error {
	counts, err := encode(t.Counts, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		place, err := nextPlace(ctx, tx)
		if err != nil {
			return err
		}
		return expectOne(tx.ExecContext(ctx, `UPDATE jobs SET state = ?, place = ?, items = ?, counts = ?, chunks = ?, bytes = ?,
			total_bytes = ?, written = ? WHERE n = ? AND state = ?`,
			store.JobQueued, place, t.Items, counts, t.Chunks, t.Bytes, t.TotalBytes, t.Written, n, store.JobSpooling))
	})
	if err != nil {
		return failed("queue job", err)
	}
	return nil
}

// expectOne returns an error if a write did not affect a row.
func expectOne(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("%w: the job was changed concurrently; read it again", ragctx.ErrConflict))
	}
	return nil
}

// NextJob implements [store.Jobs].
func (s *Store) NextJob(ctx context.Context, kind string) (store.Job, bool, error) {
	var j store.Job
	err := s.view(ctx, func(tx *Tx) (err error) {
		j, err = scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs
			WHERE kind = ? AND state IN ('queued', 'running') ORDER BY state DESC, place LIMIT 1`, kind))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return j, false, nil
	}
	if err != nil {
		return j, false, fmt.Errorf("find job: %w", err)
	}
	return j, true, nil
}

// SaveJob implements [store.Jobs].
func (s *Store) SaveJob(ctx context.Context, j store.Job) error {
	counts, err := encode(j.Counts, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		return expectOne(tx.ExecContext(ctx, `UPDATE jobs SET state = ?, stage = ?, items = ?, counts = ?, chunks = ?, bytes = ?,
			total_bytes = ?, written = ?, error = ?, result = ?, started = ?, heartbeat = ?, finished = ?
			WHERE n = ? AND state IN ('queued', 'running')`,
			j.State, j.Stage, j.Items, counts, j.Chunks, j.Bytes, j.TotalBytes, j.Written, j.Error, string(j.Result),
			micros(j.Started), micros(j.Heartbeat), micros(j.Finished), j.N))
	})
	if err != nil {
		return failed("save job", err)
	}
	return nil
}

// activeJobs counts jobs that have not ended, through their index.
const activeJobs = `SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'running')
	FROM jobs INDEXED BY jobs_active WHERE state IN ('queued', 'running')`

// ActiveJobs implements [store.JobUpkeep].
func (s *Store) ActiveJobs(ctx context.Context) (queued, running int, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, activeJobs).Scan(&queued, &running)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count jobs: %w", err)
	}
	return queued, running, nil
}

// Job implements [store.Jobs].
func (s *Store) Job(ctx context.Context, id string) (store.Job, error) {
	var j store.Job
	err := s.view(ctx, func(tx *Tx) (err error) {
		j, err = scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+` FROM jobs WHERE id = ? AND state <> 'spooling'`, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return j, fmt.Errorf("job %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	if err != nil {
		return j, fmt.Errorf("read job: %w", err)
	}
	return j, nil
}

// jobsQuery returns the SQL of a list and its arguments. Queued and running jobs are few and found
// through their index.
func jobsQuery(f store.JobFilter) (string, []any) {
	from, c := `jobs`, conditions{sql: `state <> 'spooling'`}
	if f.Before != 0 {
		c.and(`n < ?`, f.Before)
	}
	if f.State == store.JobQueued || f.State == store.JobRunning {
		from += ` INDEXED BY jobs_active`
		c.and(`state IN ('queued', 'running')`)
	}
	if f.State != "" {
		c.and(`state = ?`, f.State)
	}
	if f.Kind != "" {
		c.and(`kind = ?`, f.Kind)
	}
	if f.Namespace != "" {
		c.and(`namespace = ?`, f.Namespace)
	}
	if f.Named {
		c.and(`namespace <> ''`)
	}
	if len(f.Among) > 0 {
		names, _ := json.Marshal(f.Among) // strings: cannot fail
		c.and(`namespace IN (SELECT value FROM json_each(?))`, string(names))
	}
	return `SELECT ` + jobColumns + ` FROM ` + from + ` WHERE ` + c.sql + ` ORDER BY n DESC LIMIT ?`, append(c.args, f.Limit)
}

// Jobs implements [store.Jobs].
func (s *Store) Jobs(ctx context.Context, f store.JobFilter) ([]store.Job, error) {
	jobs := []store.Job{}
	err := s.view(ctx, func(tx *Tx) error {
		query, args := jobsQuery(f)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			j, err := scanJob(rows)
			jobs = append(jobs, j)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return jobs, nil
}
