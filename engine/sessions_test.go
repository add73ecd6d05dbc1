package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/resolve"
	convo "github.com/ragctx/ragctx/session"
)

// desk is a provider that returns its name and remembers its delivered turns.
type desk struct {
	name string
	mode ragctx.FailureMode
	err  error

	mu   sync.Mutex
	told []string
}

func (d *desk) Name() string                    { return d.name }
func (d *desk) FailureMode() ragctx.FailureMode { return d.mode }

func (d *desk) Query(context.Context, ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	r.Add(ragctx.ContextItem{ID: d.name + "-1", Content: "from " + d.name, Relevance: 0.9, Source: d.name})
	return r, d.err
}

func (d *desk) OnTurnComplete(_ context.Context, t ragctx.Turn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, t.ID)
	return nil
}

func (d *desk) heard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.told, " ")
}

func registered(p ragctx.ContextProvider) resolve.Registered { return resolve.Registered{Provider: p} }

func session(user, id string) engine.SessionKey {
	return engine.SessionKey{UserID: user, SessionID: id}
}

// askedIn returns the names of the providers of a session that answered a question.
func (f *fixture) askedIn(user, session string) string {
	f.t.Helper()
	q := query("anything").WithSessionID(session)
	q.UserID = user
	a, err := f.Context(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, it := range a.Items {
		names = append(names, it.Provider)
	}
	return strings.Join(names, " ")
}

func (f *fixture) listed(k engine.SessionKey) string {
	f.t.Helper()
	list, err := f.Sessions().Providers(f.t.Context(), k)
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		if !p.Available {
			p.Name += "!"
		}
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// TestSessionProviders: a session is asked only for the providers that it added; those offered by name
// survive a restart. Removing one that is not added returns false.
func TestSessionProviders(t *testing.T) {
	crm, wiki, mine := &desk{name: "crm"}, &desk{name: "wiki"}, &desk{name: "mine"}
	f := open(t, func(o *engine.Options) {
		o.SessionProviders = []resolve.Registered{registered(crm), registered(wiki)}
	})
	ctx := t.Context()
	if _, err := f.Sessions().Providers(ctx, session("", "s1")); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a session that nobody knows: %v", err)
	}
	if _, err := f.Sessions().RemoveProvider(ctx, session("", "s1"), "crm"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a session that nobody knows: %v", err)
	}
	for i, want := range []bool{true, false} {
		if added, err := f.Sessions().UseProvider(ctx, session("", "s1"), "crm"); err != nil || added != want {
			t.Errorf("adding %d: %v, %v", i, added, err)
		}
	}
	if _, err := f.Sessions().UseProvider(ctx, session("", "s1"), "erp"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("a provider that is not offered: %v", err)
	}
	if _, err := f.Sessions().UseProvider(ctx, session("", ""), "crm"); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("no session: %v", err)
	}
	if _, err := f.Sessions().UseProvider(ctx, session("ann", "s1"), "wiki"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sessions().AddProvider(ctx, session("", "s1"), registered(mine)); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{"mine", "crm", "docs"} {
		if err := f.Sessions().AddProvider(ctx, session("", "s1"), registered(&desk{name: taken})); !errors.Is(err, ragctx.ErrConflict) {
			t.Errorf("a second %s: %v", taken, err)
		}
	}
	for _, c := range []struct{ user, session, want string }{
		{"", "s1", "crm mine"}, {"ann", "s1", "wiki"}, {"ben", "s1", ""}, {"", "s2", ""}, {"", "", ""},
	} {
		if got := f.askedIn(c.user, c.session); got != c.want {
			t.Errorf("user %q, session %q: %q, want %q", c.user, c.session, got, c.want)
		}
	}

	for _, c := range []struct {
		name string
		want bool
	}{{"mine", true}, {"mine", false}, {"erp", false}, {"docs", false}} {
		if removed, err := f.Sessions().RemoveProvider(ctx, session("", "s1"), c.name); err != nil || removed != c.want {
			t.Errorf("removing %s: %v, %v", c.name, removed, err)
		}
	}
	f.reopen()
	if got := f.askedIn("", "s1"); got != "crm" {
		t.Errorf("after a restart: %q", got)
	}
	if removed, err := f.Sessions().RemoveProvider(ctx, session("", "s1"), "crm"); err != nil || !removed {
		t.Errorf("%v, %v", removed, err)
	}
	if removed, err := f.Sessions().RemoveProvider(ctx, session("", "s1"), "crm"); err != nil || removed {
		t.Errorf("again: %v, %v", removed, err)
	}
	if got := f.listed(session("", "s1")); got != "" {
		t.Errorf("left: %q", got)
	}

	f.opts.SessionProviders = nil
	f.reopen()
	if got := f.listed(session("ann", "s1")); got != "wiki!" {
		t.Errorf("what is not offered any more is listed as %q", got)
	}
	if got := f.askedIn("ann", "s1"); got != "" {
		t.Errorf("and asked: %q", got)
	}
}

// TestSessionProvidersHear: turns are delivered to the providers of their session.
func TestSessionProvidersHear(t *testing.T) {
	crm, mine := &desk{name: "crm"}, &desk{name: "mine"}
	f := open(t, func(o *engine.Options) { o.SessionProviders = []resolve.Registered{registered(crm)} })
	if _, err := f.Sessions().UseProvider(t.Context(), session("ann", "s1"), "crm"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sessions().AddProvider(t.Context(), session("ann", "s2"), registered(mine)); err != nil {
		t.Fatal(err)
	}
	f.tell("t1", "ann", "s1", "hello")
	f.tell("t2", "ann", "s2", "hello again")
	f.tell("t3", "ben", "s1", "and me")
	if crm.heard() != "t1" || mine.heard() != "t2" {
		t.Errorf("crm heard of %q, mine of %q", crm.heard(), mine.heard())
	}
	if got := f.listed(session("ben", "s1")); got != "" {
		t.Errorf("a session that had a turn has %q", got)
	}
}

// TestSessionProviderFailsClosed: the mode of a provider of a session counts in that
// session alone.
func TestSessionProviderFailsClosed(t *testing.T) {
	f := open(t, func(o *engine.Options) {
		o.SessionProviders = []resolve.Registered{registered(&desk{name: "crm", mode: ragctx.FailClosed, err: errors.New("down")})}
	})
	if _, err := f.Sessions().UseProvider(t.Context(), session("", "s1"), "crm"); err != nil {
		t.Fatal(err)
	}
	_, err := f.Context(t.Context(), query("q").WithSessionID("s1"))
	if !errors.Is(err, ragctx.ErrProvider) || !strings.Contains(err.Error(), "'crm' failed closed") {
		t.Errorf("error %v", err)
	}
	if _, err := f.Context(t.Context(), query("q").WithSessionID("s2")); err != nil {
		t.Error(err)
	}
}

// TestErasedSessionForgets: a session's providers are removed with it.
func TestErasedSessionForgets(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.SessionProviders = []resolve.Registered{registered(&desk{name: "crm"})} })
	ctx := t.Context()
	use := func(keys ...engine.SessionKey) {
		t.Helper()
		for _, k := range keys {
			if _, err := f.Sessions().UseProvider(ctx, k, "crm"); err != nil {
				t.Fatal(err)
			}
			if err := f.Sessions().AddProvider(ctx, k, registered(&desk{name: "mine"})); err != nil {
				t.Fatal(err)
			}
		}
	}
	use(session("ann", "s1"), session("ben", "s1"), session("ann", "s2"), session("ben", "s2"))
	if _, err := f.Sessions().Erase(ctx, "", "s1", "ann", false, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Admin().EraseUser(ctx, "", "ben"); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, k := range []engine.SessionKey{session("ann", "s1"), session("ben", "s1"), session("ann", "s2"), session("ben", "s2")} {
		if list, err := f.Sessions().Providers(ctx, k); err == nil && len(list) == 2 {
			left = append(left, k.UserID+" "+k.SessionID)
		} else if !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%+v: %v, %v", k, list, err)
		}
	}
	if d := cmp.Diff([]string{"ann s2"}, left); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestSessionProvidersOfAUser: a caller bound to a user reaches no other user's sessions.
func TestSessionProvidersOfAUser(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.SessionProviders = []resolve.Registered{registered(&desk{name: "crm"})} })
	if _, err := f.Sessions().UseProvider(t.Context(), session("ben", "s1"), "crm"); err != nil {
		t.Fatal(err)
	}
	ann := access.With(t.Context(), access.Grant{Role: access.Write, User: "ann"})
	if _, err := f.Sessions().Providers(ann, session("ben", "s1")); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("another's session: %v", err)
	}
	if _, err := f.Sessions().Providers(ann, session("", "s1")); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("her own session of that id: %v", err)
	}
	if _, err := f.Sessions().UseProvider(ann, session("", "s1"), "crm"); err != nil {
		t.Fatal(err)
	}
	if got := f.listed(session("ann", "s1")); got != "crm" {
		t.Errorf("ann's session has %q", got)
	}
}

func TestTooManySessionProviders(t *testing.T) {
	f := open(t)
	for i := range engine.MaxSessionProviders + 1 {
		err := f.Sessions().AddProvider(t.Context(), session("", "s"), registered(&desk{name: strings.Repeat("x", i+1)}))
		if (err != nil) != (i == engine.MaxSessionProviders) || err != nil && !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("provider %d: %v", i, err)
		}
	}
	if err := f.Sessions().AddProvider(t.Context(), session("", "s"), resolve.Registered{}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("no provider: %v", err)
	}
	if f.askedIn("", "other") != "" {
		t.Error("another session asks them")
	}
}

// TestProviders: the list describes all providers, in the order in which they are asked.
func TestProviders(t *testing.T) {
	f := open(t, func(o *engine.Options) {
		o.Providers = []resolve.Registered{{Provider: &desk{name: "crm", mode: ragctx.FailClosed}, Trust: 7, Required: true, Timeout: 3e9}}
		o.SessionProviders = []resolve.Registered{registered(&desk{name: "wiki"})}
	})
	var got []string
	for _, p := range f.Admin().Providers() {
		got = append(got, strings.Join([]string{p.Name, p.Kind, string(p.Scope), p.FailureMode}, " "))
		if p.Name == "crm" && (p.Trust != 1 || !p.Required || p.TimeoutMS != 3000 || !p.Turns) {
			t.Errorf("%+v", p)
		}
	}
	want := []string{
		"docs builtin global best_effort", "memory builtin global best_effort", "skills builtin global best_effort", "ledger builtin global best_effort",
		"crm custom global fail_closed", "wiki custom session best_effort",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	_, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), SessionProviders: []resolve.Registered{registered(&desk{name: "memory"})}})
	if !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("a second memory: %v", err)
	}
}
