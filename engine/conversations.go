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
		Storage: e.Sessions().Storage(), Notes: e.Sessions().Notes(), Generator: e.opts.Summarizer, Observer: e.opts.Observer,
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
	// Before is the cursor of the previous page; 0 starts at the beginning. Limit is at most
	// 1,000; 0 is 50.
	Before int64
	Limit  int
}

// List returns a page of a namespace's stored conversations, newest first by creation, and the
// cursor of the next page (0 at the end). Their sections are not counted.
func (e Sessions) List(
	ctx context.Context, namespace string, f SessionFilter,
) ([]view.Summary, int64, error) {
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
		return nil, 0, err
	}
	list, next, err := e.storedSessions().List(ctx, namespaceName(namespace), store.SessionFilter{
		User: by.User, AnyUser: by.Anyone, Before: f.Before, Limit: cmp.Or(f.Limit, 50),
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
	has, err := session.Has(context.Background(), o.engine.storedSessions(), turnKey(t))
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

// Create implements [session.Storage].
func (c authorizedSessions) Create(
	ctx context.Context, k session.Key, a session.Archive, request string,
) (at session.Version, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return at, err
	}
	return c.stored.Create(ctx, k, a, request)
}

// Fork implements [session.Storage].
func (c authorizedSessions) Fork(
	ctx context.Context, k session.Key, f session.Fork, when session.Condition,
) (at session.Version, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return at, err
	}
	_, err = c.engine.conversationKey(ctx, session.Key{Namespace: k.Namespace, User: k.User, ID: f.ID})
	if err != nil {
		return at, err
	}
	return c.stored.Fork(ctx, k, f, when)
}

// Delete implements [session.Storage].
func (c authorizedSessions) Delete(ctx context.Context, k session.Key, when session.Condition) error {
	k, err := c.engine.conversationKey(ctx, k)
	if err != nil {
		return err
	}
	defer c.engine.conversations.Forget(func(one session.Key) bool { return one == k })
	return c.stored.Delete(ctx, k, when)
}

// Read implements [session.Storage].
func (c authorizedSessions) Read(
	ctx context.Context, k session.Key, q session.Query,
) (a session.Archive, at session.Version, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return a, at, err
	}
	return c.stored.Read(ctx, k, q)
}

// Info implements [session.Storage].
func (c authorizedSessions) Info(ctx context.Context, k session.Key) (session.Info, error) {
	k, err := c.engine.conversationKey(ctx, k)
	if err != nil {
		return session.Info{}, err
	}
	return c.stored.Info(ctx, k)
}

// Append implements [session.Storage].
func (c authorizedSessions) Append(
	ctx context.Context, k session.Key, section string, messages []ragctx.Message, when session.Condition,
) (out []ragctx.Message, at session.Version, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return nil, at, err
	}
	return c.stored.Append(ctx, k, section, messages, when)
}

// Update implements [session.Storage].
func (c authorizedSessions) Update(
	ctx context.Context, k session.Key, u session.Update, when session.Condition,
) (at session.Version, err error) {
	if k, err = c.engine.conversationKey(ctx, k); err != nil {
		return at, err
	}
	return c.stored.Update(ctx, k, u, when)
}

// Replace implements [session.Storage].
func (c authorizedSessions) Replace(
	ctx context.Context, k session.Key, at session.Version, a session.Archive,
) (session.Version, error) {
	k, err := c.engine.conversationKey(ctx, k)
	if err != nil {
		return session.Version{}, err
	}
	return c.stored.Replace(ctx, k, at, a)
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
