package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// BeginRequest implements [store.Requests].
func (s *Store) BeginRequest(ctx context.Context, k store.RequestKey, hash []byte, seed string,
	oldest time.Time,
) (store.StoredResponse, error) {
	a, known, err := s.Response(ctx, k, oldest)
	if err == nil && !known {
		a = store.StoredResponse{Hash: hash, Seed: seed, Created: s.now().UTC().Truncate(time.Microsecond)}
		err = s.write.doIn(ctx, NoNamespaces, High, func(ctx context.Context, tx *Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO idempotency (namespace, route, key, hash, seed, created)
				VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, route, key) DO UPDATE SET hash = excluded.hash, seed = excluded.seed,
					created = excluded.created, status = NULL, header = '{}', body = NULL`,
				k.Namespace, k.Route, k.Key, hash, seed, a.Created.UnixMicro())
			return err
		})
	}
	if err != nil {
		return store.StoredResponse{}, failed("record request", err)
	}
	if !bytes.Equal(a.Hash, hash) {
		return store.StoredResponse{}, store.ErrKeyReused
	}
	return a, nil
}

// Response implements [store.Requests].
func (s *Store) Response(ctx context.Context, k store.RequestKey, oldest time.Time) (store.StoredResponse, bool, error) {
	var a store.StoredResponse
	var status, created sql.NullInt64
	var header string
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT hash, seed, status, header, body, created FROM idempotency
			WHERE namespace = ? AND route = ? AND key = ? AND created >= ?`, k.Namespace, k.Route, k.Key, oldest.UnixMicro()).
			Scan(&a.Hash, &a.Seed, &status, &header, &a.Body, &created)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return a, false, nil
	}
	a.Status, a.Header, a.Created = int(status.Int64), decode[map[string]string](header), moment(created)
	return a, err == nil, err
}

// SaveResponse implements [store.Requests].
func (s *Store) SaveResponse(ctx context.Context, k store.RequestKey, a store.StoredResponse) error {
	header, err := encode(a.Header, "{}")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, NoNamespaces, High, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE idempotency SET status = ?, header = ?, body = ?
			WHERE namespace = ? AND route = ? AND key = ? AND seed = ?`, a.Status, header, a.Body, k.Namespace, k.Route, k.Key, a.Seed)
		return err
	})
	if err != nil {
		return failed("store response", err)
	}
	return nil
}

// DropRequest implements [store.Requests].
func (s *Store) DropRequest(ctx context.Context, k store.RequestKey, seed string) error {
	err := s.write.doIn(ctx, NoNamespaces, High, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM idempotency WHERE namespace = ? AND route = ? AND key = ? AND seed = ?`,
			k.Namespace, k.Route, k.Key, seed)
		return err
	})
	if err != nil {
		return failed("delete request", err)
	}
	return nil
}

// PruneResponses implements [store.Requests].
func (s *Store) PruneResponses(ctx context.Context, before time.Time) error {
	for n := int64(dropBatch); n == dropBatch; {
		err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
			res, err := tx.ExecContext(ctx, deleteOldResponses, before.UnixMicro(), dropBatch)
			if err != nil {
				return err
			}
			n, err = res.RowsAffected()
			return err
		})
		if err != nil {
			return failed("delete old responses", err)
		}
	}
	return nil
}

const deleteOldResponses = `DELETE FROM idempotency WHERE (namespace, route, key) IN
	(SELECT namespace, route, key FROM idempotency WHERE created < ? LIMIT ?)`

// deleteResponses deletes the stored responses of a namespace that may repeat data of a scope: all
// except those of unaffected routes.
func deleteResponses(ctx context.Context, tx *Tx, namespace string, sc erasureScope) error {
	routes, err := Column[string](ctx, tx, `SELECT DISTINCT route FROM idempotency WHERE namespace = ?`, namespace)
	if err != nil {
		return err
	}
	routes = slices.DeleteFunc(routes, func(route string) bool { return isUnder(route, unaffectedRoutes(sc)) })
	if len(routes) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM idempotency WHERE namespace = ? AND route IN (SELECT value FROM json_each(?))`,
		namespace, jsonArray(routes))
	return err
}

// isUnder reports whether a route, a method and a path, is one of the roots or below one.
func isUnder(route string, roots []string) bool {
	_, path, _ := strings.Cut(route, " ")
	return slices.ContainsFunc(roots, func(root string) bool {
		rest, ok := strings.CutPrefix(path, root)
		return ok && (rest == "" || strings.ContainsRune(`/:\`, rune(rest[0])))
	})
}

// unaffectedRoutes lists the roots of routes whose responses never contain data of a scope. A missing
// root loses responses needlessly; a wrong one would keep erased data.
func unaffectedRoutes(sc erasureScope) []string {
	const documents, memories, turns, procedures, ledgers, mem0 = "/v1/documents", "/v1/memories", "/v1/turns",
		"/v1/procedures", "/v1/clusters", "/mem0"
	switch {
	case sc.Whole != "":
		return nil
	case sc.Ledger != 0:
		return []string{documents, memories, turns, procedures, mem0}
	case sc.Procedure != 0:
		return []string{documents, memories, ledgers}
	case sc.Kind == store.KindDocuments:
		return []string{memories, turns, procedures, ledgers, mem0}
	default: // memories of an id, a session or a user
		return []string{documents, ledgers}
	}
}
