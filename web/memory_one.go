package web

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
)

type memoryHistory struct{ History []memoryChange }

// one returns the address of a memory's page.
func (s memoryScope) one(v *visit, id string) string {
	return v.link(memoryPath+"/one", "id", id, "user", s.user)
}

// showOneMemory shows a memory: its words, its history, and a form that changes it.
func showOneMemory(v *visit) (html.Part, error) {
	s, id := readMemoryScope(v), v.r.URL.Query().Get("id")
	h, err := get[memoryHistory](v, "/v1/memories/"+segment(id)+"/history", v.query("user_id", s.user))
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		return nil, err
	}
	m, err := get[memoryOf](v, "/v1/memories/"+segment(id), v.query("user_id", s.user))
	if errors.Is(err, ragctx.ErrNotFound) && len(h.History) > 0 {
		m, err = s.former(v, id, h.History)
	}
	if err != nil {
		return nil, err
	}
	v.title = "Memory " + excerpt(m.Content, 40)
	words, err := s.evidenceOf(v, m, h.History)
	if err != nil {
		return nil, err
	}
	current := m.State == "active" && v.mayWrite()
	return html.List{
		heading(excerpt(m.Content, 120), html.E("a.button", html.A("href", v.link(memoryPath, "user", m.User)),
			html.Text("Timeline")), s.actions(v, m)), done(v),
		html.E("div.one",
			html.E("section", html.E("h2", html.Text("History")), s.history(v, h.History), words),
			html.E("section", html.If(current, html.E("h2", html.Text("Change")), s.editForm(v, m)), facts(m))),
	}, nil
}

// former returns a memory that is no longer current, from the lists of its state or else from its history.
func (s memoryScope) former(v *visit, id string, history []memoryChange) (memoryOf, error) {
	all, _, err := s.memories(v, memoryStates[0].states[1:])
	for _, m := range all {
		if m.ID == id {
			return m, nil
		}
	}
	last := history[len(history)-1]
	return memoryOf{ID: id, Content: last.Was, State: last.Op, User: s.user, Occurred: last.At}, err
}

// facts are the fields of a memory.
func facts(m memoryOf) html.Part {
	var rows html.List
	row := func(name, value string) {
		if value != "" {
			rows = append(rows, html.E("tr", html.E("th", html.A("scope", "row"), html.Text(name)), html.E("td", html.Text(value))))
		}
	}
	row("State", m.State)
	row("User", m.User)
	row("Session", m.Session)
	row("Type", m.Type)
	row("Importance", strconv.FormatFloat(m.Importance, 'g', 3, 64))
	if a := m.About; a != nil {
		row("Kind", a.Kind)
		row("Subject", a.Subject)
		row("Attribute", a.Attribute)
		row("Value", a.Value)
		row("Why it was learnt", fmt.Sprintf("%s (%.0f %% certain)", a.Reason, 100*a.Confidence))
	}
	row("Occurred", moment(m.Occurred))
	row("Tags", strings.Join(m.Tags, ", "))
	row("Id", m.ID)
	return html.E("table.facts-of", html.E("caption.unseen", html.Text("Fields")), html.E("tbody", rows))
}

// evidenceOf shows the turns that a memory rests on, with its words marked.
func (s memoryScope) evidenceOf(v *visit, m memoryOf, history []memoryChange) (html.Part, error) {
	var list html.List
	seen := make(map[string]bool)
	show := func(turn string) error {
		if turn == "" || seen[turn] || len(seen) >= momentsPerPage {
			return nil
		}
		seen[turn] = true
		t, err := get[turnOf](v, "/v1/turns/"+segment(turn), v.query("user_id", s.user))
		if errors.Is(err, ragctx.ErrNotFound) {
			return nil
		}
		list = append(list, html.E("div.words", html.E("p.said-at", clock(t.Occurred, "2 Jan 2006, 15:04"), html.E("span.tag",
			html.Text(t.Session))),
			wordsOf(t, []memoryOf{m})), s.replaced(v, m, t))
		return err
	}
	for _, e := range m.Sources {
		if err := show(e.Turn); err != nil {
			return nil, err
		}
	}
	for _, c := range history {
		if err := show(c.Turn); err != nil {
			return nil, err
		}
	}
	return html.If(len(list) > 0, html.E("h2", html.Text("Turns")), list), nil
}

// history lists the changes of a memory, newest first.
func (s memoryScope) history(v *visit, changes []memoryChange) html.Part {
	if len(changes) == 0 {
		return html.E("p.empty", html.Text("No change is recorded."))
	}
	var list html.List
	for _, c := range slices.Backward(changes) {
		text := html.List{
			html.If(c.Was != "" && c.Was != c.Content, html.E("p", html.E("del", html.Text(c.Was)))),
			html.If(c.Content != "",
				html.E("p", html.Text(c.Content))),
		}
		list = append(list, html.E("li", html.If(c.Undone, html.A("data-undone", "")),
			html.E("p.small", html.E("strong", html.Text(c.Op)), html.Text(" "), clock(c.At, "2 Jan 2006, 15:04:05"),
				html.Text(" by "+c.By),
				html.If(c.Undone, html.Text(", undone since")), html.If(c.Reason != "", html.E("span.quiet", html.Text(": "+c.Reason))),
				html.If(c.Other != "", html.Text(" "), html.E("a", html.A("href", s.one(v, c.Other)),
					html.Text("The other memory")))), text))
	}
	return html.E("ol.changes", list)
}

// editForm changes the text and the marks of a memory.
func (s memoryScope) editForm(v *visit, m memoryOf) html.Part {
	check := func(name, label string, on bool) html.Part {
		return html.E("label.check", html.E("input", html.A("type", "checkbox"), html.A("name", name), html.A("value", "1"),
			html.Flag("checked", on)),
			html.E("span", html.Text(label)))
	}
	return html.E("form.edit", html.A("method", "post"), html.A("action", v.link(memoryPath+"/edit")), v.tokenField(), hidden("id",
		m.ID), hidden("user", s.user),
		html.E("label", html.E("span", html.Text("Text")), html.E("textarea", html.A("name", "content"), html.A("rows", "4"),
			html.Flag("required", true), html.Text(m.Content))),
		html.E("label", html.E("span", html.Text("Tags, separated by commas")), html.E("input", html.A("name", "tags"), html.A("value",
			strings.Join(m.Tags, ", ")))), hidden("tags_before", strings.Join(m.Tags, ", ")),
		html.E("label", html.E("span", html.Text("Importance, 0 to 1")), html.E("input", html.A("type", "number"), html.A("name",
			"importance"), html.A("min", "0"),
			html.A("max", "1"), html.A("step", "any"), html.A("value", strconv.FormatFloat(m.Importance, 'g', -1, 64)))),
		check("pinned", "Pinned: in every prompt", m.Pinned), check("profile", "Lasting: describes the user", m.Profile),
		html.E("div.actions", html.E("button.main", html.Text("Save"))))
}

// saveMemory stores the fields of the form of a memory.
func saveMemory(v *visit) (html.Part, error) {
	s := memoryScope{user: v.param("user")}
	id := v.param("id")
	importance, err := strconv.ParseFloat(v.param("importance"), 64)
	if err != nil {
		return nil, ragctx.Invalid("importance", "is %q; use a number from 0 to 1", ragctx.Clip(v.param("importance")))
	}
	tags := []string{}
	for t := range strings.SplitSeq(v.param("tags"), ",") {
		if t = strings.TrimSpace(t); t != "" {
			tags = append(tags, t)
		}
	}
	change := map[string]any{
		"content": strings.ReplaceAll(v.param("content"), "\r\n", "\n"), "importance": importance, // forms end lines with both
		"pinned": v.param("pinned") != "", "profile": v.param("profile") != "",
	}
	if v.param("tags") != v.param("tags_before") { // a tag may have a comma
		change["tags"] = tags
	}
	_, err = send[struct{}](v, http.MethodPatch, "/v1/memories/"+segment(id), v.query("user_id", s.user), change)
	if err != nil {
		return nil, err
	}
	return v.goTo(v.link(memoryPath+"/one", "id", id, "user", s.user, "done", "save"))
}

// memoryAction is a button of a memory.
type memoryAction struct {
	name, done   string
	method, verb string // of REST
	body         map[string]any
	query        url.Values
}

var memoryActions = map[string]memoryAction{
	"pin": {
		name: "Pin", done: "Pinned: the memory is in every prompt.", method: http.MethodPatch,
		body: map[string]any{"pinned": true},
	},
	"unpin":   {name: "Unpin", done: "The memory is no longer pinned.", method: http.MethodPatch, body: map[string]any{"pinned": false}},
	"undo":    {name: "Undo", done: "The last change of the memory is undone.", method: http.MethodPost, verb: ":undo"},
	"delete":  {name: "Delete", done: "Deleted: no answer shows the memory. Undo brings it back.", method: http.MethodDelete},
	"release": {name: "Release", done: "Released: answers may show the memory from now on.", method: http.MethodPost, verb: ":release"},
	"discard": {name: "Discard", done: "Discarded: no answer has shown it.", method: http.MethodPost, verb: ":discard"},
	"erase": {
		name: "Erase", done: "Erased from the database, its history and its files.", method: http.MethodDelete,
		query: url.Values{"erase": {"true"}},
	},
	"save": {done: "The memory is changed."},
}

// actions are the buttons that fit the state of a memory.
func (s memoryScope) actions(v *visit, m memoryOf) html.Part {
	names := []string{"pin", "undo", "delete"}
	switch {
	case m.State == "quarantined":
		names = []string{"release", "discard"}
	case m.State != "active" && m.State != "":
		names = []string{"undo", "erase"}
	case m.Pinned:
		names[0] = "unpin"
	}
	if s.asOf != "" || !v.mayWrite() {
		return nil // the past does not change
	}
	var list html.List
	for _, name := range names {
		class := "button.small"
		if name == "delete" || name == "discard" || name == "erase" {
			class = "button.small.danger"
		}
		list = append(list, html.E(class, html.A("name", "do"), html.A("value", name), html.If(name == "erase", html.A("data-confirm",
			"Erase this memory and its turn? They cannot be brought back.")),
			html.Text(memoryActions[name].name), html.E("span.unseen", html.Text(" "+excerpt(m.Content, 60)))))
	}
	return html.E("form.actions", html.A("method", "post"), html.A("action", v.link(memoryPath+"/act")), v.tokenField(), hidden("id",
		m.ID),
		hidden("user", s.user), hidden("back", v.r.URL.RequestURI()), list)
}

// actOnMemory runs the action of a button, and leads back to its page.
func actOnMemory(v *visit) (html.Part, error) {
	do, id, user := v.param("do"), v.param("id"), v.param("user")
	a, known := memoryActions[do]
	if !known || a.method == "" {
		return nil, ragctx.Invalid("do", "is %q, which the page cannot do", ragctx.Clip(do))
	}
	q := v.query("user_id", user)
	maps.Copy(q, a.query)
	if _, err := send[struct{}](v, a.method, "/v1/memories/"+segment(id)+a.verb, q, body(a.body)); err != nil {
		return nil, err
	}
	back, err := url.Parse(v.param("back"))
	if err != nil || back.Scheme != "" || back.Host != "" || !strings.HasPrefix(path.Clean(back.Path), memoryPath) ||
		do == "erase" || do == "discard" {
		back, _ = url.Parse(v.link(memoryPath, "user", user))
	}
	back.Path = strings.TrimSuffix(back.Path, "/timeline")
	args := back.Query()
	args.Set("done", do)
	back.RawQuery, back.Fragment = args.Encode(), anchor(id)
	return v.goTo(back.String())
}

// body returns nil for no fields, so that no body is sent.
func body(fields map[string]any) any {
	if fields == nil {
		return nil
	}
	return fields
}

// done confirms the last action of the visitor.
func done(v *visit) html.Part {
	text := memoryActions[v.r.URL.Query().Get("done")].done
	return html.If(text != "", html.E("p.note", html.A("role", "status"), html.Text(text)))
}

// quarantine lists the memories that wait for a decision.
func (s memoryScope) quarantine(v *visit) (html.Part, error) {
	if s.asOf != "" {
		return nil, nil
	}
	list, err := get[struct {
		Memories []struct {
			memoryOf

			Reason string
		}
	}](v, "/v1/memories:quarantine", v.query("user_id", s.user, "limit", "100"))
	if err != nil || len(list.Memories) == 0 {
		return nil, err
	}
	var rows html.List
	for _, m := range list.Memories {
		m.State = "quarantined"
		rows = append(rows, html.E("li.memory#"+anchor(m.ID), html.E("div", html.E("p.content", html.Text(m.Content)),
			html.E("p.small.fate", html.Text(sentence(m.Reason))),
			html.E("div.about.small", s.about(v, m.memoryOf), s.actions(v, m.memoryOf)))))
	}
	return html.E("section.quarantine", html.E("h2", html.Text("In quarantine")),
		html.E("p.quiet", html.Text("No answer shows these texts until a person releases them.")), html.E("ul", rows)), nil
}
