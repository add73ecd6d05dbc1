package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/redact"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/providers/procedures"
)

// ProcedureKey identifies a procedure: different owners may have procedures of the same name.
type ProcedureKey struct {
	Namespace string
	Name      string
	ragctx.ProcedureOwner
}

func (k ProcedureKey) check() error {
	if err := ragctx.ValidName("user_id", k.UserID); err != nil {
		return err
	}
	if err := ragctx.ValidName("agent_id", k.AgentID); err != nil {
		return err
	}
	return procedures.ValidName(k.Name)
}

// procedureKey returns the store key for reading a procedure. A caller bound to a user may also
// read shared procedures.
func (e *core) procedureKey(ctx context.Context, k ProcedureKey, create bool) (store.ProcedureKey, error) {
	if err := k.check(); err != nil {
		return store.ProcedureKey{}, err
	}
	if user := k.UserID; user != "" {
		if err := actAs(ctx, &user); err != nil {
			return store.ProcedureKey{}, err
		}
	}
	ns, err := e.namespace(ctx, k.Namespace, create)
	if isNotFound(err) {
		err = notFound("procedure", k.Name)
	}
	return store.ProcedureKey{Namespace: ns, Name: k.Name, ProcedureOwner: k.ProcedureOwner}, err
}

// ownProcedureKey is procedureKey for changes. A caller bound to a user may change only that user's
// procedures.
func (e *core) ownProcedureKey(ctx context.Context, k ProcedureKey, create bool) (store.ProcedureKey, error) {
	if err := actAs(ctx, &k.UserID); err != nil {
		return store.ProcedureKey{}, err
	}
	return e.procedureKey(ctx, k, create)
}

// List returns a page of procedures by name; the next page starts after its last. The
// size of an entry does not depend on the length of the procedure.
func (e Procedures) List(
	ctx context.Context, namespace string, f store.ProcedureFilter,
) ([]ragctx.ProcedureEntry, error) {
	if err := pageLimit(&f.Limit); err != nil {
		return nil, err
	}
	if f.AnyUser {
		if err := access.From(ctx).RequireAllUsers(); err != nil {
			return nil, err
		}
	} else if err := actAs(ctx, &f.UserID); err != nil {
		return nil, err
	}
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return []ragctx.ProcedureEntry{}, nil
	}
	if err != nil {
		return nil, err
	}
	return e.store.ListProcedures(ctx, ns, f)
}

// Get returns a procedure with its draft and versions.
func (e Procedures) Get(ctx context.Context, k ProcedureKey) (ragctx.Procedure, error) {
	return readOwnOrShared(ctx, k, func(k ProcedureKey) (ragctx.Procedure, error) {
		key, err := e.procedureKey(ctx, k, false)
		if err != nil {
			return ragctx.Procedure{}, err
		}
		return e.store.Procedure(ctx, key)
	})
}

// readOwnOrShared reads a procedure by name. If a caller bound to a user names no user, it reads that
// user's procedure, or else the shared one.
func readOwnOrShared[T any](ctx context.Context, k ProcedureKey, read func(ProcedureKey) (T, error)) (T, error) {
	if user := access.From(ctx).User; user != "" && k.UserID == "" {
		own := k
		own.UserID = user
		if found, err := read(own); !isNotFound(err) {
			return found, err
		}
	}
	return read(k)
}

// PutDraft writes the draft of a procedure, creating the procedure if necessary. Published versions
// do not change.
func (e Procedures) PutDraft(ctx context.Context, k ProcedureKey, b ragctx.ProcedureBody) (ragctx.Procedure, error) {
	b = procedures.TrimBody(e.redactBody(b))
	if err := procedures.ValidateBody(b); err != nil {
		return ragctx.Procedure{}, err
	}
	key, err := e.ownProcedureKey(ctx, k, true)
	if err != nil {
		return ragctx.Procedure{}, err
	}
	return e.store.PutProcedureDraft(ctx, key, b)
}

// DeleteDraft removes the draft of a procedure, and the procedure if no version was ever published.
// A missing draft is [ragctx.ErrNotFound].
func (e Procedures) DeleteDraft(ctx context.Context, k ProcedureKey) error {
	key, err := e.ownProcedureKey(ctx, k, false)
	if err != nil {
		return err
	}
	return e.store.DeleteProcedureDraft(ctx, key)
}

// Publish makes an immutable version of the draft, which replaces the version that agents see.
func (e Procedures) Publish(ctx context.Context, k ProcedureKey) (ragctx.Procedure, error) {
	key, err := e.ownProcedureKey(ctx, k, false)
	if err != nil {
		return ragctx.Procedure{}, err
	}
	return e.store.PublishProcedure(ctx, key)
}

// Unpublish hides the procedure from agents. All its versions stay.
func (e Procedures) Unpublish(ctx context.Context, k ProcedureKey) (ragctx.Procedure, error) {
	key, err := e.ownProcedureKey(ctx, k, false)
	if err != nil {
		return ragctx.Procedure{}, err
	}
	return e.store.UnpublishProcedure(ctx, key)
}

// Rollback makes an earlier version the one that agents see, and supersedes all later ones.
func (e Procedures) Rollback(ctx context.Context, k ProcedureKey, version int) (ragctx.Procedure, error) {
	if version < 1 {
		return ragctx.Procedure{}, ragctx.Invalid("version", "is %d; use the number of a version, from 1", version)
	}
	key, err := e.ownProcedureKey(ctx, k, false)
	if err != nil {
		return ragctx.Procedure{}, err
	}
	return e.store.RollbackProcedure(ctx, key, version)
}

// Preview returns a procedure as agents see it: its draft if draft is set,
// otherwise a version (0 is the canonical one).
func (e Procedures) Preview(
	ctx context.Context, k ProcedureKey, version int, draft bool,
) (procedures.ProcedurePreview, error) {
	p, err := e.Procedures().Get(ctx, k)
	if err != nil {
		return procedures.ProcedurePreview{}, err
	}
	v, ok := p.Version(version)
	if draft {
		if ok = p.Draft != nil; ok {
			v = *p.Draft
		}
	}
	if !ok {
		return procedures.ProcedurePreview{}, notFound("version of procedure", k.Name)
	}
	out := procedures.ProcedurePreview{
		Line: procedures.Line(k.Name, v.Trigger),
		Body: procedures.Markdown(k.Name, v.ProcedureBody),
	}
	if v.Number > 0 {
		out.ID = procedures.ID{ProcedureOwner: p.ProcedureOwner, Name: k.Name, Version: v.Number}.String()
	}
	return out, nil
}

// History returns the changes of a procedure, oldest first.
func (e Procedures) History(ctx context.Context, k ProcedureKey) ([]ragctx.ProcedureChange, error) {
	return readOwnOrShared(ctx, k, func(k ProcedureKey) ([]ragctx.ProcedureChange, error) {
		key, err := e.procedureKey(ctx, k, false)
		if err != nil {
			return nil, err
		}
		return e.store.ProcedureHistory(ctx, key)
	})
}

// Erase erases a procedure as [Documents.Erase] does: its draft, every version, and
// its history.
func (e Procedures) Erase(ctx context.Context, k ProcedureKey) (store.Erased, error) {
	if err := k.check(); err != nil {
		return store.Erased{}, err
	}
	if err := actAs(ctx, &k.UserID); err != nil {
		return store.Erased{}, err
	}
	return e.erase(ctx, k.Namespace, func(ns int64) (store.Erased, error) {
		return e.store.EraseProcedure(ctx, store.ProcedureKey{Namespace: ns, Name: k.Name, ProcedureOwner: k.ProcedureOwner})
	})
}

// Skill returns the body of a published procedure by its item id.
func (e Procedures) Skill(
	ctx context.Context, namespace, item string,
) (procedures.ID, ragctx.ProcedureVersion, error) {
	id, err := procedures.ParseID(item)
	if err != nil {
		return id, ragctx.ProcedureVersion{}, err
	}
	if user := id.UserID; user != "" && actAs(ctx, &user) != nil {
		return id, ragctx.ProcedureVersion{}, notFound("procedure", item) // reported like a missing one
	}
	key, err := e.procedureKey(ctx, ProcedureKey{namespace, id.Name, id.ProcedureOwner}, false)
	if err != nil {
		return id, ragctx.ProcedureVersion{}, err
	}
	v, err := e.store.ProcedureVersion(ctx, key, id.Version)
	id.Version = v.Number
	return id, v, err
}

// procedureExtractor extracts procedures from completed turns, as a turn observer.
type procedureExtractor struct{ engine *core }

// maxCompared bounds the procedures of an owner that a new one is compared with.
const maxCompared = 500

// maxStoreAttempts bounds the retries when the same procedure is stored concurrently.
const maxStoreAttempts = 3

// OnTurnComplete implements [ragctx.TurnObserver].
func (a procedureExtractor) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	found, ok := procedures.Extract(t, a.engine.textChecks())
	if !ok {
		return nil
	}
	ns, err := a.engine.namespace(ctx, cmp.Or(t.Namespace, ragctx.DefaultNamespace), false)
	if err != nil {
		return err
	}
	confidence, _ := procedures.Confidence(t)
	extracted := store.ExtractedProcedure{
		Key: store.ProcedureKey{Namespace: ns, ProcedureOwner: ragctx.ProcedureOwner{UserID: t.UserID, AgentID: t.AgentID}},
		By:  ragctx.ByTurn,
		Run: ragctx.ProcedureRun{Turn: t.ID, Confidence: confidence, At: t.Occurred},
	}
	for range maxStoreAttempts {
		err = a.store(ctx, extracted, found)
		if code, _ := ragctx.CodeOf(err); err == nil || code != "conflict" {
			break
		}
	}
	return err
}

// store adds a turn to a similar procedure, or creates a new one.
func (a procedureExtractor) store(ctx context.Context, extracted store.ExtractedProcedure, found ragctx.NamedProcedure) error {
	known, err := a.engine.store.LatestProcedures(ctx, extracted.Key.Namespace, extracted.Key.ProcedureOwner, maxCompared)
	if err != nil {
		return err
	}
	same := slices.IndexFunc(known, func(k ragctx.NamedProcedure) bool { return procedures.Similar(k, found) })
	if extracted.Existing = same >= 0; extracted.Existing {
		extracted.Key.Name = known[same].Name
	} else {
		found, extracted.By = procedures.Reword(ctx, found, a.engine.textChecks(), a.engine.opts.FactExtraction.Model)
		extracted.Key.Name, extracted.Body = procedures.FreeName(found.Name, known), found.ProcedureBody
	}
	_, err = a.engine.store.StoreProcedure(ctx, extracted)
	return err
}

// textChecks returns the checks applied to text before it becomes a procedure.
func (e *core) textChecks() procedures.TextFilter {
	s := procedures.TextFilter{IsOrder: func(text string) bool { _, ok := redact.Instruction(text); return ok }}
	if !e.opts.KeepSecrets {
		s.Redact = func(text string) string { out, _ := memory.RedactText(text); return out }
	}
	return s
}

// redactBody returns a body with redacted secrets. It does not modify the argument's slices.
func (e *core) redactBody(b ragctx.ProcedureBody) ragctx.ProcedureBody {
	redact := e.textChecks().Redact
	if redact == nil {
		return b
	}
	b.Trigger = redact(b.Trigger)
	for _, list := range []*[]string{&b.Steps, &b.Tools, &b.Pitfalls, &b.Verification} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = redact((*list)[i])
		}
	}
	return b
}
