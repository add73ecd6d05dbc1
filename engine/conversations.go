package engine

import (
	"cmp"
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// openConversations creates the service for the stored conversations of the data directory.
func (e *core) openConversations() (err error) {
	e.conversations, err = view.New(view.Options{
		Storage: e.Sessions().Storage(), Notes: e.Sessions().Notes(), Generator: e.opts.Summarizer,
		Settings: e.opts.Conversation, Stages: e.opts.Stages,
		Admit: e.conversationKey, Publish: e.publishForSession, Logger: e.opts.Logger, Now: e.opts.Now, NewID: e.opts.NewID,
	})
	return err
}

// Views returns the service that compiles views of stored conversations for models. Keys
// are completed as in [Sessions.Storage].
func (e Sessions) Views() *view.Service { return e.conversations }

// publishForSession publishes events of a session.
func (e *core) publishForSession(ctx context.Context, k session.Key, events ...ragctx.Event) {
	for _, ev := range events {
		ev.Namespace, ev.UserID, ev.SessionID = k.Namespace, k.User, k.ID
		e.publish(ctx, ev)
	}
}

// SessionFilter selects the sessions to list.
type SessionFilter struct {
	// UserID is the owner of the sessions; "" selects sessions without a user. AnyUser lists the
	// sessions of all users and needs the role admin.
	UserID  string
	AnyUser bool
	// After is the cursor of the previous page; nil starts at the beginning. Limit is at most
	// 1,000; 0 is 50.
	After *store.SessionCursor
	Limit int
}

// List returns a page of a namespace's stored conversations, most recently changed first,
// and the cursor of the next page (nil at the end). Their sections are not counted.
func (e Sessions) List(
	ctx context.Context, namespace string, f SessionFilter,
) ([]view.Summary, *store.SessionCursor, error) {
	by, err := canRead(ctx, Viewer{f.UserID, f.AnyUser})
	if err == nil && by.Anyone {
		err = access.From(ctx).RequireAllUsers()
	}
	if err == nil {
		err = canEnter(ctx, namespace)
	}
	if err == nil && (f.Limit < 0 || f.Limit > 1000) {
		err = ragctx.Invalid("limit", "is %d; use 1 to 1000", f.Limit)
	}
	if err != nil {
		return nil, nil, err
	}
	list, next, err := e.storedSessions().List(ctx, namespaceName(namespace), store.SessionFilter{
		User: by.User, AnyUser: by.Anyone, After: f.After, Limit: cmp.Or(f.Limit, 50),
	})
	out := make([]view.Summary, len(list))
	for i, one := range list {
		out[i] = view.SummaryOf(session.Key{Namespace: namespaceName(namespace), User: one.User, ID: one.ID}, one.Info)
	}
	return out, next, err
}

// observeTimeout bounds the observation of a turn: the model may be called twice.
const observeTimeout = 2*stage.DefaultObserverTimeout + deliveryTimeout

// conversationObserver writes observations of turns of stored conversations.
type conversationObserver struct{ engine *core }

// observes reports whether a turn belongs to a stored conversation.
func (o conversationObserver) observes(t ragctx.Turn) bool {
	if o.engine.opts.Conversation.Observation.Disabled {
		return false
	}
	has, err := o.engine.storedSessions().Has(context.Background(), turnKey(t))
	return has && err == nil
}

// OnTurnComplete implements [ragctx.TurnObserver].
func (o conversationObserver) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	_, err := o.engine.conversations.Observe(ctx, turnKey(t))
	if isNotFound(err) {
		return nil // the conversation was erased
	}
	return err
}

// turnKey returns the key of a turn's conversation.
func turnKey(t ragctx.Turn) session.Key {
	return session.Key{Namespace: namespaceName(t.Namespace), User: t.UserID, ID: t.SessionID}
}

func (e *core) storedSessions() store.Sessions {
	return e.store.Sessions(session.Options{Now: e.opts.Now, NewID: e.opts.NewID})
}

// Storage returns the storage of the conversations in the data directory. It completes keys by the
// default namespace and the user that the grant of a call's context acts for.
// [Sessions.Erase], [Admin.EraseUser] and [Admin.EraseNamespace] erase conversations.
func (e Sessions) Storage() session.Storage {
	return authorizedSessions{e.core, e.storedSessions()}
}

// Notes returns the observations of the stored conversations. Their scopes are completed like keys
// of [Sessions.Storage].
func (e Sessions) Notes() stage.Notes { return authorizedNotes{e.core, e.store.Notes()} }

// authorizedSessions is a storage that completes and authorizes the keys of its calls.
type authorizedSessions struct {
	engine *core
	stored store.Sessions
}

// conversationKey completes and authorizes a key.
func (e *core) conversationKey(ctx context.Context, k session.Key) (session.Key, error) {
	of, err := e.completeSessionKey(ctx, SessionKey{k.Namespace, k.User, k.ID})
	if err == nil {
		err = ragctx.ValidName("namespace", of.Namespace)
	}
	return session.Key{Namespace: of.Namespace, User: of.UserID, ID: of.SessionID}, err
}

// withKey calls fn with the completed key.
func withKey[T any](
	ctx context.Context, c authorizedSessions, k session.Key, fn func(context.Context, session.Key) (T, error),
) (out T, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return out, err
	}
	return fn(ctx, k)
}

// changeWithKey is withKey for functions without a result.
func (c authorizedSessions) changeWithKey(ctx context.Context, k session.Key, fn func(session.Key) error) error {
	_, err := withKey(ctx, c, k, func(_ context.Context, k session.Key) (struct{}, error) { return struct{}{}, fn(k) })
	return err
}

func (c authorizedSessions) Create(ctx context.Context, k session.Key) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error { return c.stored.Create(ctx, k) })
}

func (c authorizedSessions) Has(ctx context.Context, k session.Key) (bool, error) {
	return withKey(ctx, c, k, c.stored.Has)
}

func (c authorizedSessions) Load(ctx context.Context, k session.Key) (session.Store, error) {
	return withKey(ctx, c, k, c.stored.Load)
}

func (c authorizedSessions) Save(ctx context.Context, k session.Key, s session.Store) (session.Result, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) (session.Result, error) {
		return c.stored.Save(ctx, k, s)
	})
}

func (c authorizedSessions) Replace(
	ctx context.Context, k session.Key, at session.Version, s session.Store,
) (session.Result, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) (session.Result, error) {
		return c.stored.Replace(ctx, k, at, s)
	})
}

func (c authorizedSessions) Delete(ctx context.Context, k session.Key) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error {
		defer c.engine.conversations.Forget(func(one session.Key) bool { return one == k })
		return c.stored.Delete(ctx, k)
	})
}

func (c authorizedSessions) Version(ctx context.Context, k session.Key) (session.Version, error) {
	return withKey(ctx, c, k, c.stored.Version)
}

func (c authorizedSessions) Info(ctx context.Context, k session.Key) (session.Info, error) {
	return withKey(ctx, c, k, c.stored.Info)
}

func (c authorizedSessions) Annotate(ctx context.Context, k session.Key, parameters map[string]any) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error { return c.stored.Annotate(ctx, k, parameters) })
}

func (c authorizedSessions) Append(
	ctx context.Context, k session.Key, section string, messages ...ragctx.Message,
) ([]ragctx.Message, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) ([]ragctx.Message, error) {
		return c.stored.Append(ctx, k, section, messages...)
	})
}

func (c authorizedSessions) Get(ctx context.Context, k session.Key, id string) (session.Entry, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) (session.Entry, error) {
		return c.stored.Get(ctx, k, id)
	})
}

func (c authorizedSessions) Section(
	ctx context.Context, k session.Key, name string, limit int,
) ([]ragctx.Message, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) ([]ragctx.Message, error) {
		return c.stored.Section(ctx, k, name, limit)
	})
}

func (c authorizedSessions) Leaf(ctx context.Context, k session.Key) (string, error) {
	return withKey(ctx, c, k, c.stored.Leaf)
}

func (c authorizedSessions) Navigate(ctx context.Context, k session.Key, id string) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error { return c.stored.Navigate(ctx, k, id) })
}

func (c authorizedSessions) Path(ctx context.Context, k session.Key, id string) ([]session.Entry, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) ([]session.Entry, error) {
		return c.stored.Path(ctx, k, id)
	})
}

func (c authorizedSessions) Fork(ctx context.Context, k session.Key, id, to string) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error {
		target, err := c.engine.conversationKey(ctx, session.Key{Namespace: k.Namespace, User: k.User, ID: to})
		if err != nil {
			return err
		}
		return c.stored.Fork(ctx, k, id, target.ID)
	})
}

func (c authorizedSessions) Label(ctx context.Context, k session.Key, id, label string) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error { return c.stored.Label(ctx, k, id, label) })
}

func (c authorizedSessions) Labels(ctx context.Context, k session.Key) (map[string]string, error) {
	return withKey(ctx, c, k, c.stored.Labels)
}

func (c authorizedSessions) AddCompaction(
	ctx context.Context, k session.Key, one session.Compaction, spent ...string,
) (session.Compaction, error) {
	return withKey(ctx, c, k, func(ctx context.Context, k session.Key) (session.Compaction, error) {
		return c.stored.AddCompaction(ctx, k, one, spent...)
	})
}

func (c authorizedSessions) Compactions(ctx context.Context, k session.Key) ([]session.Compaction, error) {
	return withKey(ctx, c, k, c.stored.Compactions)
}

func (c authorizedSessions) UndoCompaction(ctx context.Context, k session.Key) (session.Compaction, error) {
	return withKey(ctx, c, k, c.stored.UndoCompaction)
}

func (c authorizedSessions) Export(ctx context.Context, k session.Key) (session.Archive, error) {
	return withKey(ctx, c, k, c.stored.Export)
}

func (c authorizedSessions) Import(ctx context.Context, k session.Key, a session.Archive) error {
	return c.changeWithKey(ctx, k, func(k session.Key) error { return c.stored.Import(ctx, k, a) })
}

// authorizedNotes completes and authorizes the scopes of observations.
type authorizedNotes struct {
	engine *core
	stored stage.Notes
}

func (n authorizedNotes) scope(ctx context.Context, of stage.Scope) (stage.Scope, error) {
	k, err := n.engine.conversationKey(ctx, session.Key{Namespace: of.Namespace, User: of.UserID, ID: of.SessionID})
	return stage.Scope{Namespace: k.Namespace, UserID: k.User, SessionID: k.ID}, err
}

func (n authorizedNotes) Notes(ctx context.Context, of stage.Scope) ([]stage.Note, error) {
	of, err := n.scope(ctx, of)
	if err != nil {
		return nil, err
	}
	return n.stored.Notes(ctx, of)
}

func (n authorizedNotes) AddNote(ctx context.Context, of stage.Scope, one stage.Note) error {
	of, err := n.scope(ctx, of)
	if err != nil {
		return err
	}
	return n.stored.AddNote(ctx, of, one)
}
