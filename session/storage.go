package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
)

// MaxName is how many bytes the id of a session or a message, the name of a section and a
// label may have.
const MaxName = 512

// Key names a session. A session is its user's: keys of different users, or of none, name
// different sessions.
type Key struct{ Namespace, User, ID string }

// Validate reports whether the key names something.
func (k Key) Validate() error {
	if k.ID == "" {
		return ragctx.Invalid("session_id", "is empty; name the session")
	}
	return CheckName("session_id", k.ID)
}

// Missing is the error that there is no such session.
func (k Key) Missing() error {
	return &ragctx.FieldError{Field: "session_id", Problem: fmt.Sprintf("there is no session %q; create it", ragctx.Clip(k.ID)), Kind: ragctx.ErrNotFound}
}

// Taken is the error that there is such a session already.
func (k Key) Taken() error {
	return &ragctx.FieldError{Field: "session_id", Problem: fmt.Sprintf("there is a session %q already; choose another id, or delete it", ragctx.Clip(k.ID)), Kind: ragctx.ErrConflict}
}

// Changed is the error that the session is not as it was.
func (k Key) Changed() error {
	return &ragctx.FieldError{Field: "session_id", Problem: fmt.Sprintf("the session %q was changed meanwhile; read it again", ragctx.Clip(k.ID)), Kind: ragctx.ErrConflict}
}

// Storage keeps sessions. Messages of a session are a tree: each has a parent, and the
// next one's parent is the leaf, which can be moved. So one can go back and say something
// else, and what was said before stays.
//
// Sessions that are not there are [ragctx.ErrNotFound] errors, but for Has and Save. What
// is refused changes nothing. What changes a session that is there obeys the condition of
// its context, see [If], and what makes one its request, see
// [Once]; either tells the version that it made, see [Noting]. Implementations may be used concurrently; package
// session/sessiontest checks them.
type Storage interface {
	// Create makes an empty session. It is an [ragctx.ErrConflict] if there is one.
	Create(ctx context.Context, k Key) error
	Has(ctx context.Context, k Key) (bool, error)
	// Load returns all messages of all branches in their sections.
	Load(ctx context.Context, k Key) (Store, error)
	// Save puts a store in the place of all that a session has, or makes the session.
	// Messages without an id get one. If none has a parent, each gets the one before it.
	// The leaf stays where it is if its message does, and is the last one otherwise;
	// labels of messages that are gone go with them, and so do compactions of ranges that
	// are not as they were: one that has other messages, or says something else, would
	// be hidden behind a summary that knows nothing of it. So do those that name as pruned
	// (the "message_id" of each of "pruned" in the record) what is not as it was.
	Save(ctx context.Context, k Key, s Store) (Result, error)
	// Replace is Save of a session that is still as it was at a version. It makes none, and
	// one that was changed since is an [ragctx.ErrConflict].
	Replace(ctx context.Context, k Key, at Version, s Store) (Result, error)
	Delete(ctx context.Context, k Key) error

	// Version tells the states of a session apart. It costs one look-up.
	Version(ctx context.Context, k Key) (Version, error)
	// Info returns what a session is, without reading its messages.
	Info(ctx context.Context, k Key) (Info, error)
	// Annotate lays parameters over those of a session; nil takes one away.
	Annotate(ctx context.Context, k Key, parameters map[string]any) error

	// Append adds messages to a section, each after the one before it. The first one's
	// parent is the leaf unless it names another; the last one is the leaf then. It
	// returns them as they are kept, with ids and times where they had none. What is more
	// than the limits of this package is an [ragctx.ErrTooLarge].
	Append(ctx context.Context, k Key, section string, messages ...ragctx.Message) ([]ragctx.Message, error)
	Get(ctx context.Context, k Key, id string) (Entry, error)
	// Section returns the newest messages of a section in order, at most limit; 0 is all.
	Section(ctx context.Context, k Key, name string, limit int) ([]ragctx.Message, error)

	// Leaf returns the id of the message that the next one comes after; "" is none.
	Leaf(ctx context.Context, k Key) (string, error)
	// Navigate moves the leaf to a message, or with "" before the first one.
	Navigate(ctx context.Context, k Key, id string) error
	// Path returns the messages from the first one to the one named, or to the leaf if
	// none is. Where parents form a circle or are missing it begins after the break.
	Path(ctx context.Context, k Key, id string) ([]Entry, error)
	// Fork makes the session "to" of the same user with the path to a message, its
	// labels, and the compactions of what is on it.
	Fork(ctx context.Context, k Key, id, to string) error

	// Label names a message; "" takes the name away.
	Label(ctx context.Context, k Key, id, label string) error
	// Labels returns the labels by the ids of their messages.
	Labels(ctx context.Context, k Key) (map[string]string, error)

	// AddCompaction keeps a record beside the messages, which stay as they are, and removes
	// those of the ids in spent that there are. It returns the record with its id and time.
	AddCompaction(ctx context.Context, k Key, c Compaction, spent ...string) (Compaction, error)
	// Compactions returns the records, oldest first.
	Compactions(ctx context.Context, k Key) ([]Compaction, error)
	// UndoCompaction removes the newest record and returns it.
	UndoCompaction(ctx context.Context, k Key) (Compaction, error)

	// Export returns all that a session has.
	Export(ctx context.Context, k Key) (Archive, error)
	// Import makes a session of an archive, whose id does not matter. It is an
	// [ragctx.ErrConflict] if there is one.
	Import(ctx context.Context, k Key, a Archive) error
}

// Version is a state of a session. Every change of a session is counted, and one that is
// made again after it was deleted is another session. Salt is a secret of the session.
type Version struct {
	Session, Changes int64
	Salt             string
}

// Next returns the version after one change.
func (v Version) Next() Version { return Version{v.Session, v.Changes + 1, v.Salt} }

// Info is what a session is.
type Info struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when it was changed last.
	UpdatedAt time.Time `json:"updated_at"`
	Version   Version   `json:"-"`
	Leaf      string    `json:"leaf,omitempty"`
	// Sections are in order; Messages is how many all of them have, and Bytes about how
	// large these are.
	Sections   []SectionInfo  `json:"sections"`
	Messages   int            `json:"messages"`
	Bytes      int64          `json:"bytes"`
	Parameters map[string]any `json:"parameters,omitempty"`
	// Branches is how many messages nothing comes after.
	Branches    int `json:"branches"`
	Labels      int `json:"labels"`
	Compactions int `json:"compactions"`
}

// SectionInfo is how many messages a section has.
type SectionInfo struct {
	Name     string `json:"name"`
	Messages int    `json:"messages"`
}

// Entry is a message with its section.
type Entry struct {
	Section string
	Message ragctx.Message
}

// EntriesOf returns messages as entries of a section.
func EntriesOf(section string, messages []ragctx.Message) []Entry {
	out := make([]Entry, len(messages))
	for i, m := range messages {
		out[i] = Entry{section, m}
	}
	return out
}

// StoreOf returns a store of entries, in their order.
func StoreOf(entries []Entry) Store { return storeOf(nil, entries) }

// storeOf returns a store of entries whose first sections have these names.
func storeOf(names []string, entries []Entry) Store {
	var all []Section
	at := make(map[string]int, len(names))
	place := func(name string) int {
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name], all = i, append(all, Section{Name: name})
		}
		return i
	}
	for _, name := range names {
		place(name)
	}
	for _, e := range entries {
		one := &all[place(e.Section)]
		one.Messages = append(one.Messages, e.Message)
	}
	s := Store{sections: make([]section, len(all))}
	for i, one := range all {
		s.sections[i] = section{one.Name, logOf(one.Messages)}
	}
	return s
}

// Compaction is a record that a range of messages is shown as a summary.
type Compaction struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	// From and To are the ids of the first and the last message that it is about, if it
	// is about any.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Record is what whoever compacts makes of it, as JSON.
	Record json.RawMessage `json:"record,omitempty"`
}

// Result tells what saving a session did.
type Result struct {
	SessionID      string    `json:"sessionId"`
	Success        bool      `json:"success"`
	StartedAt      time.Time `json:"startedAt"`
	FinishedAt     time.Time `json:"finishedAt"`
	DurationMs     int64     `json:"durationMs"`
	SectionsStored int       `json:"sectionsStored"`
	MessagesStored int       `json:"messagesStored"`
	NewMessages    int       `json:"newMessages"`
	ErrorMessage   string    `json:"errorMessage,omitempty"`
}

// Options are those of a [Storage].
type Options struct {
	Now   func() time.Time // nil is the clock
	NewID func() string    // ids of messages and records; nil is random UUIDs
}

// Or returns the options with what is missing.
func (o Options) Or() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return o
}

// Saved calls save, which saves a session and says what the session is then and how many
// messages are new, and tells what came of it.
func (o Options) Saved(k Key, save func(started time.Time) (after Archive, added int, err error)) (Result, error) {
	o = o.Or()
	r := Result{SessionID: k.ID, StartedAt: o.Now().UTC()}
	after, added, err := save(r.StartedAt)
	if r.Success = err == nil; r.Success {
		r.SectionsStored, r.MessagesStored, r.NewMessages = len(after.Sections), len(after.Entries), added
	} else {
		r.ErrorMessage = err.Error()
	}
	r.FinishedAt = o.Now().UTC()
	r.DurationMs = r.FinishedAt.Sub(r.StartedAt).Milliseconds()
	return r, err
}

// Adopt returns messages as they are appended after a parent: with ids and times where
// they have none, each the parent of the next. known says which messages there are
// already, of which an id may not be taken again, and of which a parent must be one.
func (o Options) Adopt(messages []ragctx.Message, parent string, known func(id string) bool) ([]ragctx.Message, error) {
	if err := CheckAppend(messages); err != nil {
		return nil, err
	}
	out := slices.Clone(messages)
	taken := make(map[string]bool, len(out))
	for i := range out {
		m := &out[i]
		field := fmt.Sprintf("messages[%d]", i)
		if m.ParentID == "" {
			m.ParentID = parent
		}
		if m.ParentID != parent && !known(m.ParentID) && !taken[m.ParentID] {
			return nil, ragctx.Invalid(field+".parent_id", "no message has the id %q; name one of the session, or none for the newest", ragctx.Clip(m.ParentID))
		}
		if err := o.complete(m, field, func(id string) bool { return taken[id] || known(id) }); err != nil {
			return nil, err
		}
		taken[m.ID], parent = true, m.ID
	}
	return out, nil
}

// Record returns a compaction as it is added to others: with id and time where it has
// none. taken says which ids they have, and known which messages there are.
func (o Options) Record(c Compaction, others Records, taken, known func(id string) bool) (Compaction, error) {
	others.Number++
	others.Bytes += int64(len(c.Record))
	if err := others.check(); err != nil {
		return c, err
	}
	for _, end := range []struct{ field, id string }{{"from", c.From}, {"to", c.To}} {
		if end.id != "" && !known(end.id) {
			return c, ragctx.Invalid(end.field, "no message has the id %q; name one of the session", ragctx.Clip(end.id))
		}
	}
	if len(c.Record) > 0 && !json.Valid(c.Record) {
		return c, ragctx.Invalid("record", "is not JSON; send an object")
	}
	if c.ID == "" {
		c.ID = o.NewID()
	}
	if taken(c.ID) {
		return c, &ragctx.FieldError{Field: "id", Problem: fmt.Sprintf("another compaction has the id %q; give each its own, or none", ragctx.Clip(c.ID)), Kind: ragctx.ErrConflict}
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = o.Now().UTC()
	}
	return c, CheckName("id", c.ID)
}

// complete checks a message, and gives it an id and a time if it has none.
func (o Options) complete(m *ragctx.Message, field string, taken func(id string) bool) error {
	role, err := ragctx.ParseRole(string(m.Role))
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	m.Role = role
	if m.ID == "" {
		m.ID = o.NewID()
	}
	if err := CheckName(field+".id", m.ID); err != nil {
		return err
	}
	if taken(m.ID) {
		return &ragctx.FieldError{Field: field + ".id", Problem: fmt.Sprintf("another message has the id %q; give each its own, or none", ragctx.Clip(m.ID)), Kind: ragctx.ErrConflict}
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = o.Now().UTC()
	}
	return nil
}

// CheckName reports whether a name or an id is UTF-8 of at most [MaxName] bytes.
func CheckName(field, name string) error {
	switch {
	case len(name) > MaxName:
		return ragctx.Invalid(field, "has %d bytes, the limit is %d; shorten it", len(name), MaxName)
	case !utf8.ValidString(name):
		return ragctx.Invalid(field, "is not UTF-8; encode it so")
	}
	return nil
}
