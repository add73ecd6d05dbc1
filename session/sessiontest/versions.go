package sessiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

func (w *world) version() session.Version {
	w.t.Helper()
	v, err := versionOf(w, one)
	w.must(err)
	return v
}

// Every change is counted; reads and refused changes are not. A recreated session is another one.
func testVersions(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	last, err := leafOf(w, one)
	w.must(err)
	seen := []session.Version{w.version()}
	ctx := background()
	byUpdate := func(u session.Update) func() (session.Version, error) {
		return func() (session.Version, error) { return w.Update(ctx, one, u, always) }
	}
	for _, c := range []struct {
		what   string
		change func() (session.Version, error)
	}{
		{"append", func() (session.Version, error) {
			_, at, err := w.Append(ctx, one, "messages", []ragctx.Message{text("3")}, always)
			return at, err
		}},
		{"navigate", byUpdate(session.Update{Leaf: &last})},
		{"label", byUpdate(session.Update{Labels: map[string]string{last: "here"}})},
		{"compaction", byUpdate(session.Update{AddCompaction: &session.Compaction{ID: "c", From: last, To: last}})},
		{"undo", byUpdate(session.Update{RemoveCompactions: []string{"c"}})},
		{"parameters", byUpdate(session.Update{Parameters: map[string]any{"a": 1.0}})},
		{"nothing", byUpdate(session.Update{})},
		{"replace", func() (session.Version, error) {
			a, at, err := session.Export(ctx, w, one)
			if err != nil {
				return at, err
			}
			return w.Replace(ctx, one, at, a)
		}},
		{"save", func() (session.Version, error) {
			s, err := load(w, one)
			if err != nil {
				return session.Version{}, err
			}
			r, err := w.save(one, s.Append("buffer", text("4")))
			return r.Version, err
		}},
	} {
		made, err := c.change()
		w.must(err)
		if v := w.version(); made != v {
			t.Errorf("%s: made %v instead of %v", c.what, made, v)
		}
		if v := w.version(); v != seen[len(seen)-1].Next() {
			t.Errorf("%s: %v after %v", c.what, v, seen[len(seen)-1])
		} else {
			seen = append(seen, v)
		}
	}
	for what, look := range map[string]func() error{
		"load": func() error { _, err := load(w, one); return err },
		"info": func() error { _, err := w.Info(background(), one); return err },
		"fork": func() error { return forkTo(w, one, "", "fork") },
		"a refused append": func() error {
			_, err := appendTo(w, one, "messages", ragctx.Message{Role: ragctx.RoleUser, ParentID: "?"})
			return wanted(err, ragctx.ErrInvalid)
		},
	} {
		w.must(look())
		if v := w.version(); v != seen[len(seen)-1] {
			t.Errorf("%s: %v after %v", what, v, seen[len(seen)-1])
		}
	}
	w.reopen()
	if v := w.version(); v != seen[len(seen)-1] {
		t.Errorf("reopened: %v after %v", v, seen[len(seen)-1])
	}
	w.must(remove(w, one))
	w.talk(one, "messages:1")
	if v := w.version(); slices.Contains(seen, v) {
		t.Errorf("made again: %v", v)
	}
}

// wanted returns nil if an error is the wanted one.
func wanted(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("%w, want %w", err, want)
}

func testInfo(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 buffer:three messages:4")
	path, err := pathTo(w, one, "")
	w.must(err)
	w.must(navigate(w, one, path[1].Message.ID))
	w.talk(one, "messages:5")
	w.must(label(w, one, path[0].Message.ID, "start"))
	_, err = addCompaction(w, one, session.Compaction{})
	w.must(err)
	w.must(annotate(w, one, map[string]any{"a": "b"}))
	info, err := w.Info(background(), one)
	w.must(err)
	if info.UpdatedAt.Before(info.CreatedAt) || info.Version != w.version() {
		t.Errorf("%+v", info)
	}
	leaf, err := leafOf(w, one)
	w.must(err)
	want := session.Info{
		ID: one.ID, CreatedAt: info.CreatedAt, UpdatedAt: info.UpdatedAt, Version: info.Version, Leaf: leaf,
		Sections: []session.SectionInfo{{Name: "messages", Messages: 4}, {Name: "buffer", Messages: 1}},
		Messages: 5, Bytes: 9 + 5*session.Bytes(ragctx.TextMessage(ragctx.RoleUser, "")),
		Parameters: map[string]any{"a": "b"}, Branches: 2, Labels: 1, Compactions: 1,
	}
	if d := diff(want, info); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func testParameters(t *testing.T, w *world) {
	w.must(create(w, one))
	want := func(want map[string]any) {
		t.Helper()
		s, err := load(w, one)
		w.must(err)
		if d := diff(want, s.Parameters()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	w.must(annotate(w, one, map[string]any{"a": 1.0, "b": []any{"x"}}))
	w.must(annotate(w, one, map[string]any{"a": nil, "c": true, "large": json.Number("9007199254740993")}))
	w.reopen()
	w.must(annotate(w, one, map[string]any{"d": "x"}))
	w.reopen()
	want(map[string]any{"b": []any{"x"}, "c": true, "d": "x", "large": json.Number("9007199254740993")})
	w.must(annotate(w, one, map[string]any{"d": nil, "large": nil}))
	w.wantError(annotate(w, one, map[string]any{"d": func() {}}), ragctx.ErrInvalid, "no JSON")
	w.wantError(annotate(w, one, map[string]any{"d": strings.Repeat("x", session.MaxParameters)}),
		ragctx.ErrTooLarge, "too large")
	want(map[string]any{"b": []any{"x"}, "c": true})
}

func testLimits(t *testing.T, w *world) {
	w.must(create(w, one))
	big := ragctx.TextMessage(ragctx.RoleUser,
		strings.Repeat("x", session.MaxMessageBytes-int(session.Bytes(ragctx.TextMessage(ragctx.RoleUser, "")))))
	_, err := appendTo(w, one, "messages", make([]ragctx.Message, session.MaxAppend+1)...)
	w.wantError(err, ragctx.ErrTooLarge, "too many at a time")
	larger := big
	larger.Content = ragctx.Text(big.Content.String() + "x")
	_, err = appendTo(w, one, "messages", larger)
	w.wantError(err, ragctx.ErrTooLarge, "a large message")
	for what, m := range map[string]ragctx.Message{
		"a message of more blocks": {Content: make(ragctx.Content, session.MaxBlocks+1)},
		"a result of more blocks": {Content: ragctx.Content{{
			Type:    ragctx.BlockToolResult,
			Content: make(ragctx.Content, session.MaxBlocks),
		}}},
		"a large media type":       {Content: ragctx.Content{{Type: ragctx.BlockImage, MediaType: big.Content.String()}, {}}},
		"metadata of empty values": {Metadata: map[string]any{"a": make([]any, session.MaxMessageBytes/16)}},
	} {
		_, err = appendTo(w, one, "messages", m)
		w.wantError(err, ragctx.ErrTooLarge, what)
	}
	full := session.Store{}.Append("messages", big, big, big, big)
	_, err = w.save(one, full.Append("buffer", ragctx.TextMessage(ragctx.RoleUser, "x")))
	w.wantError(err, ragctx.ErrTooLarge, "a large session")
	many := session.Archive{Sections: make([]string, session.MaxSections)}
	for i := range many.Sections {
		many.Sections[i] = fmt.Sprint(i)
	}
	other := session.Key{ID: "other"}
	w.must(importTo(w, other, many))
	_, err = appendTo(w, other, "0", ragctx.TextMessage(ragctx.RoleUser, "x"))
	w.must(err)
	_, err = appendTo(w, other, "one more", ragctx.TextMessage(ragctx.RoleUser, "x"))
	w.wantError(err, ragctx.ErrTooLarge, "a section too many")
	loaded, err := load(w, other)
	w.must(err)
	if n := len(loaded.Names()); n != session.MaxSections {
		t.Errorf("%d sections", n)
	}
	_, err = w.save(other, loaded.Set(session.Section{Name: "one more"}))
	w.wantError(err, ragctx.ErrTooLarge, "to save a section too many")
	many.Entries = session.EntriesOf("one more", []ragctx.Message{{ID: "x"}})
	w.wantError(importTo(w, session.Key{ID: "third"}, many), ragctx.ErrTooLarge, "to import a section too many")
	many = session.Archive{Sections: []string{strings.Repeat("x", session.MaxName+1)}}
	w.wantError(importTo(w, session.Key{ID: "third"}, many), ragctx.ErrInvalid, "to import a section with a long name")
	_, err = addCompaction(w, one, session.Compaction{Record: []byte(`"` + strings.Repeat("x", session.MaxRecordBytes) + `"`)})
	w.wantError(err, ragctx.ErrTooLarge, "a large record")
	w.wantStore(one, "")
}

// A query selects parts of one snapshot.
func testRead(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2 buffer:3")
	w.must(update(w, one, session.Update{
		Leaf: new("id2"), Labels: map[string]string{"id3": "l"}, Parameters: map[string]any{"p": "v"},
		AddCompaction: &session.Compaction{ID: "c", CreatedAt: start},
	}))
	w.reopen()
	whole := w.export(one)
	base := session.Archive{Leaf: "id2", Parameters: map[string]any{"p": "v"}}
	for name, c := range map[string]struct {
		q    session.Query
		want func(a *session.Archive)
	}{
		"nothing":     {session.Query{}, func(*session.Archive) {}},
		"labels":      {session.Query{Labels: true}, func(a *session.Archive) { a.Labels = whole.Labels }},
		"compactions": {session.Query{Compactions: true}, func(a *session.Archive) { a.Compactions = whole.Compactions }},
		"all": {session.Query{Messages: session.AllMessages}, func(a *session.Archive) {
			a.Entries, a.Sections = whole.Entries, []string{"messages", "buffer"}
		}},
		"a branch": {
			session.Query{Messages: session.BranchMessages, Labels: true},
			func(a *session.Archive) { a.Entries, a.Labels = whole.Entries[:2], whole.Labels },
		},
		"another branch": {
			session.Query{Messages: session.BranchMessages, ID: "id3"},
			func(a *session.Archive) { a.Entries = whole.Entries },
		},
		"a message": {
			session.Query{Messages: session.OneMessage, ID: "id3"},
			func(a *session.Archive) { a.Entries = whole.Entries[2:] },
		},
		"the newest": {
			session.Query{Messages: session.NewestMessages, Section: "messages", Limit: 1, Compactions: true},
			func(a *session.Archive) { a.Entries, a.Compactions = whole.Entries[1:2], whole.Compactions },
		},
	} {
		got, at, err := w.Read(background(), one, c.q)
		w.must(err)
		want := base
		c.want(&want)
		got.CreatedAt = want.CreatedAt
		if d := diff(want, got); d != "" || at != w.version() {
			t.Errorf("%s: version %v (-want +got):\n%s", name, at, d)
		}
	}
}

// An update changes all that it names, or nothing.
func testUpdate(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	_, err := addCompaction(w, one, session.Compaction{ID: "c"})
	w.must(err)
	before, at := w.export(one), w.version()
	good := session.Update{
		Parameters: map[string]any{"p": "v"}, Leaf: new("id1"), Labels: map[string]string{"id2": "l"},
		RemoveCompactions: []string{"c"}, AddCompaction: &session.Compaction{ID: "d", CreatedAt: start, To: "id1"},
	}
	for name, spoil := range map[string]func(u *session.Update){
		"a leaf":       func(u *session.Update) { u.Leaf = new("?") },
		"a label":      func(u *session.Update) { u.Labels = map[string]string{"id1": "x", "?": "y"} },
		"a parameter":  func(u *session.Update) { u.Parameters = map[string]any{"f": func() {}} },
		"a compaction": func(u *session.Update) { u.AddCompaction = &session.Compaction{ID: "d", To: "?"} },
	} {
		bad := good
		spoil(&bad)
		if err := update(w, one, bad); err == nil {
			t.Errorf("%s is unknown, but the session is updated", name)
		}
	}
	if d := diff(before, w.export(one)); d != "" || w.version() != at {
		t.Errorf("refused updates changed it:\n%s", d)
	}
	w.must(update(w, one, good))
	w.reopen()
	before.Parameters, before.Leaf, before.Labels = good.Parameters, "id1", good.Labels
	before.Compactions = []session.Compaction{*good.AddCompaction}
	if d := diff(before, w.export(one)); d != "" || w.version() != at.Next() {
		t.Errorf("(-want +got):\n%s", d)
	}
}
