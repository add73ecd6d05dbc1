package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/llm"
	convo "github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// chat returns a conversation of so many exchanges.
func chat(exchanges int) (out []ragctx.Message) {
	for i := range exchanges {
		out = append(out, ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Why does the narwhal build of target %d fail? %s", i, strings.Repeat("please ", 40))),
			ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("We decided to use rule %d. %s", i, strings.Repeat("so ", 40))))
	}
	return out
}

func (f *fixture) converse(ctx context.Context, k convo.Key, messages ...ragctx.Message) {
	f.t.Helper()
	if _, err := f.Sessions().Views().Create(ctx, k, view.CreateOptions{Messages: messages}); err != nil {
		f.t.Fatal(err)
	}
}

// TestConversationWall: views and lists of conversations are isolated like the conversations, even if
// two users use the same name.
func TestConversationWall(t *testing.T) {
	f := open(t)
	as := func(user string) context.Context {
		return access.With(t.Context(), access.Grant{Role: access.Write, User: user, Namespaces: []string{"default"}})
	}
	k := convo.Key{ID: "s"}
	f.converse(as("ann"), k, ragctx.TextMessage(ragctx.RoleUser, "hers"))
	f.converse(as("ben"), k, ragctx.TextMessage(ragctx.RoleUser, "his"))
	f.converse(t.Context(), k, ragctx.TextMessage(ragctx.RoleUser, "nobody's"))
	f.converse(t.Context(), convo.Key{Namespace: "other", ID: "s"}, ragctx.TextMessage(ragctx.RoleUser, "elsewhere"))
	for range 2 { // the second time from memory
		for user, want := range map[string]string{"ann": "hers", "ben": "his"} {
			c, err := f.Sessions().Views().Compile(as(user), k, view.CompileOptions{})
			if err != nil || len(c.Messages) != 1 || c.Messages[0].Content.String() != want {
				t.Errorf("%s is shown %v, %v", user, c.Messages, err)
			}
		}
	}
	if _, err := f.Sessions().Views().View(as("ann"), convo.Key{User: "ben", ID: "s"}, view.ViewOptions{}); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("another's: %v", err)
	}
	for name, c := range map[string]struct {
		ctx    context.Context
		space  string
		filter engine.SessionFilter
		want   string
		err    error
	}{
		"hers":              {as("ann"), "", engine.SessionFilter{}, "ann", nil},
		"another's":         {as("ann"), "", engine.SessionFilter{UserID: "ben"}, "", ragctx.ErrDenied},
		"everyone's as ann": {as("ann"), "", engine.SessionFilter{AnyUser: true}, "ann", nil},
		"everyone's":        {t.Context(), "", engine.SessionFilter{AnyUser: true}, ",ben,ann", nil},
		"nobody's":          {t.Context(), "", engine.SessionFilter{}, "", nil},
		"another namespace": {as("ann"), "other", engine.SessionFilter{}, "", ragctx.ErrDenied},
		"too many":          {t.Context(), "", engine.SessionFilter{Limit: 1001}, "", ragctx.ErrInvalid},
	} {
		list, next, err := f.Sessions().List(c.ctx, c.space, c.filter)
		var users []string
		for _, one := range list {
			users = append(users, one.Key.User)
		}
		if strings.Join(users, ",") != c.want || !errors.Is(err, c.err) || next != 0 {
			t.Errorf("%s: %v, %v", name, users, err)
		}
	}
}

// TestTurnsOfConversationsAreObserved: a completed turn adds observations of its stored conversation;
// one without a conversation adds none.
func TestTurnsOfConversationsAreObserved(t *testing.T) {
	f := open(t, func(o *engine.Options) {
		o.Conversation.Observation.MinMessages = 4
		o.Observer = llm.GeneratorFunc(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: `{"findings":["the rule is missing"]}`}, nil
		})
	})
	k := convo.Key{User: "ann", ID: "s"}
	turn := func(id, session string) {
		t.Helper()
		_, err := f.CompleteTurn(t.Context(), ragctx.Turn{ID: id, SessionID: session, UserID: "ann", Prompt: "Why?", Response: "So."})
		if err != nil {
			t.Fatal(err)
		}
		f.settle()
	}
	f.converse(t.Context(), k, chat(3)...)
	layer := stage.LayerObservation
	if _, err := f.Sessions().Views().Change(t.Context(), k, view.Changes{Layer: &layer}, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	turn("1", "unstored")
	turn("2", "s")
	notes, err := f.Sessions().Views().Observations(t.Context(), k)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0].Intent, "narwhal build of target 2") {
		t.Fatalf("%+v, %v", notes, err)
	}
	turn("3", "s")
	if notes, err = f.Sessions().Views().Observations(t.Context(), k); err != nil || len(notes) != 1 {
		t.Errorf("without anything new: %+v, %v", notes, err)
	}
	f.reopen()
	v, err := f.Sessions().Views().View(t.Context(), k, view.ViewOptions{Used: 1 << 20})
	if err != nil || len(v.Notes) != 1 || !strings.HasPrefix(v.Messages[0].Content.String(), stage.PrefixMarker) {
		t.Errorf("after a restart: %+v, %v", v.Notes, err)
	}
}

// TestConversationEvents: compactions are published to subscribers of the session; after an erasure
// its events are gone, and caches do not show it.
func TestConversationEvents(t *testing.T) {
	f := open(t)
	from, err := f.Events().Last(t.Context(), events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	k := convo.Key{User: "ann", ID: "s"}
	f.converse(t.Context(), k, chat(60)...)
	if _, err := f.Sessions().Storage().Fork(t.Context(), k, convo.Fork{ID: "fork"}, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	fork := convo.Key{User: "ann", ID: "fork"}
	for _, k := range []convo.Key{k, fork} {
		if _, err := f.Sessions().Views().View(t.Context(), k, view.ViewOptions{Budget: stage.Budget{Window: 5000}}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []string
	for ev, err := range f.Events().Follow(ctx, events.Filter{Session: "s"}, from) {
		if err != nil {
			break
		}
		if ev.UserID != "ann" || ev.Namespace != "default" {
			t.Errorf("%+v", ev)
		}
		if told = append(told, string(ev.Type)); len(told) == 3 {
			cancel()
		}
	}
	if got := strings.Join(told, " "); got != "context_warning context_compacting context_compacted" {
		t.Errorf("told %s", got)
	}
	e, err := f.Sessions().Erase(t.Context(), "", "s", "ann", false, convo.Condition{})
	if err != nil || e.Sessions != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	for _, k := range []convo.Key{k, fork} {
		if _, err := f.Sessions().Views().Compile(t.Context(), k, view.CompileOptions{}); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%s: %v", k.ID, err)
		}
	}
	f.Engine.Close()
	for ev, err := range f.Events().Follow(t.Context(), events.Filter{}, from) {
		if err != nil {
			break
		}
		if strings.Contains(fmt.Sprintf("%+v", ev), "narwhal") {
			t.Errorf("still told: %+v", ev)
		}
	}
}
