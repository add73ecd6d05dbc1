package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// Checkup is the result of [Admin.Doctor].
type Checkup struct {
	Store   store.VerifyReport `json:"store"`
	Indexes []IndexCheckup     `json:"indexes"`
	// Embedder is the active embedder, with its usage.
	Embedder EmbedderInfo `json:"embedder"`
	// Repaired counts the indexes that are being rebuilt.
	Repaired int `json:"repaired"`
	// Degraded lists current problems, as in a [Status].
	Degraded []string `json:"degraded" nullable:"false" doc:"current problems; empty if healthy"`
}

// IndexCheckup is the audit of the index of one kind of item in a namespace.
type IndexCheckup struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	index.Audit
	// VectorIndex is the state of the audited vector index.
	VectorIndex VectorIndexStatus `json:"vector_index"`
	// Error is set if the index could not be compared with the store.
	Error    string `json:"error,omitempty"`
	Repaired bool   `json:"repaired" doc:"its files were deleted and are being rebuilt"`
}

// Sound reports whether the checkup found no problem.
func (c Checkup) Sound() bool {
	for _, i := range c.Indexes {
		if i.Error != "" || !i.Sound() {
			return false
		}
	}
	return !c.Store.Damaged()
}

// DoctorOptions configures [Admin.Doctor].
type DoctorOptions struct {
	// Repair deletes the files of every index that differs from the store; they are rebuilt in the
	// background. The store itself is never changed: it is the source of truth, and only a snapshot
	// can repair it.
	Repair bool
	// Searching is the total time for measuring recall by searches for stored vectors; an index
	// gets at most a fifth of it. 0 means [DefaultSearching], negative measures none.
	Searching time.Duration
	// Progress is called with the current step and its progress.
	Progress func(what string, done, total int)
}

// DefaultSearching is how long [Admin.Doctor] measures recall by default.
const DefaultSearching = 10 * time.Second

// Doctor verifies the whole data directory: the store's consistency, and every index against the
// store. Other work continues.
func (e Admin) Doctor(ctx context.Context, o DoctorOptions) (Checkup, error) {
	if err := requireAdmin(ctx); err != nil {
		return Checkup{}, err
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	left := max(0, cmp.Or(o.Searching, DefaultSearching))
	c := Checkup{Indexes: []IndexCheckup{}, Embedder: e.Indexes().EmbedderInfo(), Degraded: []string{}}
	verify := store.VerifyOptions{Progress: func(done, total int) { o.Progress("database", done, total) }}
	if s := storedSpace(e.spaces.Current.Load()); s != nil {
		verify.Embedder = s.ID
	}
	var err error
	c.Store, err = e.store.Verify(ctx, verify)
	if err != nil {
		return c, err
	}
	if err := e.auditIndexes(ctx, &c, left, o); err != nil {
		if ctx.Err() != nil || errors.Is(err, ragctx.ErrClosed) {
			return c, err
		}
		c.Store.Findings = append(c.Store.Findings, store.Finding{
			Severity: store.Damage, Check: "file", Detail: "the indexes cannot be compared: " + err.Error(),
		})
	}
	c.Degraded, err = e.warnings(ctx)
	return c, ignoreDamage(err)
}

// auditIndexes compares all indexes with the store. searching is the time for measuring recall.
func (e *core) auditIndexes(ctx context.Context, c *Checkup, recallTime time.Duration, o DoctorOptions) error {
	each, left := recallTime/5, recallTime
	return e.eachCollection(ctx, func(name string, id store.Collection) error {
		o.Searching = min(each, left)
		found := e.auditIndex(ctx, id, name, o)
		left -= min(left, found.Searched)
		if found.Repaired {
			c.Repaired++
		}
		c.Indexes = append(c.Indexes, found)
		return ctx.Err()
	})
}

// eachCollection calls fn for the collections of all namespaces, also those without items.
func (e *core) eachCollection(ctx context.Context, fn func(namespace string, id store.Collection) error) error {
	names, err := e.Admin().NamespaceNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		ns, err := e.namespace(ctx, name, false)
		if isNotFound(err) { // erased in between
			continue
		}
		if err != nil {
			return err
		}
		for _, kind := range []store.Kind{store.KindDocuments, store.KindMemories} {
			if err := fn(name, store.Collection{Namespace: ns, Kind: kind}); err != nil {
				return err
			}
		}
	}
	return nil
}

// auditIndex compares an index with the store. o.Searching is the time for this index.
func (e *core) auditIndex(ctx context.Context, id store.Collection, name string, o DoctorOptions) IndexCheckup {
	out := IndexCheckup{Namespace: name, Kind: id.Kind.String()}
	idx, release, err := e.collections.Get(ctx, id)
	if err == nil {
		out.Audit, err = idx.Audit(ctx, index.AuditOptions{
			Progress:  func(done, total int) { o.Progress(name+" "+out.Kind, done, total) },
			Searching: o.Searching,
		})
		health, failed := idx.Health(ctx)
		out.VectorIndex, err = newVectorIndexStatus(health), errors.Join(err, failed)
		release()
	}
	if err != nil {
		out.Error = err.Error()
	}
	if o.Repair && ctx.Err() == nil && (err != nil || !out.Sound()) {
		if rerr := e.rebuildIndex(ctx, id); rerr != nil {
			out.Error = errors.Join(rerr, err).Error()
		} else {
			out.Repaired = true
		}
	}
	return out
}

// rebuildIndex deletes an index and opens it again, which rebuilds it.
func (e *core) rebuildIndex(ctx context.Context, id store.Collection) error {
	err := e.collections.WithClosed(ctx, id, func() error { return e.opts.Indexes.Drop(ctx, indexOf(id)) })
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	_, release, err := e.collections.Get(ctx, id)
	if err == nil {
		release()
	}
	return err
}

// JobDoctor is the kind of job that runs [Admin.Doctor].
const JobDoctor = "doctor"

type doctorRequest struct {
	Repair    bool          `json:"repair"`
	Searching time.Duration `json:"searching,omitempty"`
}

// SubmitCheckup runs [Admin.Doctor] as a job. The job's result is a [Checkup]; o.Progress is replaced by
// the job's progress.
func (e Jobs) SubmitCheckup(ctx context.Context, o DoctorOptions) (Job, error) {
	if err := requireAdmin(ctx); err != nil {
		return Job{}, err
	}
	return e.submitJob(ctx, JobDoctor, "", doctorRequest{o.Repair, o.Searching})
}

func (e *core) runDoctor(ctx context.Context, r *runningJob) error {
	var req doctorRequest
	if err := r.request(&req); err != nil {
		return err
	}
	found, err := e.Admin().Doctor(ctx, DoctorOptions{
		Repair: req.Repair, Searching: req.Searching,
		Progress: func(what string, done, total int) {
			r.update(func(j *store.Job) { j.Stage, j.Items, j.Counts = what, total, store.JobCounts{Unchanged: done} })
		},
	})
	if err != nil {
		return err
	}
	return r.result(found)
}
