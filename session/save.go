package session

import (
	"context"
	"errors"

	"github.com/ragctx/ragctx"
)

// Export returns the complete contents of a session and its version.
func Export(ctx context.Context, s Storage, k Key) (Archive, Version, error) {
	a, at, err := s.Read(ctx, k, Query{Messages: AllMessages, Labels: true, Compactions: true})
	a.ID = k.ID
	return a, at, err
}

// Has reports whether a session exists.
func Has(ctx context.Context, s Storage, k Key) (bool, error) {
	_, _, err := s.Read(ctx, k, Query{})
	if errors.Is(err, ragctx.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Path returns the messages from the root of a session to the one with the id, or to the leaf if id
// is "".
func Path(ctx context.Context, s Storage, k Key, id string) ([]Entry, error) {
	a, _, err := s.Read(ctx, k, Query{Messages: BranchMessages, ID: id})
	return a.Entries, err
}

// A save begins anew when another client changes the session in between. Of a session with more
// messages or bytes than these, it gives up after some attempts, because each reads all of it.
const (
	saveAttempts  = 3
	smallMessages = 1000
	smallBytes    = 1 << 20
)

// Save replaces the contents of a session by a store, or creates the session. Messages without an id
// get one. If no message has a parent, each gets the preceding one as parent. The leaf stays if its
// message still exists, and otherwise becomes the last message. Labels of removed messages are
// removed. Compactions of changed ranges are removed, because their summary would hide messages that
// it does not cover. So are compactions that prune outputs of changed messages (the "message_id" of
// each of "pruned" in the record). A large session that others keep changing is an
// [ragctx.ErrConflict].
func Save(ctx context.Context, s Storage, k Key, messages Store, when Condition, o Options) (Result, error) {
	o = o.WithDefaults()
	r := Result{SessionID: k.ID, StartedAt: o.Now().UTC()}
	w := saving{storage: s, key: k, messages: messages, when: when, options: o}
	err := w.run(ctx)
	if r.Success = err == nil; r.Success {
		r.SectionsStored, r.MessagesStored, r.NewMessages = len(w.after.Sections), len(w.after.Entries), w.added
		r.Version = w.version
	} else {
		r.ErrorMessage = err.Error()
	}
	r.FinishedAt = o.Now().UTC()
	r.DurationMs = r.FinishedAt.Sub(r.StartedAt).Milliseconds()
	return r, err
}

// saving is a save in progress.
type saving struct {
	storage  Storage
	key      Key
	messages Store
	when     Condition
	options  Options

	before, after Archive
	added         int
	version       Version
}

// run saves, and begins anew as long as the session changes in between.
func (w *saving) run(ctx context.Context) error {
	for try := 1; ; try++ {
		exists, err := w.prepare(ctx)
		if err != nil {
			return err
		}
		if exists {
			w.version, err = w.storage.Replace(ctx, w.key, w.version, w.after)
		} else {
			w.version, err = w.storage.Create(ctx, w.key, w.after, "")
		}
		switch changed := errors.Is(err, ragctx.ErrConflict) || exists && errors.Is(err, ragctx.ErrNotFound); {
		case !changed:
			return err
		case try >= saveAttempts && !(w.before.isSmall() && w.after.isSmall()):
			return w.key.ChangedError()
		}
	}
}

// prepare reads the session and computes its new contents.
func (w *saving) prepare(ctx context.Context) (exists bool, err error) {
	w.before, w.version, err = Export(ctx, w.storage, w.key)
	switch exists = err == nil; {
	case exists:
		err = w.when.Check(w.key, &w.version)
	case errors.Is(err, ragctx.ErrNotFound):
		w.before, err = Archive{}, w.when.Check(w.key, nil)
	}
	if err == nil {
		w.after, w.added, err = w.before.Replaced(ctx, w.messages, w.options)
	}
	return exists, err
}

// isSmall reports whether an archive can be read again and again.
func (a Archive) isSmall() bool {
	size, err := Size{}.Add(a.Entries)
	return err == nil && size.Messages <= smallMessages && size.Bytes <= smallBytes
}
