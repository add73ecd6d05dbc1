package web

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

const (
	memoryPath = root + "/memory"
	// maxMemories is how many memories of each state a timeline is made of.
	maxMemories = 500
	// momentsPerPage is how many turns a page of the timeline shows.
	momentsPerPage = 25
)

func memoryPage() page {
	return page{path: memoryPath, name: "Memory", view: showMemory, also: map[string]view{
		"GET " + memoryPath + "/timeline": showTimeline, "GET " + memoryPath + "/one": showOneMemory,
		"POST " + memoryPath + "/edit": saveMemory, "POST " + memoryPath + "/act": actOnMemory,
	}}
}

// memoryOf has the fields of a memory of REST that the timeline shows.
type memoryOf struct {
	ID, Content, State string
	User               string `json:"user_id"`
	Session            string `json:"session_id"`
	Type               string `json:"memory_type"`
	Importance         float64
	Tags               []string
	Occurred, Recorded time.Time
	Pinned, Profile    bool
	About              *struct {
		Kind, Subject, Attribute, Value, Rule, Reason, When string
		Confidence                                          float64
	}
	Sources []evidence
}

// evidence is a place in a message of a turn, in code points.
type evidence struct {
	Turn                string
	Message, Start, End int
	At                  time.Time
}

// said returns the time of the turn that a memory is from.
func (m memoryOf) said() time.Time {
	if len(m.Sources) > 0 {
		return m.Sources[0].At
	}
	return m.Occurred
}

// turn returns the turn that a memory is from. The memory of a turn has the id of the turn.
func (m memoryOf) turn() string {
	if len(m.Sources) > 0 {
		return m.Sources[0].Turn
	}
	return m.ID
}

// kind returns a short name of the kind of the memory.
func (m memoryOf) kind() string {
	if m.About != nil {
		return m.About.Kind
	}
	return m.Type
}

// memoryScope is the selection of the form.
type memoryScope struct {
	user, contains, session, show string
	asOf                          string // RFC 3339; "" is now
	page                          int
}

// memoryStates are the selections of the page with the states that they list.
var memoryStates = []struct {
	value, name string
	states      []string
}{
	{"", "everything", []string{"active", "superseded", "expired", "deleted"}},
	{"current", "what is current", []string{"active"}},
	{"past", "what was superseded or has expired", []string{"superseded", "expired"}},
	{"deleted", "what was deleted", []string{"deleted"}},
}

func readMemoryScope(v *visit) memoryScope {
	q := v.r.URL.Query()
	s := memoryScope{user: q.Get("user"), contains: q.Get("words"), session: q.Get("session"), show: q.Get("show"), asOf: q.Get("as_of")}
	s.page, _ = strconv.Atoi(q.Get("page")) // no number is the first page
	s.page = max(s.page, 1)
	return s
}

// link returns an address of the timeline with this scope, and with other values for some of its parameters.
func (s memoryScope) link(v *visit, args ...string) string {
	return v.link(memoryPath, append([]string{
		"user", s.user, "words", s.contains, "session", s.session, "show", s.show, "as_of",
		s.asOf,
	}, args...)...)
}

// query returns the parameters of REST that select the memories.
func (s memoryScope) query(v *visit, args ...string) url.Values {
	return v.query(append([]string{
		"user_id", s.user, "contains", s.contains, "session_id", s.session,
		"order", "recent", "limit", strconv.Itoa(maxMemories),
	}, args...)...)
}

type memoryList struct {
	Memories []memoryOf
	Next     string `json:"next_cursor"`
}

// memories returns the newest memories of the scope in some states, newest first. more reports that there
// are others.
func (s memoryScope) memories(v *visit, states []string) (all []memoryOf, more bool, err error) {
	lists, failed := make([]memoryList, len(states)), make([]error, len(states))
	var calls sync.WaitGroup
	for i, state := range states {
		calls.Go(func() { lists[i], failed[i] = get[memoryList](v, "/v1/memories", s.query(v, "state", state)) })
	}
	calls.Wait()
	for i, list := range lists {
		for j := range list.Memories {
			list.Memories[j].State = states[i]
		}
		all, more = append(all, list.Memories...), more || list.Next != ""
	}
	sortMemories(all)
	return all, more, errors.Join(failed...)
}

// sortMemories sorts by the time of the turn, newest first; within a turn its own text is the first.
func sortMemories(all []memoryOf) {
	slices.SortStableFunc(all, func(a, b memoryOf) int {
		return cmp.Or(b.said().Compare(a.said()), cmp.Compare(a.turn(), b.turn()), cmp.Compare(len(a.Sources), len(b.Sources)),
			a.Recorded.Compare(b.Recorded), cmp.Compare(a.ID, b.ID))
	})
}

// showMemory shows what was learnt of a user, as a timeline.
func showMemory(v *visit) (html.Part, error) {
	s := readMemoryScope(v)
	all, more, err := s.listed(v)
	if err != nil {
		return nil, err
	}
	known, err := s.timeline(v, all, more)
	if err != nil {
		return nil, err
	}
	users, err := usersOf(v)
	if err != nil {
		return nil, err
	}
	if s.contains != "" || s.show != "" || s.asOf != "" { // the slider covers the whole time
		if all, _, err = s.whole().memories(v, memoryStates[0].states); err != nil {
			return nil, err
		}
	}
	form := s.form(v, users, momentsOf(all))
	return html.List{heading("Memory"), done(v), form, s.choice(v, users), html.F(`<div id="timeline">{}</div>`, known)}, nil
}

// userCount is a user with the number of their memories.
type userCount struct {
	Name, Type string
	Total      int `json:"total_memories"`
}

// usersOf suggests the users with memories. Only some keys may list them, so the page works without.
func usersOf(v *visit) ([]userCount, error) {
	found, err := get[struct{ Results []userCount }](v, "/mem0/v1/entities", v.query())
	if err != nil && !errors.Is(err, ragctx.ErrUnauthenticated) {
		return nil, nil
	}
	return slices.DeleteFunc(found.Results, func(u userCount) bool { return u.Type != "user" }), err
}

// choice lists the users as links. A page without a user shows it.
func (s memoryScope) choice(v *visit, users []userCount) html.Part {
	var list html.List
	for _, u := range users {
		list = append(list, html.F(`<li><a href={}>{}</a> <span class="quiet">{}</span></li>`,
			v.link(memoryPath, "user", u.Name), u.Name, amount(u.Total, "memory")))
	}
	return html.If(s.user == "" && len(list) > 0, html.F(`<section class="users"><h2>Users</h2><ul>{}</ul></section>`, list))
}

// form selects the user and the memories, and has the slider.
func (s memoryScope) form(v *visit, users []userCount, times []time.Time) html.Part {
	var options, shows html.List
	for _, u := range users {
		options = append(options, html.F(`<option value={}>{}</option>`, u.Name, amount(u.Total, "memory")))
	}
	for _, m := range memoryStates {
		shows = append(shows, html.F(`<option value={} selected={}>{}</option>`, m.value, m.value == s.show, m.name))
	}
	field := func(label, name, value, hint string) html.Part {
		return html.F(`<label><span>{}</span><input name={} value={} placeholder={} maxlength="512" autocomplete="off" list={}></label>`,
			label, name, value, hint, html.When(name == "user", "users"))
	}
	return html.F(`<form class="memories" id="memories" method="get" action={} hx-get={} hx-trigger="input from:#as-of delay:80ms, again"
			hx-target="#timeline" hx-sync="this:replace">{}
			<div class="scope">{}<datalist id="users">{}</datalist>{}{}<label><span>Show</span>
			<select name="show">{}</select></label><button class="main">Show</button></div>{}</form>`,
		memoryPath, memoryPath+"/timeline", v.namespaceField(), field("User", "user", s.user, "memories without a user"), options,
		field("With the words", "words", s.contains, "any"), field("In session", "session", s.session, "any"), shows,
		s.slider(v, times))
}

// whole returns the scope with all words, states and times of its user and session.
func (s memoryScope) whole() memoryScope { return memoryScope{user: s.user, session: s.session} }

// momentsOf returns the times at which memories were learnt, oldest first.
func momentsOf(all []memoryOf) (times []time.Time) {
	for _, m := range all {
		times = append(times, m.Recorded)
	}
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// slider chooses the time as of which the timeline is shown: one step for each moment at which something was learnt.
func (s memoryScope) slider(v *visit, times []time.Time) html.Part {
	if len(times) < 2 {
		return nil
	}
	at, text := len(times), "now"
	if t, err := time.Parse(time.RFC3339Nano, s.asOf); err == nil {
		at, text = 0, moment(t)
		for at < len(times) && !times[at].After(t) {
			at++
		}
		at = max(at-1, 0)
	}
	return html.F(`<div class="as-of"><label for="as-of">As known on</label><output id="as-of-time" for="as-of">{}</output>
			<input id="as-of" type="range" name="step" min="0" max={} value={} aria-valuetext={}>{}<noscript>
			<p class="quiet">The slider needs scripts; the address takes as_of as well.</p></noscript></div>`,
		text, len(times), at, text, html.If(s.asOf != "", html.F(`<a href={}>Now</a>`, s.link(v, "as_of", "", "page", ""))))
}

// showTimeline answers the slider with the timeline as of its step, and puts the time into the address.
func showTimeline(v *visit) (html.Part, error) {
	s := readMemoryScope(v)
	whole, _, err := s.whole().memories(v, memoryStates[0].states)
	if err != nil {
		return nil, err
	}
	times := momentsOf(whole)
	step, err := strconv.Atoi(v.param("step"))
	if err != nil || step < 0 || step > len(times) {
		return nil, ragctx.Invalid("step", "is %q; use 0 to %d", ragctx.Clip(v.param("step")), len(times))
	}
	s.asOf, s.page = "", 1
	if step < len(times) {
		s.asOf = times[step].Format(time.RFC3339Nano)
	}
	v.w.Header().Set("HX-Replace-Url", s.link(v))
	all, more, err := s.listed(v)
	if err != nil {
		return nil, err
	}
	known, err := s.timeline(v, all, more)
	if err != nil {
		return nil, err
	}
	text := "now"
	if s.asOf != "" {
		text = moment(times[step])
	}
	return html.List{known, html.F(`<output id="as-of-time" for="as-of" hx-swap-oob="true">{}</output>`, text)}, nil
}

// moment returns a time for people, in UTC.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") }

// clock is a time that programs can read as well.
func clock(t time.Time, layout string) html.Part {
	return html.F(`<time datetime={} title={}>{}</time>`,
		t.UTC().Format(time.RFC3339), t.UTC().Format(time.RFC3339), t.UTC().Format(layout))
}
