package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// refusedFrom is the lowest status of a refused or failed request.
const refusedFrom = 400

// AddAudit implements [store.Audit].
func (s *Store) AddAudit(ctx context.Context, entries []store.AuditEntry, keep int) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		var first, last int64
		for i, e := range entries {
			if e.Erases {
				if err := clearTargets(ctx, tx, e.Namespace, subjectOf(e.Operation), []string{e.Target}); err != nil {
					return err
				}
				e.Target = ""
			}
			err := tx.QueryRowContext(ctx, `INSERT INTO audit (at, key, request, operation, namespace, target, status)
				VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
				e.At.UnixMicro(), e.Key, e.Request, e.Operation, e.Namespace, e.Target, e.Status).Scan(&last)
			if err != nil {
				return err
			}
			if i == 0 {
				first = last
			}
		}
		// Counting is slow for a large keep, and some entries over the limit do no harm.
		if step := int64(max(1, keep/100)); (first-1)/step == last/step {
			return nil
		}
		for _, which := range [...]string{`status < ?1`, `status >= ?1`} {
			_, err := tx.ExecContext(ctx, `DELETE FROM audit WHERE `+which+` AND seq <= (SELECT seq FROM audit WHERE `+which+`
				ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
				refusedFrom, keep)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return failedIf("write the audit log", err)
}

// The kinds of things that operations concern. Things of different kinds may have equal ids.
const (
	subjectDocument  = "document"
	subjectMemory    = "memory" // also turns, which share the ids of their memories
	subjectNamespace = "namespace"
	subjectSession   = "session"
	subjectProcedure = "procedure"
)

// subjects map a part of an operation's name to the operation's subject; the first match counts.
var subjects = [...]struct{ part, subject string }{
	{"document", subjectDocument},
	{"ingest", subjectDocument},
	{"memor", subjectMemory},
	{"remember", subjectMemory},
	{"turn", subjectMemory},
	{"mem0", subjectMemory},
	{"procedure", subjectProcedure},
	{"draft", subjectProcedure},
	{"session", subjectSession},
	{"cluster", "ledger"},
	{"messages", "ledger"},
	{"user", "user"},
	{"namespace", subjectNamespace},
	{"quotas", subjectNamespace},
	{"key", "key"},
	{"job", "job"},
}

func subjectOf(operation string) string {
	for _, s := range subjects {
		if strings.Contains(operation, s.part) {
			return s.subject
		}
	}
	return operation
}

// clearTargets clears the ids of erased things of a kind from the audit log.
func clearTargets(ctx context.Context, tx *Tx, namespace, subject string, ids []string) error {
	for _, id := range slices.Clone(ids) {
		ids = append(ids, ragctx.Clip(id)) // entries store long ids clipped
	}
	targets, _ := json.Marshal(ids) // strings: cannot fail
	operations, err := Column[string](ctx, tx, `SELECT DISTINCT operation FROM audit WHERE namespace = ?
		AND target IN (SELECT value FROM json_each(?))`,
		namespace, string(targets))
	if err != nil {
		return err
	}
	operations = slices.DeleteFunc(operations, func(op string) bool { return subjectOf(op) != subject })
	if len(operations) == 0 {
		return nil
	}
	names, _ := json.Marshal(operations)
	_, err = tx.ExecContext(ctx, `UPDATE audit SET target = '' WHERE namespace = ? AND target IN (SELECT value FROM json_each(?))
		AND operation IN (SELECT value FROM json_each(?))`, namespace, string(targets), string(names))
	return err
}

// Audit implements [store.Audit].
func (s *Store) Audit(ctx context.Context, f store.AuditFilter) ([]store.AuditEntry, error) {
	c := conditions{sql: `true`}
	if f.Before != 0 {
		c.and(`seq < ?`, f.Before)
	}
	if f.Key != "" {
		c.and(`key = ?`, f.Key)
	}
	if f.Namespace != "" {
		c.and(`namespace = ?`, f.Namespace)
	}
	if len(f.Among) > 0 {
		names, _ := json.Marshal(f.Among) // strings: cannot fail
		c.and(`namespace IN (SELECT value FROM json_each(?))`, string(names))
	}
	found := []store.AuditEntry{}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT seq, at, key, request, operation, namespace, target, status FROM audit
			WHERE `+c.sql+` ORDER BY seq DESC LIMIT ?`, append(c.args, f.Limit)...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var e store.AuditEntry
			var at sql.NullInt64
			err := rows.Scan(&e.Seq, &at, &e.Key, &e.Request, &e.Operation, &e.Namespace, &e.Target, &e.Status)
			e.At = moment(at)
			found = append(found, e)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return found, nil
}
