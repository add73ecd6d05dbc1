package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

const (
	conversationsPath = root + "/conversations"
	// maxMessages is how many messages of a conversation the page draws and lists.
	maxMessages = 1000
	// usualWindow is the window that the page compares with: the default of REST.
	usualWindow = 200_000
)

func conversationsPage() page {
	return page{path: conversationsPath, name: "Conversations", view: showConversations, also: map[string]view{
		"GET " + conversationsPath + "/one": showConversation, "GET " + conversationsPath + "/tokens": showTokens,
		"POST " + conversationsPath + "/act": actOnConversation,
	}}
}

// conversation has the fields of a session of REST that the pages show.
type conversation struct {
	ID, Leaf        string
	User            string    `json:"user_id"`
	Created         time.Time `json:"created_at"`
	Updated         time.Time `json:"updated_at"`
	Messages, Bytes int
}

// showConversations lists the stored sessions.
func showConversations(v *visit) (html.Part, error) {
	user, cursor := v.r.URL.Query().Get("user"), v.r.URL.Query().Get("cursor")
	type list struct {
		Sessions []conversation
		Next     string `json:"next_cursor"`
	}
	q := v.query("user_id", user, "limit", "100", "cursor", cursor)
	if user == "" {
		q.Set("all_users", "true")
	}
	found, err := get[list](v, "/v1/sessions", q)
	if errors.Is(err, ragctx.ErrDenied) && user == "" { // the key may not see those of all users
		q.Del("all_users")
		found, err = get[list](v, "/v1/sessions", q)
	}
	if err != nil {
		return nil, err
	}
	var rows html.List
	for _, c := range found.Sessions {
		rows = append(rows, html.F(`<tr><th scope="row"><a href={}>{}</a></th><td>{}</td><td class="number">{}</td>
			<td class="number">{}</td>
			<td>{}</td><td>{}</td></tr>`,
			c.link(v), c.ID, c.User, grouped(c.Messages), size(c.Bytes), clock(c.Created, "2 Jan 2006, 15:04"),
			clock(c.Updated, "2 Jan 2006, 15:04")))
	}
	head := html.List{
		column("Session"), column("User"), numberColumn("Messages"), numberColumn("Size"), column("Begun (UTC)"),
		column("Last change (UTC)"),
	}
	return html.List{
		heading("Conversations"),
		html.F(`<form class="memories" method="get" action={}>{}<div class="scope"><label><span>User</span>
			<input name="user" value={} placeholder="all users" maxlength="512" autocomplete="off"></label>
			<button class="main">Show</button></div></form>`,
			conversationsPath, v.namespaceField(), user),
		html.If(len(rows) == 0, html.F(`<p class="empty">No conversation is stored here. Agents store them with POST /v1/sessions; a
			conversation that is
			known only from turns is on the page Memory.</p>`)),
		html.If(len(rows) > 0, html.F(`<div class="scroll listed"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>`,
			head, rows)),
		html.If(found.Next != "", html.F(`<p class="pager"><a class="button" href={}>Earlier conversations</a></p>`,
			v.link(conversationsPath, "user", user, "cursor", found.Next))),
	}, nil
}

func (c conversation) link(v *visit, args ...string) string {
	return v.link(conversationsPath+"/one", append([]string{"id", c.ID, "user", c.User}, args...)...)
}

// message is a message of a stored session.
type message struct {
	ID, Role, Name string
	Parent         string    `json:"parent_id"`
	Created        time.Time `json:"created_at"`
	Content        ragctx.Content
	Metadata       map[string]any
}

// isTrace reports whether a message is a step of an execution. Metadata may hold anything.
func (m message) isTrace() bool { return m.Metadata["is_trace"] == true }

// compaction is a compaction record of a session.
type compaction struct {
	From, To string
	Created  time.Time `json:"created_at"`
	Record   struct {
		Summary, Strategy, Reason, Kind, Name string
		Keep                                  []string
		Before, After                         struct{ Messages, Tokens int }
		Pruned                                []struct {
			ID string `json:"message_id"`
		}
	}
}

// shown is what a model is shown of a session: an answer of compile or assemble.
type shown struct {
	Messages []message
	Tokens   int
	Hidden   []struct {
		Reason           string
		Messages, Tokens int
	}
	Dropped []struct {
		ID, Reason string
		Partial    bool
	}
}

// openConversation is a conversation with the branch that the page shows.
type openConversation struct {
	conversation

	Branches, Compactions int

	leaf        string // the last message of the branch shown
	window      int
	all, branch []message
	records     []compaction
	view        shown
	labels      map[string]string
}

func (c openConversation) path(suffix string) string { return "/v1/sessions/" + segment(c.ID) + suffix }

// openConversationOf reads the conversation that the address names.
func openConversationOf(v *visit) (c openConversation, err error) {
	q := v.r.URL.Query()
	c.ID, c.User, c.leaf = q.Get("id"), q.Get("user"), q.Get("leaf")
	if c.window, err = strconv.Atoi(cmp.Or(q.Get("window"), strconv.Itoa(usualWindow))); err != nil || c.window < 1 {
		return c, ragctx.Invalid("window", "is %q; use a number of tokens", ragctx.Clip(q.Get("window")))
	}
	user := v.query("user_id", c.User)
	found, err := get[struct {
		conversation

		Branches, Compactions int
	}](v, c.path(""), user)
	if err != nil {
		return c, err
	}
	found.User = c.User
	c.conversation, c.Branches, c.Compactions = found.conversation, found.Branches, found.Compactions
	c.leaf = cmp.Or(c.leaf, c.Leaf)
	if c.Messages == 0 {
		return c, nil
	}
	branch, err := get[struct{ Messages []message }](v, c.path("/messages"), v.query("user_id", c.User, "leaf", c.leaf, "limit",
		strconv.Itoa(maxMessages)))
	c.branch = branch.Messages
	return c, err
}

// read reads the messages, compactions and labels of the conversation.
func (c *openConversation) read(v *visit) error {
	user := v.query("user_id", c.User)
	all, err := get[struct{ Messages []message }](v, c.path("/messages"),
		v.query("user_id", c.User, "section", "messages", "limit", strconv.Itoa(maxMessages)))
	if err != nil {
		return err
	}
	records, err := get[struct{ Compactions []compaction }](v, c.path("/compactions"), user)
	if err != nil {
		return err
	}
	labels, err := get[struct {
		Labels []struct {
			ID    string `json:"message_id"`
			Label string
		}
	}](v, c.path("/labels"), user)
	if err != nil {
		return err
	}
	c.labels = make(map[string]string)
	for _, l := range labels.Labels {
		c.labels[l.ID] = l.Label
	}
	c.all, c.records = all.Messages, records.Compactions
	if c.Messages > 0 {
		c.view, err = send[shown](v, http.MethodPost, c.path(":compile"), user, c.compile(c.leaf))
	}
	return err
}

// compile requests what a model is shown of the branch up to a message.
func (c *openConversation) compile(leaf string) map[string]any {
	return map[string]any{"leaf": leaf, "max_tokens": c.window}
}

// showConversation shows a session: its branches, its tokens, and what a model is shown of it.
func showConversation(v *visit) (html.Part, error) {
	c, err := openConversationOf(v)
	if err == nil {
		err = c.read(v)
	}
	if err != nil {
		return nil, err
	}
	v.title = c.ID
	counts := fmt.Sprintf("%s, %s, %s", amount(c.Messages, "message"), amount(c.Branches, "branch"), amount(c.Compactions, "compaction"))
	address := func(args ...string) string {
		return c.link(v, append([]string{"window", strconv.Itoa(c.window)}, args...)...)
	}
	return html.List{
		heading(c.ID, html.F(`<span class="quiet">{}</span>`, counts), html.F(`<a class="button" href={}>What was learnt</a>`,
			v.link(memoryPath, "user", c.User, "session", c.ID)), html.F(`<a class="button" href={}>All conversations</a>`,
			v.link(conversationsPath))),
		conversationDone(v),
		html.If(c.Messages == 0, html.F(`<p class="empty">The conversation has no messages yet.</p>`)),
		html.If(c.Messages > 0,
			html.F(`<section class="branches"><h2>Branches</h2>{}{}</section>`, c.graph(address), c.branches(v, address)),
			html.F(`<section><h2>Tokens against the window</h2>{}
				<div class="token-chart" id="tokens" hx-get={} hx-trigger="load, again" aria-live="polite">
			<p class="quiet">Counting …</p></div></section>`,
				c.windowForm(v),
				v.link(conversationsPath+"/tokens", "id", c.ID, "user", c.User, "leaf", c.leaf, "window", strconv.Itoa(c.window))),
			html.F(`<section><h2>Compactions</h2>{}</section>`, c.compactions(v)),
			html.F(`<div class="sides stored"><section><h2>Stored</h2>{}</section><section>
			<h2>Shown to the model</h2>{}</section></div>`,
				c.stored(), c.seen())),
	}, nil
}

// windowForm chooses the window that the conversation is compared with.
func (c *openConversation) windowForm(v *visit) html.Part {
	leaf := ""
	if c.leaf != c.Leaf {
		leaf = c.leaf
	}
	return html.F(`<form class="memories" method="get" action={}>{}{}{}{}<div class="scope"><label>
			<span>Window of the model, in tokens</span><input type="number" name="window" min="1" max="10000000" value={}></label>
			<button>Compare</button></div></form>`,
		conversationsPath+"/one", v.namespaceField(), hidden("id", c.ID), html.If(c.User != "", hidden("user", c.User)),
		html.If(leaf != "", hidden("leaf", leaf)), c.window)
}

// conversationActions are the buttons of a conversation.
var conversationActions = map[string]struct{ name, done, verb string }{
	"compact":  {"Compact now", "Compacted: a summary stands for older messages.", ":compact"},
	"undo":     {"Undo the newest compaction", "The newest compaction is undone; its messages are shown again.", ":undo-compaction"},
	"navigate": {"Continue from here", "The next message follows the last one of this branch.", ":navigate"},
}

// button is a button of the conversation with the fields that it sends.
func (c *openConversation) button(v *visit, do string) html.Part {
	return html.F(`<form method="post" action={}>{}{}{}{}{}<button name="do" value={}>{}</button></form>`,
		v.link(conversationsPath+"/act"), v.tokenField(), hidden("id", c.ID), hidden("user", c.User), hidden("leaf", c.leaf),
		hidden("window", strconv.Itoa(c.window)), do, conversationActions[do].name)
}

// actOnConversation runs the action of a button.
func actOnConversation(v *visit) (html.Part, error) {
	do := v.param("do")
	a, known := conversationActions[do]
	if !known {
		return nil, ragctx.Invalid("do", "is %q, which the page cannot do", ragctx.Clip(do))
	}
	c := openConversation{conversation: conversation{ID: v.param("id"), User: v.param("user")}}
	var fields map[string]any
	switch do {
	case "compact":
		window, err := strconv.Atoi(v.param("window"))
		if err != nil {
			return nil, ragctx.Invalid("window", "is %q; use a number of tokens", ragctx.Clip(v.param("window")))
		}
		fields = map[string]any{"window": window}
	case "navigate":
		fields = map[string]any{"message_id": v.param("leaf")}
	}
	out, err := send[struct{ Compacted bool }](v, http.MethodPost, c.path(a.verb), v.query("user_id", c.User), body(fields))
	if err != nil {
		return nil, err
	}
	if do == "compact" && !out.Compacted {
		do = "nothing"
	}
	return v.goTo(c.link(v, "window", v.param("window"), "done", do))
}

// conversationDone confirms the last action of the visitor.
func conversationDone(v *visit) html.Part {
	do := v.r.URL.Query().Get("done")
	text := conversationActions[do].done
	if do == "nothing" {
		text = "Nothing was compacted: too few messages lie between those that stay, or no summary was smaller than they are."
	}
	return html.If(text != "", html.F(`<p class="note" role="status">{}</p>`, text))
}

// htmlSafe are the escapes that encoding/json writes for the sake of HTML. A backslash that is itself escaped stays.
var htmlSafe = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// plainJSON returns JSON for people. The page escapes it anyway.
func plainJSON(raw []byte) string { return htmlSafe.Replace(string(raw)) }

// compactText returns JSON on one line for people.
func compactText(raw json.RawMessage) string { return excerpt(plainJSON(raw), 400) }
