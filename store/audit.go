package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// AuditEntry says what a server was asked to change.
type AuditEntry struct {
	Seq       int64     `json:"seq" doc:"grows with every entry"`
	At        time.Time `json:"at"`
	Key       string    `json:"key_id,omitempty" doc:"of the API key; absent if none was asked for, local for commands beside the server"`
	Request   string    `json:"request_id"`
	Operation string    `json:"operation" doc:"as the OpenAPI document names it; of agents mcp: and the tool"`
	Namespace string    `json:"namespace,omitempty" doc:"absent if it is about none"`
	Target    string    `json:"target,omitempty" doc:"the id of what it is about, if the request names one and it was not erased since"`
	Status    int       `json:"status" doc:"of the answer"`
	// Erases says that the target was erased: its name goes as well.
	Erases bool `json:"-"`
}

// AddAudit appends entries, and drops the oldest of more than keep.
func (s *Store) AddAudit(ctx context.Context, entries []AuditEntry, keep int) error {
	err := s.write.doIn(ctx, nowhere, Low, func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range entries {
			if e.Erases {
				if _, err := tx.ExecContext(ctx, `UPDATE audit SET target = '' WHERE namespace = ? AND target = ?`, e.Namespace, e.Target); err != nil {
					return err
				}
				e.Target = ""
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO audit (at, key, request, operation, namespace, target, status) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				e.At.UnixMicro(), e.Key, e.Request, e.Operation, e.Namespace, e.Target, e.Status)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM audit WHERE seq <= (SELECT coalesce(max(seq), 0) FROM audit) - ?`, keep)
		return err
	})
	return failedIf("write the audit log", err)
}

// AuditFilter narrows the audit log.
type AuditFilter struct {
	Before    int64 // entries of a smaller Seq; 0 is from the newest
	Limit     int
	Key       string   // "" is any
	Namespace string   // "" is any
	Among     []string // namespaces; none is all, and entries that have none
}

// Audit returns entries of the audit log, the newest first.
func (s *Store) Audit(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	c := conditions{sql: `1`}
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
	found := []AuditEntry{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT seq, at, key, request, operation, namespace, target, status FROM audit
			WHERE `+c.sql+` ORDER BY seq DESC LIMIT ?`, append(c.args, f.Limit)...)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var e AuditEntry
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
