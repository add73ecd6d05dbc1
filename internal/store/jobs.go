package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
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
	N         int64    `json:"-"`
	ID        string   `json:"id"`
	Kind      string   `json:"kind" doc:"what is done: documents (a bulk request), folder (an ingest on the server's machine), or other long work"`
	Namespace string   `json:"namespace" doc:"empty if the work is not about one namespace"`
	State     JobState `json:"state" enum:"spooling,queued,running,done,failed,cancelled" doc:"done also if single items failed; failed if the job could not go on"`
	Stage     string   `json:"stage,omitempty" doc:"what a running job is at"`
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
	Error     string          `json:"error,omitempty" doc:"what ended the job early; errors of single items are with the items"`
	Request   json.RawMessage `json:"-"`
	Result    json.RawMessage `json:"result,omitempty" doc:"what the work led to, besides the counts; only some kinds of job have it"`
	Created   time.Time       `json:"created"`
	Started   time.Time       `json:"started,omitzero"`
	Heartbeat time.Time       `json:"heartbeat,omitzero" doc:"when a running job last gave a sign of life"`
	Finished  time.Time       `json:"finished,omitzero"`
}

const jobColumns = `n, id, kind, namespace, state, stage, items, counts, chunks, bytes, total_bytes, written, error,
	request, result, created, started, heartbeat, finished`

func scanJob(row interface{ Scan(...any) error }) (Job, error) {
	var j Job
	var counts, request, result string
	var created, started, heartbeat, finished sql.NullInt64
	err := row.Scan(&j.N, &j.ID, &j.Kind, &j.Namespace, &j.State, &j.Stage, &j.Items, &counts, &j.Chunks, &j.Bytes,
		&j.TotalBytes, &j.Written, &j.Error, &request, &result, &created, &started, &heartbeat, &finished)
	j.Counts = decode[JobCounts](counts)
	j.Request, j.Result = json.RawMessage(request), json.RawMessage(result)
	j.Created, j.Started, j.Heartbeat, j.Finished = moment(created), moment(started), moment(heartbeat), moment(finished)
	return j, err
}

// CreateJob stores a new job in state [JobSpooling] or [JobQueued] and sets its N and Created. A
// used id is [ragctx.ErrConflict]. A queued job does not wait for other writes of the background.
func (s *Store) CreateJob(ctx context.Context, j *Job) error {
	p := low
	if j.State == JobQueued {
		p = high
	}
	err := s.write.doIn(ctx, noNamespaces, p, func(ctx context.Context, tx *sql.Tx) error {
		now := s.now().UTC().Truncate(time.Microsecond)
		var place any
		if j.State == JobQueued {
			n, err := nextPlace(ctx, tx)
			if err != nil {
				return err
			}
			place = n
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO jobs (id, kind, namespace, state, place, request, created)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			j.ID, j.Kind, j.Namespace, j.State, place, string(j.Request), now.UnixMicro())
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("job %q: %w: the id is taken", ragctx.Clip(j.ID), ragctx.ErrConflict))
		}
		j.Created = now
		j.N, err = res.LastInsertId()
		return err
	})
	if err != nil {
		return failed("create job", err)
	}
	return nil
}

// lastPlace reads active jobs only: ended jobs are many and need no place.
const lastPlace = `SELECT coalesce(max(place), 0) FROM jobs WHERE state IN ('queued', 'running')`

func nextPlace(ctx context.Context, tx *sql.Tx) (place int64, err error) {
	err = tx.QueryRowContext(ctx, lastPlace).Scan(&place)
	return place + 1, err
}

// QueueJob accepts a spooling job once all items are stored; t is their sum.
func (s *Store) QueueJob(ctx context.Context, n int64, t JobTotals) error {
	counts, err := encode(t.Counts, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
		place, err := nextPlace(ctx, tx)
		if err != nil {
			return err
		}
		return expectOne(tx.ExecContext(ctx, `UPDATE jobs SET state = ?, place = ?, items = ?, counts = ?, chunks = ?, bytes = ?,
			total_bytes = ?, written = ? WHERE n = ? AND state = ?`,
			JobQueued, place, t.Items, counts, t.Chunks, t.Bytes, t.TotalBytes, t.Written, n, JobSpooling))
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

// NextJob returns the next job of a kind to run: the job that was running when the process ended,
// otherwise the job accepted first. It returns false if no job is waiting.
func (s *Store) NextJob(ctx context.Context, kind string) (Job, bool, error) {
	var j Job
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
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

// SaveJob stores the changes of a running job: state, progress, error, result and times. A job that
// has ended stays unchanged.
func (s *Store) SaveJob(ctx context.Context, j Job) error {
	counts, err := encode(j.Counts, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
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

// ActiveJobs returns the number of queued and running jobs.
func (s *Store) ActiveJobs(ctx context.Context) (queued, running int, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, activeJobs).Scan(&queued, &running)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count jobs: %w", err)
	}
	return queued, running, nil
}

// Job returns a job by id. A spooling job is not found: it is not accepted yet.
func (s *Store) Job(ctx context.Context, id string) (Job, error) {
	var j Job
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
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

// jobsQuery returns the SQL of a list and its arguments. Queued and running jobs are few and found
// through their index.
func jobsQuery(f JobFilter) (string, []any) {
	from, c := `jobs`, conditions{sql: `state <> 'spooling'`}
	if f.Before != 0 {
		c.and(`n < ?`, f.Before)
	}
	if f.State == JobQueued || f.State == JobRunning {
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

// Jobs returns jobs, newest first.
func (s *Store) Jobs(ctx context.Context, f JobFilter) ([]Job, error) {
	jobs := []Job{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		query, args := jobsQuery(f)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
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
