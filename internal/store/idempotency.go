package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
)

// RequestKey names a request that its sender may send again.
type RequestKey struct {
	Namespace, Route, Key string
}

// Answer is what is known about a request with a [RequestKey].
type Answer struct {
	Hash []byte // of the request
	// Seed is the id of what the request makes, if the request names none: the
	// same one however often the request is sent.
	Seed   string
	Status int // HTTP; 0 as long as there is no answer
	Header map[string]string
	Body   []byte
	Made   time.Time // when the request first came
}

// ErrOtherRequest says that a key came with another request before.
var ErrOtherRequest = fmt.Errorf("%w: the key came with another request before", ragctx.ErrInvalid)

// Begin notes a request under its key and returns what is known about it, which
// is the answer if it has been given. seed is used if the key is new; what is
// noted from before oldest counts as new. Another request's key is
// [ErrOtherRequest].
func (s *Store) Begin(ctx context.Context, k RequestKey, hash []byte, seed string, oldest time.Time) (Answer, error) {
	a, known, err := s.Answer(ctx, k, oldest)
	if err == nil && !known {
		a = Answer{Hash: hash, Seed: seed, Made: s.now().UTC().Truncate(time.Microsecond)}
		err = s.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO idempotency (namespace, route, key, hash, seed, created)
				VALUES (?, ?, ?, ?, ?, ?)`, k.Namespace, k.Route, k.Key, hash, seed, a.Made.UnixMicro())
			return err
		})
	}
	if err != nil {
		return Answer{}, failed("note request", err)
	}
	if !bytes.Equal(a.Hash, hash) {
		return Answer{}, ErrOtherRequest
	}
	return a, nil
}

// Answer returns what is known about a request, unless that is from before
// oldest; it reports false if nothing is known.
func (s *Store) Answer(ctx context.Context, k RequestKey, oldest time.Time) (Answer, bool, error) {
	var a Answer
	var status, created sql.NullInt64
	var header string
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT hash, seed, status, header, body, created FROM idempotency
			WHERE namespace = ? AND route = ? AND key = ? AND created >= ?`, k.Namespace, k.Route, k.Key, oldest.UnixMicro()).
			Scan(&a.Hash, &a.Seed, &status, &header, &a.Body, &created)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return a, false, nil
	}
	a.Status, a.Header, a.Made = int(status.Int64), decode[map[string]string](header), moment(created)
	return a, err == nil, err
}

// Answered notes the answer to a request that [Store.Begin] noted.
func (s *Store) Answered(ctx context.Context, k RequestKey, a Answer) error {
	header, err := encode(a.Header, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE idempotency SET status = ?, header = ?, body = ?
			WHERE namespace = ? AND route = ? AND key = ? AND seed = ?`, a.Status, header, a.Body, k.Namespace, k.Route, k.Key, a.Seed)
		return err
	})
	if err != nil {
		return failed("note answer", err)
	}
	return nil
}

// DropRequest forgets a request that [Store.Begin] noted with a seed, as if it
// had never come.
func (s *Store) DropRequest(ctx context.Context, k RequestKey, seed string) error {
	err := s.write.doIn(ctx, nowhere, High, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM idempotency WHERE namespace = ? AND route = ? AND key = ? AND seed = ?`,
			k.Namespace, k.Route, k.Key, seed)
		return err
	})
	if err != nil {
		return failed("forget request", err)
	}
	return nil
}

// PruneAnswers removes what was noted before a time, a bounded number at once: an
// answer may be as large as what it is about.
func (s *Store) PruneAnswers(ctx context.Context, before time.Time) error {
	for n := int64(dropBatch); n == dropBatch; {
		err := s.write.doIn(ctx, nowhere, Low, func(ctx context.Context, tx *sql.Tx) error {
			res, err := tx.ExecContext(ctx, dropAnswers, before.UnixMicro(), dropBatch)
			if err != nil {
				return err
			}
			n, err = res.RowsAffected()
			return err
		})
		if err != nil {
			return failed("remove old answers", err)
		}
	}
	return nil
}

const dropAnswers = `DELETE FROM idempotency WHERE (namespace, route, key) IN
	(SELECT namespace, route, key FROM idempotency WHERE created < ? LIMIT ?)`

// forgetAnswers removes the answers to requests of a namespace that may repeat what was in a
// scope: all but those of routes that have none of it to tell.
func forgetAnswers(ctx context.Context, tx *sql.Tx, namespace string, sc scope) error {
	query, args := `DELETE FROM idempotency WHERE namespace = ?`, []any{namespace}
	for _, root := range unconcerned(sc) {
		query += ` AND route NOT GLOB ? AND route NOT GLOB ?`
		args = append(args, "* "+root, "* "+root+`[/:\]*`)
	}
	_, err := tx.ExecContext(ctx, query, args...)
	return err
}

// unconcerned lists the roots of routes whose answers tell nothing of what is in a scope.
// What is missing here loses its answers to no purpose; what is too much would keep them.
func unconcerned(sc scope) []string {
	const documents, memories, turns, procedures, ledgers, mem0 = "/v1/documents", "/v1/memories", "/v1/turns", "/v1/procedures", "/v1/ledger", "/mem0"
	switch {
	case sc.Whole != "":
		return nil
	case sc.Ledger != 0:
		return []string{documents, memories, turns, procedures, mem0}
	case sc.Procedure != 0:
		return []string{documents, memories, ledgers}
	case sc.Kind == Documents:
		return []string{memories, turns, procedures, ledgers, mem0}
	default: // memories of an id, a session or a user
		return []string{documents, ledgers}
	}
}
