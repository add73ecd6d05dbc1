package engine

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// DefaultKeepAudit is how many audit entries are kept of allowed operations, and as many of denied
// ones.
const DefaultKeepAudit = 100_000

// Entries are written auditInterval after the first, or as soon as maxPendingAudit are pending. A caller
// that reaches maxPendingAudit waits for the write: no entry is dropped.
const (
	auditInterval   = time.Second
	maxPendingAudit = 1000
)

// Audit records an operation of a server. It sets the entry's time. The entry is written within
// auditInterval and on Close; a crash loses at most the last second.
func (e Admin) Audit(entry store.AuditEntry) {
	entry.At = e.opts.Now()
	e.auditor.add(entry)
}

// AuditLog returns a page of the audit log, newest first, for the namespaces that the grant of ctx
// reaches. It needs the role admin.
func (e Admin) AuditLog(ctx context.Context, f store.AuditFilter) ([]store.AuditEntry, error) {
	g := access.From(ctx)
	if err := g.RequireAllUsers(); err != nil {
		return nil, err
	}
	if f.Namespace != "" {
		if err := g.RequireNamespace(f.Namespace); err != nil {
			return nil, err
		}
	}
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	f.Among = g.Namespaces
	e.auditor.flush(ctx) // include all entries recorded so far
	entries, err := e.store.Audit(ctx, f)
	names := e.keys.names()
	for i := range entries {
		entries[i].KeyName = names[entries[i].Key]
	}
	return entries, err
}

// auditor batches audit entries and writes them to the store.
type auditor struct {
	store store.Audit
	log   *slog.Logger
	keep  int

	mu       sync.Mutex
	pending  []store.AuditEntry
	flushing sync.Mutex // serializes flushes, so that entries are written in order

	due chan struct{}
	end context.CancelFunc
	wg  sync.WaitGroup
}

func startAuditor(e *core) *auditor {
	a := &auditor{
		store: e.store, log: e.opts.Logger, keep: cmp.Or(e.opts.KeepAudit, DefaultKeepAudit),
		due: make(chan struct{}, 1),
	}
	var ctx context.Context
	ctx, a.end = context.WithCancel(context.Background())
	a.wg.Go(func() { a.loop(ctx) })
	return a
}

func (a *auditor) add(entry store.AuditEntry) {
	if a.keep < 0 {
		return
	}
	a.mu.Lock()
	a.pending = append(a.pending, entry)
	n := len(a.pending)
	a.mu.Unlock()
	if n >= maxPendingAudit {
		a.flush(context.Background())
	} else if n == 1 {
		select {
		case a.due <- struct{}{}:
		default:
		}
	}
}

func (a *auditor) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.due:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(auditInterval):
			a.flush(ctx)
		}
	}
}

// flush writes the pending entries. Entries that cannot be written go to the program's log.
func (a *auditor) flush(ctx context.Context) {
	a.flushing.Lock()
	defer a.flushing.Unlock()
	a.mu.Lock()
	entries := a.pending
	a.pending = nil
	a.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	if err := a.store.AddAudit(context.WithoutCancel(ctx), entries, a.keep); err != nil {
		for _, e := range entries {
			a.log.Error("writing an audit entry failed", "error", err, "key_id", e.Key, "request_id", e.Request,
				"operation", e.Operation, "namespace", e.Namespace, "status", e.Status)
		}
	}
}

// close stops the background writer and writes the pending entries.
func (a *auditor) close() {
	if a == nil {
		return
	}
	a.end()
	a.wg.Wait()
	a.flush(context.Background())
}
