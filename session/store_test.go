package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// sections reads a store, one section per word: its name, and its messages as words of
// their own after colons. "a:x:y b" has two messages in a and none in b.
func sections(t testing.TB, text string) session.Store {
	t.Helper()
	var list []session.Section
	for word := range strings.FieldsSeq(text) {
		parts := strings.Split(word, ":")
		one := session.Section{Name: parts[0]}
		for _, p := range parts[1:] {
			one.Messages = append(one.Messages, user(p))
		}
		list = append(list, one)
	}
	s, err := session.NewStore(list...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readCanonical writes a store as sections reads it.
func readCanonical(s session.Store) string {
	var out []string
	for _, one := range s.Sections() {
		word := one.Name
		for _, m := range one.Messages {
			word += ":" + m.Content.String()
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func user(text string) ragctx.Message { return ragctx.TextMessage(ragctx.RoleUser, text) }

func TestStore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(session.Store) session.Store
		want   string
	}{
		// set replaces in place or appends at the end
		"set in place":   {func(s session.Store) session.Store { return s.Set(session.Section{Name: "a"}) }, "a b:3 c"},
		"set at the end": {func(s session.Store) session.Store { return s.Set(session.Section{Name: "d"}) }, "a:1:2 b:3 c d"},
		"append":         {func(s session.Store) session.Store { return s.Append("a", user("9"), user("8")) }, "a:1:2:9:8 b:3 c"},
		"append makes":   {func(s session.Store) session.Store { return s.Append("d", user("9")) }, "a:1:2 b:3 c d:9"},
		"append nothing": {func(s session.Store) session.Store { return s.Append("d") }, "a:1:2 b:3 c"},
		"remove":         {func(s session.Store) session.Store { return s.Remove("b").Remove("?") }, "a:1:2 c"},
		// select in the given order, skipping unknown and repeated names: no
		// names select all sections, only unknown names select none
		"select":         {func(s session.Store) session.Store { return s.Select("b", "?", "a", "b") }, "b:3 a:1:2"},
		"select all":     {func(s session.Store) session.Store { return s.Select() }, "a:1:2 b:3 c"},
		"select unknown": {func(s session.Store) session.Store { return s.Select("?") }, ""},
		"select empty":   {func(s session.Store) session.Store { return s.Select("", "0") }, ""},
		// merge appends, existing first
		"merge": {func(s session.Store) session.Store { return s.Merge(sections(t, "d:4 a:5 c:6")) }, "a:1:2:5 b:3 c:6 d:4"},
		// without empty messages, then without empty sections
		"without empty": {func(s session.Store) session.Store {
			return s.Append("c", user(""), ragctx.Message{}).Append("b", user(""), user("4")).WithoutEmpty()
		}, "a:1:2 b:3:4"},
	} {
		before := sections(t, "a:1:2 b:3 c")
		if got := readCanonical(c.change(before)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := readCanonical(before); got != "a:1:2 b:3 c" {
			t.Errorf("%s changed the store to %q", name, got)
		}
	}
}

func TestSectionNames(t *testing.T) {
	// unique on build
	if _, err := session.NewStore(session.Section{Name: "x"}, session.Section{Name: "x"}); err == nil || !strings.Contains(err.Error(), `a section with the name "x" already exists`) {
		t.Errorf("two sections of one name: %v", err)
	}
	if _, err := sections(t, "x").Add(session.Section{Name: "x"}); err == nil {
		t.Error("one more section of one name was added")
	}
	// "" and "0" are real names
	s := session.Store{}.Append("", user("1")).Append("0", user("2"))
	if got := s.Select("0", ""); !slices.Equal(got.Names(), []string{"0", ""}) || got.Len() != 2 {
		t.Errorf("selected %q", got.Names())
	}
	// reading a missing section does not create it
	if one := s.Section("?"); one.Name != "?" || len(one.Messages) != 0 || s.Has("?") {
		t.Errorf("a section that is not there: %+v", one)
	}
}

func TestParameters(t *testing.T) {
	a := session.Store{}.WithParameters(map[string]any{"x": 1, "y": 1})
	b := a.Merge(session.Store{}.WithParameters(map[string]any{"y": 2}))
	a.Parameters()["x"] = 9
	if d := cmp.Diff([]map[string]any{{"x": 1, "y": 1}, {"x": 1, "y": 2}}, []map[string]any{a.Parameters(), b.Parameters()}); d != "" {
		t.Error(d)
	}
}

// Flattened in the order of sections; a message is empty only if it has neither
// content nor metadata nor calls nor results.
func TestStoreMessages(t *testing.T) {
	s := sections(t, "a:1 b:2").Append("a",
		ragctx.Message{Role: ragctx.RoleUser}, user(""),
		ragctx.Message{Role: ragctx.RoleUser, Metadata: map[string]any{"k": "v"}},
	).Append("a", talk(t, "a!1 t?1")...)
	var got []string
	for _, m := range s.Messages() {
		got = append(got, fmt.Sprintf("%s%d%s", m.Role, len(m.Content), m.Content))
	}
	if want := "user11 user0 assistant1 tool1 user12"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A store never changes under a view: whatever is made of stores, with branches from any
// of them, all that were there before stay as they were, also when the lists that they
// were made from and those that they gave away are written to.
func TestStoresNeverChange(t *testing.T) {
	names := []string{"messages", "buffer", "", "x"}
	rapid.Check(t, func(t *rapid.T) {
		stores, texts := []session.Store{{}}, []string{""}
		next := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := rapid.SampledFrom(stores).Draw(t, "branch")
			name := rapid.SampledFrom(names).Draw(t, "name")
			list := make([]ragctx.Message, rapid.IntRange(0, 5).Draw(t, "new"))
			for i := range list {
				next++
				list[i] = user(fmt.Sprint(next))
			}
			switch rapid.IntRange(0, 5).Draw(t, "operation") {
			case 0:
				s = s.Set(session.Section{Name: name, Messages: list})
			case 1:
				s = s.Remove(name)
			case 2:
				s = s.Merge(rapid.SampledFrom(stores).Draw(t, "other"))
			case 3:
				s = s.Select(name, "x").WithoutEmpty()
			default:
				s = s.Append(name, list...)
			}
			scribble(list)
			scribble(s.Messages())
			for _, one := range s.Sections() {
				scribble(one.Messages)
				_ = append(one.Messages, user("more"))
			}
			stores, texts = append(stores, s), append(texts, readCanonical(s))
			for i := range stores {
				if got := readCanonical(stores[i]); got != texts[i] {
					t.Fatalf("store %d was %q and is %q", i, texts[i], got)
				}
			}
			if strings.Contains(texts[len(texts)-1], "scribbled") {
				t.Fatalf("what was written to a list is in the store: %q", texts[len(texts)-1])
			}
		}
	})
}

func scribble(messages []ragctx.Message) {
	for i := range messages {
		messages[i] = user("scribbled")
	}
}

func TestStoresGrowConcurrently(t *testing.T) {
	base := sections(t, "messages:0").Append("messages", user("1"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, want := base, "messages:0:1"
			for j := range 50 {
				word := fmt.Sprintf("%d.%d", i, j)
				s, want = s.Append("messages", user(word)), want+":"+word
			}
			if got := readCanonical(s); got != want {
				t.Errorf("branch %d is %q", i, got)
			}
		})
	}
	wg.Wait()
	if got := readCanonical(base); got != "messages:0:1" {
		t.Errorf("the base is %q", got)
	}
}

func TestMergeRoles(t *testing.T) {
	for in, want := range map[string]string{
		"uone utwo aone aone utwo": "uone+two aone+one utwo",
		"a!1 t?1 t?2 u?3 u?4 uhi":  "a!1 t?1 t?2 u?3 u?4 uhi", // never tool results
		"sone done":                "sone done",
	} {
		if got := words(session.MergeRoles(talk(t, in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	tagged := talk(t, "aone atwo")
	tagged[0].ID, tagged[1].Metadata = "first", map[string]any{ragctx.MetaIsTrace: true}
	if got := session.MergeRoles(tagged); len(got) != 2 || got[0].ID != "first" {
		t.Errorf("a trace was joined with what is none: %+v", got)
	}
}

// The text of a message with several parts is an error.
func TestText(t *testing.T) {
	if got, err := session.Text([]ragctx.Message{user("a"), {}, user("b")}); got != "a\nb" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, in := range []string{"ua ua+b", "ua a!1"} {
		if got, err := session.Text(talk(t, in)); err == nil || !strings.HasPrefix(err.Error(), "messages[1].content") {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}

func TestContext(t *testing.T) {
	// messages come from the default section only, the store has all sections
	c := session.Context{}.WithStore(sections(t, "summary:s messages:1")).WithMetadataKey("a", 1)
	d := c.WithAppendedMessages(user("2")).WithMetadataKey("b", 2)
	for i, w := range []struct {
		c           session.Context
		store, text string
		metadata    map[string]any
	}{
		{c, "summary:s messages:1", "1", map[string]any{"a": 1}},
		{d, "summary:s messages:1:2", "1\n2", map[string]any{"a": 1, "b": 2}},
		{d.WithMessages([]ragctx.Message{user("9")}), "summary:s messages:9", "9", map[string]any{"a": 1, "b": 2}},
		{session.Context{}.WithMessages(nil), "messages", "", nil},
	} {
		text, err := session.Text(w.c.Messages())
		if readCanonical(w.c.Store()) != w.store || text != w.text || err != nil || !cmp.Equal(w.c.Metadata(), w.metadata) {
			t.Errorf("%d: %q with %v", i, readCanonical(w.c.Store()), w.c.Metadata())
		}
	}
}

// With keeps the fields that are nil, and cannot clear them.
func TestWith(t *testing.T) {
	empty, format := "", session.ResponseFormat{Type: session.FormatText}
	c := session.Context{}.WithSystemPrompt("p").WithResponseFormat(format).WithMetadataKey("k", "v").WithStore(sections(t, "a:1"))
	if d := c.With(session.Changes{}); d.SystemPrompt() != "p" || d.ResponseFormat().Type != format.Type || d.Metadata()["k"] != "v" || readCanonical(d.Store()) != "a:1" {
		t.Errorf("nothing to change changed %+v", d)
	}
	d := c.With(session.Changes{Store: &session.Store{}, Metadata: map[string]any{}, SystemPrompt: &empty, ResponseFormat: &session.ResponseFormat{}})
	if d.SystemPrompt() != "" || !d.ResponseFormat().IsEmpty() || len(d.Metadata()) != 0 || d.Store().Len() != 0 {
		t.Errorf("all was to change: %+v", d)
	}
	// settings are taken only where they are not empty
	if d := c.WithSettings("", session.ResponseFormat{}); d.SystemPrompt() != "p" || d.ResponseFormat().IsEmpty() {
		t.Errorf("empty settings changed %+v", d)
	}
	if d := c.WithSettings("q", session.ResponseFormat{Type: session.FormatJSONObject}); d.SystemPrompt() != "q" || d.ResponseFormat().Type != session.FormatJSONObject {
		t.Errorf("settings did not change %+v", d)
	}
}

// The cacheable prefix is the prompt as one system message, if any, with tools and
// format.
func TestCached(t *testing.T) {
	tools := []json.RawMessage{json.RawMessage(`{}`)}
	c := session.Context{}.WithResponseFormat(session.ResponseFormat{Name: "n"})
	if got := c.CacheablePrefix(tools); len(got.Messages) != 0 || len(got.Tools) != 1 || got.ResponseFormat.Name != "n" {
		t.Errorf("%+v", got)
	}
	if got := c.WithSystemPrompt("p").CacheablePrefix(nil); words(got.Messages) != "sp" {
		t.Errorf("%+v", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := session.Store{}
	for i := range 10_000 {
		s = s.Append(session.SectionMessages, user(fmt.Sprint(i)))
	}
	one := user("one more")
	b.Run("on", func(b *testing.B) {
		s := s
		for b.Loop() {
			s = s.Append(session.SectionMessages, one)
		}
	})
	b.Run("branch", func(b *testing.B) { // each from the same place, so that each copies
		for b.Loop() {
			s.Append(session.SectionMessages, one)
		}
	})
}
