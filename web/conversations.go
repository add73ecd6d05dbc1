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
	"github.com/ragctx/ragctx/web/html"
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
	ID, Leaf, Layer string
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
		rows = append(rows, html.E("tr",
			html.E("th", html.A("scope", "row"), html.E("a", html.A("href", c.link(v)), html.Text(c.ID))),
			html.E("td", html.Text(c.User)), html.E("td.number", html.Text(grouped(c.Messages))), html.E("td.number",
				html.Text(size(c.Bytes))),
			html.E("td", clock(c.Created, "2 Jan 2006, 15:04")), html.E("td", clock(c.Updated, "2 Jan 2006, 15:04"))))
	}
	head := html.List{}
	for _, name := range []string{"Session", "User", "Messages", "Size", "Begun (UTC)", "Last change (UTC)"} {
		class := "th"
		if name == "Messages" || name == "Size" {
			class = "th.number"
		}
		head = append(head, html.E(class, html.A("scope", "col"), html.Text(name)))
	}
	return html.List{
		heading("Conversations"),
		html.E("form.memories", html.A("method", "get"), html.A("action", conversationsPath), v.namespaceField(), html.E("div.scope",
			html.E("label", html.E("span", html.Text("User")), html.E("input", html.A("name", "user"), html.A("value", user),
				html.A("placeholder", "all users"), html.A("maxlength", "512"), html.A("autocomplete", "off"))),
			html.E("button.main", html.Text("Show")))),
		html.If(len(rows) == 0, html.E("p.empty",
			html.Text("No conversation is stored here. Agents store them with POST /v1/sessions; a conversation "+
				"that is known only from turns is on the page Memory."))),
		html.If(len(rows) > 0, html.E("div.scroll.listed", html.E("table", html.E("thead", html.E("tr", head)), html.E("tbody", rows)))),
		html.If(found.Next != "", html.E("p.pager", html.E("a.button", html.A("href", v.link(conversationsPath, "user", user,
			"cursor", found.Next)),
			html.Text("Earlier conversations")))),
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
	ID, From, To string
	Created      time.Time `json:"created_at"`
	Record       struct {
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
	counts := fmt.Sprintf("%s, %s, %s", amount(c.Messages, "message"), amount(c.Branches, "branch"), amount(c.Compactions,
		"compaction"))
	address := func(args ...string) string {
		return c.link(v, append([]string{"window", strconv.Itoa(c.window)}, args...)...)
	}
	return html.List{
		heading(c.ID, html.E("span.quiet", html.Text(counts)), html.E("a.button", html.A("href", v.link(memoryPath, "user", c.User,
			"session", c.ID)),
			html.Text("What was learnt")), html.E("a.button", html.A("href", v.link(conversationsPath)), html.Text("All conversations"))),
		conversationDone(v),
		html.If(c.Messages == 0, html.E("p.empty", html.Text("The conversation has no messages yet."))),
		html.If(c.Messages > 0,
			html.E("section.branches", html.E("h2", html.Text("Branches")), c.graph(address), c.branches(v, address)),
			html.E("section", html.E("h2", html.Text("Tokens against the window")), c.windowForm(v),
				html.E("div.token-chart#tokens", html.A("hx-get", v.link(conversationsPath+"/tokens", "id", c.ID, "user", c.User, "leaf",
					c.leaf,
					"window", strconv.Itoa(c.window))), html.A("hx-trigger", "load, again"), html.A("aria-live", "polite"),
					html.E("p.quiet", html.Text("Counting …")))),
			html.E("section", html.E("h2", html.Text("Compactions")), c.compactions(v)),
			html.E("div.sides.stored", html.E("section", html.E("h2", html.Text("Stored")), c.stored()),
				html.E("section", html.E("h2", html.Text("Shown to the model")), c.seen()))),
	}, nil
}

// windowForm chooses the window that the conversation is compared with.
func (c *openConversation) windowForm(v *visit) html.Part {
	leaf := ""
	if c.leaf != c.Leaf {
		leaf = c.leaf
	}
	return html.E("form.memories", html.A("method", "get"), html.A("action", conversationsPath+"/one"), v.namespaceField(),
		hidden("id", c.ID),
		html.If(c.User != "", hidden("user", c.User)), html.If(leaf != "", hidden("leaf", leaf)), html.E("div.scope",
			html.E("label", html.E("span", html.Text("Window of the model, in tokens")), html.E("input", html.A("type", "number"),
				html.A("name", "window"),
				html.A("min", "1"), html.A("max", "10000000"), html.Int("value", c.window))),
			html.E("button", html.Text("Compare"))))
}

// conversationActions are the buttons of a conversation.
var conversationActions = map[string]struct{ name, done, verb string }{
	"compact":  {"Compact now", "Compacted: a summary stands for older messages.", ":compact"},
	"undo":     {"Undo the newest compaction", "The newest compaction is undone; its messages are shown again.", ":undo-compaction"},
	"navigate": {"Continue from here", "The next message follows the last one of this branch.", ":navigate"},
}

// button is a button of the conversation with the fields that it sends.
func (c *openConversation) button(v *visit, do string) html.Part {
	return html.E("form", html.A("method", "post"), html.A("action", v.link(conversationsPath+"/act")), v.tokenField(), hidden("id",
		c.ID),
		hidden("user", c.User), hidden("leaf", c.leaf), hidden("window", strconv.Itoa(c.window)),
		html.E("button", html.A("name", "do"), html.A("value", do), html.Text(conversationActions[do].name)))
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
	return html.If(text != "", html.E("p.note", html.A("role", "status"), html.Text(text)))
}

// htmlSafe are the escapes that encoding/json writes for the sake of HTML. A backslash that is itself escaped stays.
var htmlSafe = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// plainJSON returns JSON for people. The page escapes it anyway.
func plainJSON(raw []byte) string { return htmlSafe.Replace(string(raw)) }

// compactText returns JSON on one line for people.
func compactText(raw json.RawMessage) string { return excerpt(plainJSON(raw), 400) }
