package web

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

const teamsPath = root + "/teams"

func teamsPage() page {
	return page{path: teamsPath, name: "Teams", view: showTeams, also: map[string]view{
		"GET " + teamsPath + "/one": showTeam, "GET " + teamsPath + "/stream": streamTeam,
	}}
}

// showTeams lists the clusters.
func showTeams(v *visit) (html.Part, error) {
	found, err := get[struct {
		Clusters []struct {
			Cluster  string
			Messages int
			Created  time.Time `json:"created_at"`
			Last     time.Time `json:"last_timestamp"`
		}
		Next string `json:"next_cursor"`
	}](v, "/v1/clusters", v.query("limit", "100", "cursor", v.param("cursor")))
	if err != nil {
		return nil, err
	}
	var rows html.List
	for _, c := range found.Clusters {
		rows = append(rows, html.F(`<tr><th scope="row"><a href={}>{}</a></th><td class="number">{}</td><td>{}</td><td>{}</td></tr>`,
			v.link(teamsPath+"/one", "cluster", c.Cluster), c.Cluster, grouped(c.Messages), clock(c.Created, "2 Jan 2006, 15:04"),
			html.If(!c.Last.IsZero(), clock(c.Last, "2 Jan 2006, 15:04"))))
	}
	head := html.List{column("Cluster"), numberColumn("Messages"), column("Begun (UTC)"), column("Last message (UTC)")}
	return html.List{
		heading("Teams"),
		html.If(len(rows) == 0, html.F(`<p class="empty">No cluster has messages. The agents of a team send each other messages with POST
			/v1/clusters/{cluster}/messages; the first one creates the cluster.</p>`)),
		html.If(len(rows) > 0, html.F(`<div class="scroll listed"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>`,
			head, rows)),
		html.If(found.Next != "", html.F(`<p class="pager"><a class="button" href={}>More</a></p>`,
			v.link(teamsPath, "cursor", found.Next))),
	}, nil
}

// ledgerMessage is a message of a cluster.
type ledgerMessage struct {
	Sequence, Topic, Sender, Receiver, Text string
	Timestamp                               int64
	Data                                    json.RawMessage
}

// row shows a message of the ledger.
func (m ledgerMessage) row() html.Part {
	to := ""
	if m.Receiver != "" && m.Receiver != "broadcast" {
		to = " to " + m.Receiver
	}
	return html.F(`<li class="message"><p class="speaker small"><strong>{}</strong>{}<span class="tag">{}</span> {}
			<span class="quiet number">{}</span></p>{}{}</li>`,
		m.Sender, to+" ", m.Topic, clock(time.UnixMilli(m.Timestamp), "2 Jan 2006, 15:04:05"), " #"+m.Sequence,
		html.If(m.Text != "", said(m.Text)),
		html.If(len(m.Data) > 0 && string(m.Data) != "null", html.F(`<details><summary class="small">{}</summary>
			<pre class="result">{}</pre></details>`,
			excerpt(plainJSON(m.Data), 100), plainJSON(m.Data))))
}

// showTeam shows the ledger of a cluster, its state, and the pack that an agent would get.
func showTeam(v *visit) (html.Part, error) {
	cluster := v.r.URL.Query().Get("cluster")
	path := "/v1/clusters/" + segment(cluster)
	if _, err := get[struct{}](v, path, v.query()); err != nil {
		return nil, err
	}
	state, err := get[struct{ Text string }](v, path+"/state", v.query())
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) { // a cluster without a task has no state
		return nil, err
	}
	list, err := get[struct{ Messages []ledgerMessage }](v, path+"/messages", v.query("order", "desc", "limit", "200"))
	if err != nil {
		return nil, err
	}
	v.title = cluster
	var rows html.List
	newest := "0"
	for i, m := range list.Messages {
		if i == 0 {
			newest = m.Sequence
		}
		rows = append(rows, m.row())
	}
	pack := v.pack(cluster, list.Messages)
	return html.List{
		heading(cluster, html.F(`<a class="button" href={}>All teams</a>`, v.link(teamsPath))),
		html.If(state.Text != "", html.F(`<section><h2>State</h2><pre class="result">{}</pre></section>`, state.Text)),
		html.F(`<div class="sides team"><section><h2>Ledger</h2><p class="quiet small" role="status">Newest first; the newest
			200. New messages appear by themselves.</p><ol class="messages" id="ledger" data-stream={}>{}</ol></section>
			<section><h2>The pack of an agent</h2>{}</section></div>`,
			v.link(teamsPath+"/stream", "cluster", cluster, "after", newest), rows, pack),
	}, nil
}

// streamTeam relays new messages of a cluster as server-sent events whose data is HTML.
func streamTeam(v *visit) (html.Part, error) {
	q := v.r.URL.Query()
	after := cmp.Or(v.r.Header.Get("Last-Event-ID"), q.Get("after"))
	resp, err := v.client.Call(v.r.Context(), http.MethodGet, "/v1/clusters/"+segment(q.Get("cluster"))+"/stream",
		v.query("after_sequence", after), nil, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(v.w)
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, nil // the stream has ended, or the visitor is gone
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		var m ledgerMessage
		switch {
		case field == "id":
			err = v.sendLine(out, "id: "+value+"\n")
		case field == "data" && json.Unmarshal([]byte(value), &m) == nil && m.Sequence != "":
			err = v.sendEvent(out, "message", m.row())
		case field == "":
			err = v.sendLine(out, ":\n\n")
		}
		if err != nil {
			return nil, nil
		}
	}
}

// packOf has the fields of a pack that the page shows.
type packOf struct {
	Context, Note string
	Budget        struct {
		Max  int `json:"max_tokens"`
		Used int `json:"used_tokens"`
	}
	Decisions []struct {
		ID, Priority, Status, Reason, Variant string
		Tokens                                int
		Truncated                             bool
	}
	Sources []struct {
		ID, Topic, Reason          string
		Stored, Withheld, Selected int
		InRange                    int `json:"in_range"`
	}
	Warnings []struct{ Field, Message string }
}

// pack asks for an agent and a strategy, and shows the pack that the agent would get now.
func (v *visit) pack(cluster string, messages []ledgerMessage) html.Part {
	q := v.r.URL.Query()
	strategy := cmp.Or(q.Get("strategy"), usualStrategy(messages))
	field := func(label, name string) html.Part {
		return html.F(`<label><span>{}</span><input name={} value={} maxlength="256" autocomplete="off"></label>`,
			label, name, q.Get(name))
	}
	form := html.F(`<form class="edit" method="get" action={}>{}{}<div class="scope memories">{}{}{}</div><label>
			<span>Strategy: sources and maxTokens, as JSON</span>
			<textarea class="mono" name="strategy" rows="8" maxlength="8000" spellcheck="false">{}</textarea></label>
			<div class="actions"><button class="main">Show the pack</button></div></form>`,
		teamsPath+"/one", v.namespaceField(), hidden("cluster", cluster), field("Agent", "agent"), field("Role", "role"),
		field("Started by message #", "trigger"), strategy)
	if q.Get("strategy") == "" {
		return form
	}
	request := map[string]any{
		"cluster": cluster, "explain": true, "strategy": json.RawMessage(strategy),
		"agent": map[string]any{"id": q.Get("agent"), "role": q.Get("role")},
	}
	if !json.Valid([]byte(strategy)) {
		return html.List{form, v.problem(ragctx.Invalid("strategy", "is not JSON; use an object with sources and maxTokens"))}
	}
	if t := q.Get("trigger"); t != "" {
		request["trigger"] = map[string]any{"sequence": t}
	}
	p, err := send[packOf](v, http.MethodPost, "/v1/packs", v.query(), request)
	if err != nil {
		return html.List{form, v.problem(err)}
	}
	return html.List{form, p.shown()}
}

// usualStrategy is a strategy with the topics that the cluster has: the newest messages of each.
func usualStrategy(messages []ledgerMessage) string {
	type source struct {
		Topic    string `json:"topic"`
		Strategy string `json:"strategy"`
		Amount   int    `json:"amount"`
	}
	var sources []source
	seen := url.Values{}
	for _, m := range messages {
		if !seen.Has(m.Topic) && len(sources) < 8 {
			seen.Set(m.Topic, "")
			sources = append(sources, source{m.Topic, "latest", 3})
		}
	}
	b, _ := json.MarshalIndent(map[string]any{"sources": sources, "maxTokens": 4000}, "", "  ") // texts and numbers: cannot fail
	return plainJSON(b)
}

// shown shows a pack, why each part is in it or not, and what each source found.
func (p packOf) shown() html.Part {
	var parts []part
	var rows, sources, notes html.List
	for i, d := range p.Decisions {
		state := d.Status
		if d.Variant != "" && d.Status == "included" {
			state += ", " + d.Variant
		}
		if d.Reason != "" {
			state += ": " + d.Reason
		}
		parts = append(parts, part{float64(d.Tokens), []string{"even", "odd"}[i%2], d.ID + ": " + amount(d.Tokens, "token")})
		rows = append(rows, html.F(`<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td class="number">{}</td></tr>`,
			d.ID, d.Priority, state, grouped(d.Tokens)))
	}
	for _, s := range p.Sources {
		text := fmt.Sprintf("%s: %d stored, %d in range, %d selected", cmp.Or(s.Topic, s.ID), s.Stored, s.InRange, s.Selected)
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		sources = append(sources, html.F(`<li>{}</li>`, text))
	}
	for _, w := range p.Warnings {
		notes = append(notes, html.F(`<p class="note">{}</p>`, sentence(w.Field+" "+w.Message)))
	}
	if p.Note != "" {
		notes = append(notes, html.F(`<p class="note">{}</p>`, sentence(p.Note)))
	}
	label := amount(p.Budget.Used, "token")
	if p.Budget.Max > 0 {
		label = fmt.Sprintf("%s of %s", grouped(p.Budget.Used), amount(p.Budget.Max, "token"))
	}
	head := html.List{}
	for _, name := range []string{"Part", "Priority", "Decision", "Tokens"} {
		head = append(head, html.F(`<th scope="col">{}</th>`, name))
	}
	return html.F(`<div class="pack">{}<p><strong class="number">{}</strong>{}</p>{}<div class="scroll"><table><thead>
			<tr>{}</tr></thead><tbody>{}</tbody></table></div><ul class="quiet small">{}</ul>
			<h3>What the agent is shown</h3><pre class="result">{}</pre></div>`,
		notes, label, ", "+amount(len(p.Decisions), "part"), stack(float64(max(p.Budget.Max, p.Budget.Used)), label, parts...),
		head, rows, sources, p.Context)
}
