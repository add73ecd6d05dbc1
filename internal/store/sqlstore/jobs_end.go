package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// dropBatch is the number of items deleted in one transaction, so that other writes wait briefly.
const dropBatch = 256

// DeleteItems implements [store.JobItems].
func (s *Store) DeleteItems(ctx context.Context, job int64, state store.ItemState) error {
	for {
		var n int64
		err := s.write.doIn(ctx, NoNamespaces, Low|Frees, func(ctx context.Context, tx *Tx) error {
			c := conditions{sql: `job = ?`, args: []any{job}}
			if state != "" {
				c.and(`state = ?`, state)
			}
			res, err := tx.ExecContext(ctx, `DELETE FROM job_items WHERE id IN
				(SELECT id FROM job_items WHERE `+c.sql+` LIMIT ?)`, append(c.args, dropBatch)...)
			if err != nil {
				return err
			}
			n, err = res.RowsAffected()
			return err
		})
		if err != nil {
			return failed("drop items of job", err)
		}
		if n < dropBatch {
			return nil
		}
	}
}

// DeleteJob implements [store.Jobs].
func (s *Store) DeleteJob(ctx context.Context, job int64) error {
	if err := s.DeleteItems(ctx, job, ""); err != nil {
		return err
	}
	err := s.write.doIn(ctx, NoNamespaces, Low|Frees, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM jobs WHERE n = ?`, job)
		return err
	})
	if err != nil {
		return failed("drop job", err)
	}
	return nil
}

// CancelQueued implements [store.Jobs].
func (s *Store) CancelQueued(ctx context.Context, id string) (bool, error) {
	var n int64
	err := s.write.doIn(ctx, NoNamespaces, High|Frees, func(ctx context.Context, tx *Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE jobs SET state = 'cancelled', finished = ? WHERE id = ? AND state IN ('queued', 'running')`,
			s.now().UnixMicro(), id)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return false, failed("cancel job", err)
	}
	return n > 0, nil
}

// endedBefore selects jobs by finish time; spoolingJobs selects the jobs not accepted yet.
const (
	endedBefore  = `SELECT n FROM jobs WHERE finished < ? AND state IN ('done', 'failed', 'cancelled')`
	spoolingJobs = `SELECT n FROM jobs WHERE state = 'spooling'`
)

// ExpiredJobs implements [store.JobUpkeep].
func (s *Store) ExpiredJobs(ctx context.Context, before time.Time) (ended, spooling []int64, err error) {
	err = s.view(ctx, func(tx *Tx) (err error) {
		if ended, err = Column[int64](ctx, tx, endedBefore, before.UnixMicro()); err != nil {
			return err
		}
		spooling, err = Column[int64](ctx, tx, spoolingJobs)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("find old jobs: %w", err)
	}
	return ended, spooling, nil
}

// PendingDocuments implements [store.JobItems].
func (s *Store) PendingDocuments(ctx context.Context, namespace string, keys []string) (documents map[string]bool, all bool, err error) {
	documents = make(map[string]bool)
	err = s.view(ctx, func(tx *Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM jobs
			WHERE namespace = ? AND kind <> ? AND state IN ('queued', 'running'))`, namespace, store.JobDocuments).Scan(&all); err != nil {
			return err
		}
		args := []any{namespace}
		for _, k := range keys {
			args = append(args, k)
		}
		query := `SELECT DISTINCT i.key FROM job_items i JOIN jobs j ON j.n = i.job
			WHERE j.namespace = ? AND i.state IN ('pending', 'failed') AND i.key IN (?` + strings.Repeat(", ?", max(0, len(keys)-1)) + `)`
		found, err := Column[string](ctx, tx, query, args...)
		for _, k := range found {
			documents[k] = true
		}
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("find awaited documents: %w", err)
	}
	return documents, all, nil
}

// clearJobItems clears the job items of an erased document. Pending items are skipped, so that no
// job restores the document.
func clearJobItems(ctx context.Context, tx *Tx, namespace, key string) error {
	_, err := tx.ExecContext(ctx, `UPDATE job_items SET key = '', body = NULL, field = '', error = 'the document was erased',
		state = CASE WHEN state IN ('pending', 'failed') THEN 'skipped' ELSE state END
		WHERE key = ? AND job IN (SELECT n FROM jobs WHERE namespace = ?)`, key, namespace)
	return err
}
