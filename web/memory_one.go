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
	"github.com/ragctx/ragctx/web/internal/html"
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
		heading(excerpt(m.Content, 120), html.F(`<a class="button" href={}>Timeline</a>`, v.link(memoryPath, "user", m.User)),
			s.actions(v, m)), done(v),
		html.F(`<div class="one"><section><h2>History</h2>{}{}</section><section>{}{}</section></div>`,
			s.history(v, h.History), words, html.If(current, html.F(`<h2>Change</h2>`), s.editForm(v, m)), facts(m)),
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
			rows = append(rows, html.F(`<tr><th scope="row">{}</th><td>{}</td></tr>`, name, value))
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
	return html.F(`<table class="facts-of"><caption class="unseen">Fields</caption><tbody>{}</tbody></table>`, rows)
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
		list = append(list, html.F(`<div class="words"><p class="said-at">{}<span class="tag">{}</span></p>{}</div>`,
			clock(t.Occurred, "2 Jan 2006, 15:04"), t.Session, wordsOf(t, []memoryOf{m})), s.replaced(v, m, t))
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
	return html.If(len(list) > 0, html.F(`<h2>Turns</h2>`), list), nil
}

// history lists the changes of a memory, newest first.
func (s memoryScope) history(v *visit, changes []memoryChange) html.Part {
	if len(changes) == 0 {
		return html.F(`<p class="empty">No change is recorded.</p>`)
	}
	var list html.List
	for _, c := range slices.Backward(changes) {
		text := html.List{
			html.If(c.Was != "" && c.Was != c.Content, html.F(`<p><del>{}</del></p>`, c.Was)),
			html.If(c.Content != "",
				html.F(`<p>{}</p>`, c.Content)),
		}
		list = append(list, html.F(`<li data-undone={}><p class="small"><strong>{}</strong> {}{}{}{}{}</p>{}</li>`,
			c.Undone, c.Op, clock(c.At, "2 Jan 2006, 15:04:05"), " by "+c.By, html.If(c.Undone, html.Text(", undone since")),
			html.If(c.Reason != "", html.F(`<span class="quiet">{}</span>`, ": "+c.Reason)),
			html.If(c.Other != "", html.Text(" "), html.F(`<a href={}>The other memory</a>`, s.one(v, c.Other))), text))
	}
	return html.F(`<ol class="changes">{}</ol>`, list)
}

// editForm changes the text and the marks of a memory.
func (s memoryScope) editForm(v *visit, m memoryOf) html.Part {
	check := func(name, label string, on bool) html.Part {
		return html.F(`<label class="check"><input type="checkbox" name={} value="1" checked={}><span>{}</span></label>`,
			name, on, label)
	}
	return html.F(`<form class="edit" method="post" action={}>{}{}{}<label><span>Text</span>
			<textarea name="content" rows="4" required>{}</textarea></label><label><span>Tags, separated by commas</span>
			<input name="tags" value={}></label>{}<label><span>Importance, 0 to 1</span>
			<input type="number" name="importance" min="0" max="1" step="any" value={}></label>{}{}<div class="actions">
			<button class="main">Save</button></div></form>`,
		v.link(memoryPath+"/edit"), v.tokenField(), hidden("id", m.ID), hidden("user", s.user), m.Content,
		strings.Join(m.Tags, ", "), hidden("tags_before", strings.Join(m.Tags, ", ")),
		strconv.FormatFloat(m.Importance, 'g', -1, 64), check("pinned", "Pinned: in every prompt", m.Pinned),
		check("profile", "Lasting: describes the user", m.Profile))
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
		class := "small"
		if name == "delete" || name == "discard" || name == "erase" {
			class = "small danger"
		}
		list = append(list, html.F(`<button class={} name="do" value={} data-confirm={}>{}<span class="unseen">{}</span></button>`,
			class, name, html.When(name == "erase", "Erase this memory and its turn? They cannot be brought back."),
			memoryActions[name].name, " "+excerpt(m.Content, 60)))
	}
	return html.F(`<form class="actions" method="post" action={}>{}{}{}{}{}</form>`,
		v.link(memoryPath+"/act"), v.tokenField(), hidden("id", m.ID), hidden("user", s.user), hidden("back", v.r.URL.RequestURI()),
		list)
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
	return html.If(text != "", html.F(`<p class="note" role="status">{}</p>`, text))
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
		rows = append(rows, html.F(`<li class="memory" id={}><div><p class="content">{}</p><p class="small fate">{}</p>
			<div class="about small">{}{}</div></div></li>`,
			anchor(m.ID), m.Content, sentence(m.Reason), s.about(v, m.memoryOf), s.actions(v, m.memoryOf)))
	}
	return html.F(`<section class="quarantine"><h2>In quarantine</h2><p class="quiet">No answer shows these texts until a person
			releases them.</p><ul>{}</ul></section>`,
		rows), nil
}
