package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

// turnOf has the fields of a turn of REST that the timeline shows.
type turnOf struct {
	ID               string
	Session          string `json:"session_id"`
	Prompt, Response string
	Messages         []struct {
		Role, Name string
		Content    ragctx.Content
	}
	Occurred time.Time
	Learnt   []struct {
		memoryChange

		ID string `json:"memory_id"`
	}
}

// memoryChange is a change of a memory.
type memoryChange struct {
	At                          time.Time
	Op, By, Turn, Other, Reason string
	Content, Was                string // the text after the change and before it
	Undone                      bool
}

// texts returns the texts of a turn's messages with their speakers.
func (t turnOf) texts() (speakers, texts []string) {
	if len(t.Messages) == 0 {
		return []string{"user", "assistant"}, []string{t.Prompt, t.Response}
	}
	for _, m := range t.Messages {
		speakers, texts = append(speakers, cmp.Or(m.Name, m.Role, "user")), append(texts, m.Content.String())
	}
	return speakers, texts
}

// group is what one turn left in memory, or one memory that is of no turn.
type group struct {
	turn string
	at   time.Time
	own  []memoryOf // the memory of the turn itself; at most one
	all  []memoryOf // what was learnt from it
}

// groupsOf puts the memories of a turn together. The memories are sorted.
func groupsOf(all []memoryOf) (groups []group) {
	for _, m := range all {
		if n := len(groups); n == 0 || groups[n-1].turn != m.turn() {
			groups = append(groups, group{turn: m.turn(), at: m.said()})
		}
		g := &groups[len(groups)-1]
		if len(m.Sources) == 0 {
			g.own = append(g.own, m)
		} else {
			g.all = append(g.all, m)
		}
	}
	return groups
}

// timeline shows a page of the memories of the scope. more reports that there are others.
func (s memoryScope) timeline(v *visit, all []memoryOf, more bool) (html.Part, error) {
	waiting, err := s.quarantine(v)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(all)
	pages := max((len(groups)+momentsPerPage-1)/momentsPerPage, 1)
	from := min((min(s.page, pages)-1)*momentsPerPage, len(groups))
	list, day := html.List{}, ""
	for _, g := range groups[from:min(from+momentsPerPage, len(groups))] {
		if d := g.at.UTC().Format("2 January 2006"); d != day {
			day = d
			list = append(list, html.F(`<li class="day"><h2>{}</h2></li>`, day))
		}
		row, err := s.group(v, g)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return html.List{
		waiting, html.F(`<p class="quiet counts" role="status">{}</p>`, s.counted(all, more)),
		html.If(len(list) == 0, html.F(`<p class="empty">Nothing is remembered here. Turns that agents post with POST /v1/turns appear
			with what was learnt from their words. Choose a user to see what belongs to that user.</p>`)),
		html.If(len(list) > 0, html.F(`<ol class="timeline">{}</ol>`, list)), s.pager(v, pages),
	}, nil
}

// listed returns the memories of the scope at its time.
func (s memoryScope) listed(v *visit) (all []memoryOf, more bool, err error) {
	if s.asOf == "" {
		states := memoryStates[0].states
		for _, m := range memoryStates {
			if m.value == s.show {
				states = m.states
			}
		}
		return s.memories(v, states)
	}
	list, err := get[memoryList](v, "/v1/memories", s.query(v, "as_of", s.asOf))
	sortMemories(list.Memories)
	return list.Memories, list.Next != "", err
}

// counted says how much the timeline shows.
func (s memoryScope) counted(all []memoryOf, more bool) string {
	turns, facts, past := 0, 0, 0
	for _, m := range all {
		switch {
		case m.State == "superseded" || m.State == "deleted" || m.State == "expired":
			past++
		case len(m.Sources) > 0:
			facts++
		default:
			turns++
		}
	}
	text := fmt.Sprintf("%s from the words of turns, %s stored as they are", amount(facts, "fact"), amount(turns, "memory"))
	if past > 0 {
		text += fmt.Sprintf(", %s no longer current", grouped(past))
	}
	if more {
		text += fmt.Sprintf(". These are the newest %s of each state; narrow the selection to see others", grouped(maxMemories))
	}
	return text + "."
}

func (s memoryScope) pager(v *visit, pages int) html.Part {
	if pages < 2 {
		return nil
	}
	at := min(s.page, pages)
	return html.F(`<nav class="actions pager" aria-label="Timeline">{}<span class="quiet number">{}</span>{}</nav>`,
		html.If(at > 1, html.F(`<a class="button" href={}>Newer</a>`, s.link(v, "page", strconv.Itoa(at-1)))),
		fmt.Sprintf("page %d of %d", at, pages),
		html.If(at < pages, html.F(`<a class="button" href={}>Older</a>`, s.link(v, "page", strconv.Itoa(at+1)))))
}

// group shows the words of a turn with what was learnt from them.
func (s memoryScope) group(v *visit, g group) (html.Part, error) {
	t, err := get[turnOf](v, "/v1/turns/"+segment(g.turn), v.query("user_id", s.user))
	known := err == nil
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		return nil, err
	}
	var facts html.List
	for i, m := range g.all {
		row, err := s.memory(v, m, t, i+1)
		if err != nil {
			return nil, err
		}
		facts = append(facts, row)
	}
	var words html.Part
	switch {
	case known:
		words = wordsOf(t, g.all)
	case len(g.own) == 0:
		words = html.F(`<p class="quiet">The turn was deleted.</p>`)
	}
	for _, m := range g.own {
		if known { // its text is that of the turn
			m.Content = ""
		}
		row, err := s.memory(v, m, t, 0)
		if err != nil {
			return nil, err
		}
		if known {
			words = html.List{words, html.F(`<ul>{}</ul>`, row)}
		} else {
			facts = append(facts, row)
		}
	}
	return html.F(`<li class="moment"><p class="said-at">{}{}</p><div class="words">{}</div>{}{}</li>`,
		clock(g.at, "15:04"), html.If(t.Session != "", html.F(`<span class="tag">{}</span>`, t.Session)), words,
		html.If(len(facts) > 0, html.F(`<ul class="learnt">{}</ul>`, facts)),
		html.If(len(facts) == 0, html.F(`<p class="learnt quiet">Nothing was learnt from it.</p>`))), nil
}

// memory shows a memory with its fate and its actions. number marks its words in the turn; 0 is none.
func (s memoryScope) memory(v *visit, m memoryOf, t turnOf, number int) (html.Part, error) {
	past := m.State != "" && m.State != "active"
	fate := s.replaced(v, m, t)
	if past {
		end, err := s.end(v, m)
		if err != nil {
			return nil, err
		}
		fate = append(fate, end)
	}
	class := "memory"
	if past {
		class = "memory past"
	}
	return html.F(`<li class={} id={}>{}<div>{}{}<div class="about small">{}{}</div></div></li>`,
		class, anchor(m.ID),
		html.If(number > 0, html.F(`<span class="mark-number" aria-label={}>{}</span>`,
			fmt.Sprintf("from the words marked %d", number),
			number)), html.If(m.Content != "", html.F(`<p class="content">{}</p>`, m.Content)), fate, s.about(v, m),
		s.actions(v, m)), nil
}

// replaced lists the memories that a memory of a turn superseded.
func (s memoryScope) replaced(v *visit, m memoryOf, t turnOf) (list html.List) {
	for _, c := range t.Learnt {
		if c.Op == "superseded" && c.Other == m.ID && !c.Undone {
			list = append(list, html.F(`<p class="small"><span class="quiet">replaces </span><a href={}><del>{}</del></a></p>`,
				s.one(v, c.ID), excerpt(c.Was, 200)))
		}
	}
	return list
}

// about names the kind of a memory and its marks, and leads to its page.
func (s memoryScope) about(v *visit, m memoryOf) html.Part {
	certain := ""
	if m.Content == "" {
		m.Type = "the turn itself"
	}
	if m.About != nil {
		certain = fmt.Sprintf(", %.0f %% certain", 100*m.About.Confidence)
	}
	return html.List{
		html.F(`<span class="quiet">{}</span>`, m.kind()+certain), html.If(m.Pinned, html.F(`<span class="tag on">pinned</span>`)),
		html.If(m.Profile, html.F(`<span class="tag"
			title="A lasting description of the user; it is in every answer for the user.">lasting</span>`)),
		html.F(`<a href={}><span>History</span><span class="unseen">{}</span></a>`,
			s.one(v, m.ID), " of "+excerpt(cmp.Or(m.Content, m.ID), 60)),
	}
}

// end shows the fate of a memory that is no longer current.
func (s memoryScope) end(v *visit, m memoryOf) (html.Part, error) {
	h, err := get[memoryHistory](v, "/v1/memories/"+segment(m.ID)+"/history", v.query("user_id", s.user))
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		return nil, err
	}
	for _, c := range slices.Backward(h.History) {
		if c.Op != "superseded" && c.Op != "deleted" && c.Op != "pruned" || c.Undone {
			continue
		}
		return html.F(`<p class="small"><span class="fate">{}</span>{}{}{}</p>`,
			c.Op+" ", clock(c.At, "2 Jan 2006, 15:04"),
			html.If(c.Other != "", html.Text(" by "), html.F(`<a href={}>what replaced it</a>`, s.one(v, c.Other))),
			html.If(c.Reason != "", html.F(`<span class="quiet">{}</span>`, ": "+c.Reason))), nil
	}
	return html.F(`<p class="small fate">{}</p>`, m.State), nil
}

// wordsOf shows the texts of a turn with the words that memories were learnt from marked by their numbers.
func wordsOf(t turnOf, facts []memoryOf) html.Part {
	speakers, texts := t.texts()
	var list html.List
	for i, text := range texts {
		if text == "" {
			continue
		}
		list = append(list, html.F(`<p class="speaker small">{}</p>`, speakers[i]), html.F(`<p class="said">{}</p>`,
			markedWords([]rune(text), spansOf(t.ID, i, facts))))
	}
	return list
}

// span is a marked part of a text in code points, with the number of what it stands for.
type span struct{ start, end, number int }

// spansOf returns the spans of a message of a turn that memories rest on.
func spansOf(turn string, message int, facts []memoryOf) (spans []span) {
	for i, m := range facts {
		for _, e := range m.Sources {
			if e.Turn == turn && e.Message == message {
				spans = append(spans, span{e.Start, e.End, i + 1})
			}
		}
	}
	return spans
}

// margin is how many characters are shown around the marked words of a long text.
const margin = 300

// markedWords marks spans, which may overlap, and writes the number of a span after its end. Of a long text
// it shows the surroundings of the marks.
func markedWords(text []rune, spans []span) (list html.List) {
	from, to := 0, min(len(text), 4*margin)
	cuts := []int{}
	for _, s := range spans {
		if s.start < 0 || s.end > len(text) || s.start >= s.end {
			continue
		}
		cuts = append(cuts, s.start, s.end)
	}
	if len(cuts) > 0 {
		if len(text) > 4*margin {
			from = max(slices.Min(cuts)-margin, 0)
		}
		to = min(max(slices.Max(cuts)+margin, 4*margin), len(text))
	}
	cuts = append(cuts, from, to)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if from > 0 {
		list = append(list, html.Text("… "))
	}
	for i := 0; i+1 < len(cuts); i++ {
		a, b := cuts[i], cuts[i+1]
		piece := html.Text(string(text[a:b]))
		marked := slices.ContainsFunc(spans, func(s span) bool { return s.start <= a && b <= s.end })
		if !marked {
			list = append(list, piece)
			continue
		}
		list = append(list, html.F(`<mark>{}</mark>`, piece))
		for _, s := range spans {
			if s.end == b {
				list = append(list, html.F(`<sup class="mark-number">{}</sup>`, strconv.Itoa(s.number)))
			}
		}
	}
	if to < len(text) {
		list = append(list, html.Text(" …"))
	}
	return list
}

// anchor returns an id of an element for any id of a memory.
func anchor(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "m-" + hex.EncodeToString(sum[:6])
}
