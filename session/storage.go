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

// MaxName is the maximum length in bytes of the id of a session or a message, the name of a
// section, and a label.
const MaxName = 512

// Key identifies a session. A session belongs to a user: keys with different users, or without a
// user, identify different sessions.
type Key struct{ Namespace, User, ID string }

// Validate reports whether the key has a valid session id.
func (k Key) Validate() error {
	if k.ID == "" {
		return ragctx.Invalid("session_id", "is empty; name the session")
	}
	return CheckName("session_id", k.ID)
}

// NotFoundError returns the error for a session that does not exist.
func (k Key) NotFoundError() error {
	problem := fmt.Sprintf("there is no session %q; create it", ragctx.Clip(k.ID))
	return &ragctx.FieldError{Field: "session_id", Problem: problem, Kind: ragctx.ErrNotFound}
}

// ExistsError returns the error for a session that already exists.
func (k Key) ExistsError() error {
	problem := fmt.Sprintf("the session %q already exists; choose another id, or delete it", ragctx.Clip(k.ID))
	return &ragctx.FieldError{Field: "session_id", Problem: problem, Kind: ragctx.ErrConflict}
}

// ChangedError returns the error for a session that was changed concurrently.
func (k Key) ChangedError() error {
	problem := fmt.Sprintf("the session %q was changed concurrently; read it again", ragctx.Clip(k.ID))
	return &ragctx.FieldError{Field: "session_id", Problem: problem, Kind: ragctx.ErrConflict}
}

// Storage stores sessions. The messages of a session form a tree: each has a parent, and a new
// message's parent is the leaf. Moving the leaf lets a user go back and continue differently
// without losing the old branch.
//
// Methods return [ragctx.ErrNotFound] for a session that does not exist. A failed call changes
// nothing. A write returns the version that it made. Implementations are safe for concurrent use;
// package session/sessiontest checks them.
//
// Fork is a method because it concerns two sessions in one transaction: the original must still
// exist, or erased messages would come back, and its erasure must reach the fork.
type Storage interface {
	// Create creates a session from an archive, whose id it ignores. It returns [ragctx.ErrConflict]
	// if the session exists, unless the same request has created it. The id of a request, "" for
	// none, is stored with the session: clients repeat a request when they cannot know whether an
	// earlier attempt succeeded. The session of an earlier attempt stays as it is now.
	Create(ctx context.Context, k Key, a Archive, request string) (Version, error)
	// Fork creates a session of the same user with a branch, its labels and the compactions of ranges
	// on it. It returns the version of the new session, whose request it treats like Create. The
	// condition is about the original.
	Fork(ctx context.Context, k Key, f Fork, when Condition) (Version, error)
	Delete(ctx context.Context, k Key, when Condition) error

	// Read returns parts of a session and its version, in one snapshot. The zero query is cheap.
	Read(ctx context.Context, k Key, q Query) (Archive, Version, error)
	// Info describes a session without reading its messages.
	Info(ctx context.Context, k Key) (Info, error)

	// Append adds messages to a section, each as the child of the preceding one. The first one's
	// parent is the leaf unless it names another; the last one becomes the leaf. Append returns the
	// messages as stored, with ids and times filled in. Exceeding the limits of this package is an
	// [ragctx.ErrTooLarge].
	Append(
		ctx context.Context, k Key, section string, messages []ragctx.Message, when Condition,
	) ([]ragctx.Message, Version, error)
	// Update changes what a session has besides its messages, all at once.
	Update(ctx context.Context, k Key, u Update, when Condition) (Version, error)
	// Replace replaces the contents of a session that is still at the version at which they were read.
	// It returns [ragctx.ErrConflict] if the session has changed. It ignores the archive's id and
	// creation time.
	Replace(ctx context.Context, k Key, at Version, a Archive) (Version, error)
}

// Fork describes a fork of a session.
type Fork struct {
	// Leaf is the last message of the branch; "" is the leaf of the session.
	Leaf string
	// ID is the id of the new session, and Request that of the request that creates it.
	ID, Request string
}

// Selection is a way to select messages of a session.
type Selection int

// Selections. The zero value selects none.
const (
	// AllMessages selects the messages of all branches in the order of their storing, and the names
	// of all sections.
	AllMessages Selection = iota + 1
	// BranchMessages selects the messages from the root to the one with the query's ID, or to the leaf
	// if it is "". If parents are missing or form a cycle, the branch begins after the break.
	BranchMessages
	// OneMessage selects the message with the query's ID.
	OneMessage
	// NewestMessages selects the newest messages of the query's Section, at most Limit; 0 means all.
	NewestMessages
)

// Query selects the parts of a session that [Storage.Read] returns besides its creation time, leaf
// and parameters.
type Query struct {
	Messages            Selection
	ID                  string
	Section             string
	Limit               int
	Labels, Compactions bool
}

// Update describes changes of [Storage.Update]. The zero value of a field changes nothing.
type Update struct {
	// Parameters are merged into the session's; a nil value removes a parameter.
	Parameters map[string]any
	// Leaf is the message that the next message follows; "" is before the first message.
	Leaf *string
	// Labels are labels by message id; "" removes a label.
	Labels map[string]string
	// RemoveCompactions are the ids of compactions to remove; missing ones are ignored. AddCompaction
	// is then stored, without changing the messages. It needs an id.
	RemoveCompactions []string
	AddCompaction     *Compaction
}

// Version identifies a state of a session. Changes counts the changes of the session; a session
// recreated after deletion has another Session number. Salt is a secret of the session.
type Version struct {
	Session, Changes int64
	Salt             string
}

// Next returns the version after one more change.
func (v Version) Next() Version { return Version{v.Session, v.Changes + 1, v.Salt} }

// Info describes a session.
type Info struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is the time of the last change.
	UpdatedAt time.Time `json:"updated_at"`
	Version   Version   `json:"-"`
	Leaf      string    `json:"leaf,omitempty"`
	// Sections are in order. Messages is the total number of messages, and Bytes their approximate
	// size.
	Sections   []SectionInfo  `json:"sections"`
	Messages   int            `json:"messages"`
	Bytes      int64          `json:"bytes"`
	Parameters map[string]any `json:"parameters,omitempty"`
	// Branches is the number of messages without children.
	Branches    int `json:"branches"`
	Labels      int `json:"labels"`
	Compactions int `json:"compactions"`
}

// SectionInfo is the size of a section.
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

// StoreOf returns a store with the entries in order.
func StoreOf(entries []Entry) Store { return storeOf(nil, entries) }

// storeOf returns a store with the entries, and with sections of these names first.
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

// Compaction records that a range of messages is shown as a summary.
type Compaction struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	// From and To are the ids of the first and last message of the range, if it covers any.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Record is the compactor's own data, as JSON.
	Record json.RawMessage `json:"record,omitempty"`
}

// Result reports the outcome of saving a session.
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
	Version        Version   `json:"-"`
}

// Options configure a [Storage].
type Options struct {
	Now   func() time.Time // default: the system clock
	NewID func() string    // ids of messages and records; default: random UUIDs
}

// WithDefaults returns the options with defaults filled in.
func (o Options) WithDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return o
}

// Prepare completes messages for appending after a parent: it fills in ids and times, and makes
// each the parent of the next. known reports whether a message id exists: new ids must be unknown,
// and explicit parents known.
func (o Options) Prepare(messages []ragctx.Message, parent string, known func(id string) bool) ([]ragctx.Message, error) {
	if err := checkAppend(messages); err != nil {
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
			return nil, ragctx.Invalid(field+".parent_id", "no message has the id %q; name one of the session, or none for the newest",
				ragctx.Clip(m.ParentID))
		}
		if err := o.complete(m, field, func(id string) bool { return taken[id] || known(id) }); err != nil {
			return nil, err
		}
		taken[m.ID], parent = true, m.ID
	}
	return out, nil
}

// CompleteCompaction returns a compaction with its id and time filled in.
func (o Options) CompleteCompaction(c Compaction) Compaction {
	o = o.WithDefaults()
	if c.ID == "" {
		c.ID = o.NewID()
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = o.Now().UTC()
	}
	return c
}

// CheckCompaction reports whether a compaction can be added to others. taken reports whether a
// compaction has an id, and known whether a message exists.
func CheckCompaction(c Compaction, others CompactionSize, taken, known func(id string) bool) error {
	others.Number++
	others.Bytes += int64(len(c.Record))
	if err := others.check(); err != nil {
		return err
	}
	for _, end := range []struct{ field, id string }{{"from", c.From}, {"to", c.To}} {
		if end.id != "" && !known(end.id) {
			return ragctx.Invalid(end.field, "no message has the id %q; name one of the session", ragctx.Clip(end.id))
		}
	}
	switch {
	case len(c.Record) > 0 && !json.Valid(c.Record):
		return ragctx.Invalid("record", "is not JSON; send an object")
	case c.ID == "":
		return ragctx.Invalid("id", "is empty; give each compaction an id")
	case taken(c.ID):
		problem := fmt.Sprintf("another compaction has the id %q; give each its own", ragctx.Clip(c.ID))
		return &ragctx.FieldError{Field: "id", Problem: problem, Kind: ragctx.ErrConflict}
	}
	return CheckName("id", c.ID)
}

// complete checks a message and fills in its id and time.
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
		problem := fmt.Sprintf("another message has the id %q; give each its own, or none", ragctx.Clip(m.ID))
		return &ragctx.FieldError{Field: field + ".id", Problem: problem, Kind: ragctx.ErrConflict}
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = o.Now().UTC()
	}
	return nil
}

// CheckName returns an error unless a name or an id is valid UTF-8 of at most [MaxName] bytes.
func CheckName(field, name string) error {
	switch {
	case len(name) > MaxName:
		return ragctx.Invalid(field, "has %d bytes, the limit is %d; shorten it", len(name), MaxName)
	case !utf8.ValidString(name):
		return ragctx.Invalid(field, "is not valid UTF-8; encode it as UTF-8")
	}
	return nil
}
