package sessiontest

import (
	"context"
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
	v, err := w.Version(background(), one)
	w.must(err)
	return v
}

// Every change is counted; reads and refused changes are not. A recreated session is another one.
func testVersions(t *testing.T, w *world) {
	w.talk(one, "messages:1 messages:2")
	last, err := w.Leaf(background(), one)
	w.must(err)
	seen := []session.Version{w.version()}
	var ctx context.Context
	for _, c := range []struct {
		what   string
		change func() error
	}{
		{"append", func() error {
			_, err := w.Append(ctx, one, "messages", ragctx.TextMessage(ragctx.RoleUser, "3"))
			return err
		}},
		{"navigate", func() error { return w.Navigate(ctx, one, last) }},
		{"label", func() error { return w.Label(ctx, one, last, "here") }},
		{"compaction", func() error {
			_, err := w.AddCompaction(ctx, one, session.Compaction{From: last, To: last})
			return err
		}},
		{"undo", func() error { _, err := w.UndoCompaction(ctx, one); return err }},
		{"parameters", func() error { return w.Annotate(ctx, one, map[string]any{"a": 1.0}) }},
		{"save", func() error {
			s, err := w.Load(background(), one)
			if err == nil {
				_, err = w.Save(ctx, one, s.Append("buffer", ragctx.TextMessage(ragctx.RoleUser, "4")))
			}
			return err
		}},
	} {
		var reported session.Version
		ctx = session.WithVersionReport(background(), &reported)
		w.must(c.change())
		if v := w.version(); reported != v {
			t.Errorf("%s: reported %v instead of %v", c.what, reported, v)
		}
		if v := w.version(); v != seen[len(seen)-1].Next() {
			t.Errorf("%s: %v after %v", c.what, v, seen[len(seen)-1])
		} else {
			seen = append(seen, v)
		}
	}
	for what, look := range map[string]func() error{
		"load": func() error { _, err := w.Load(background(), one); return err },
		"info": func() error { _, err := w.Info(background(), one); return err },
		"fork": func() error { return w.Fork(background(), one, "", "fork") },
		"a refused append": func() error {
			_, err := w.Append(background(), one, "messages", ragctx.Message{Role: ragctx.RoleUser, ParentID: "?"})
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
	w.must(w.Delete(background(), one))
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
	path, err := w.Path(background(), one, "")
	w.must(err)
	w.must(w.Navigate(background(), one, path[1].Message.ID))
	w.talk(one, "messages:5")
	w.must(w.Label(background(), one, path[0].Message.ID, "start"))
	_, err = w.AddCompaction(background(), one, session.Compaction{})
	w.must(err)
	w.must(w.Annotate(background(), one, map[string]any{"a": "b"}))
	info, err := w.Info(background(), one)
	w.must(err)
	if info.UpdatedAt.Before(info.CreatedAt) || info.Version != w.version() {
		t.Errorf("%+v", info)
	}
	leaf, err := w.Leaf(background(), one)
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
	w.must(w.Create(background(), one))
	want := func(want map[string]any) {
		t.Helper()
		s, err := w.Load(background(), one)
		w.must(err)
		if d := diff(want, s.Parameters()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	w.must(w.Annotate(background(), one, map[string]any{"a": 1.0, "b": []any{"x"}}))
	w.must(w.Annotate(background(), one, map[string]any{"a": nil, "c": true, "large": json.Number("9007199254740993")}))
	w.reopen()
	w.must(w.Annotate(background(), one, map[string]any{"d": "x"}))
	w.reopen()
	want(map[string]any{"b": []any{"x"}, "c": true, "d": "x", "large": json.Number("9007199254740993")})
	w.must(w.Annotate(background(), one, map[string]any{"d": nil, "large": nil}))
	w.wantError(w.Annotate(background(), one, map[string]any{"d": func() {}}), ragctx.ErrInvalid, "no JSON")
	w.wantError(w.Annotate(background(), one, map[string]any{"d": strings.Repeat("x", session.MaxParameters)}),
		ragctx.ErrTooLarge, "too large")
	want(map[string]any{"b": []any{"x"}, "c": true})
}

func testLimits(t *testing.T, w *world) {
	w.must(w.Create(background(), one))
	big := ragctx.TextMessage(ragctx.RoleUser,
		strings.Repeat("x", session.MaxMessageBytes-int(session.Bytes(ragctx.TextMessage(ragctx.RoleUser, "")))))
	_, err := w.Append(background(), one, "messages", make([]ragctx.Message, session.MaxAppend+1)...)
	w.wantError(err, ragctx.ErrTooLarge, "too many at a time")
	larger := big
	larger.Content = ragctx.Text(big.Content.String() + "x")
	_, err = w.Append(background(), one, "messages", larger)
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
		_, err = w.Append(background(), one, "messages", m)
		w.wantError(err, ragctx.ErrTooLarge, what)
	}
	full := session.Store{}.Append("messages", big, big, big, big)
	_, err = w.Save(background(), one, full.Append("buffer", ragctx.TextMessage(ragctx.RoleUser, "x")))
	w.wantError(err, ragctx.ErrTooLarge, "a large session")
	many := session.Archive{Sections: make([]string, session.MaxSections)}
	for i := range many.Sections {
		many.Sections[i] = fmt.Sprint(i)
	}
	other := session.Key{ID: "other"}
	w.must(w.Import(background(), other, many))
	_, err = w.Append(background(), other, "0", ragctx.TextMessage(ragctx.RoleUser, "x"))
	w.must(err)
	_, err = w.Append(background(), other, "one more", ragctx.TextMessage(ragctx.RoleUser, "x"))
	w.wantError(err, ragctx.ErrTooLarge, "a section too many")
	loaded, err := w.Load(background(), other)
	w.must(err)
	if n := len(loaded.Names()); n != session.MaxSections {
		t.Errorf("%d sections", n)
	}
	_, err = w.Save(background(), other, loaded.Set(session.Section{Name: "one more"}))
	w.wantError(err, ragctx.ErrTooLarge, "to save a section too many")
	many.Entries = session.EntriesOf("one more", []ragctx.Message{{ID: "x"}})
	w.wantError(w.Import(background(), session.Key{ID: "third"}, many), ragctx.ErrTooLarge, "to import a section too many")
	many = session.Archive{Sections: []string{strings.Repeat("x", session.MaxName+1)}}
	w.wantError(w.Import(background(), session.Key{ID: "third"}, many), ragctx.ErrInvalid, "to import a section with a long name")
	_, err = w.AddCompaction(background(), one, session.Compaction{Record: []byte(`"` + strings.Repeat("x", session.MaxRecordBytes) + `"`)})
	w.wantError(err, ragctx.ErrTooLarge, "a large record")
	w.wantStore(one, "")
}
