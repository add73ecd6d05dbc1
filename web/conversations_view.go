package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

// fates returns what became of the messages of the branch, by id. A message that is shown as it is has none.
func (c *openConversation) fates() map[string]string {
	fates, seen := make(map[string]string), make(map[string]bool)
	for _, m := range c.view.Messages {
		seen[m.ID] = true
	}
	for _, m := range c.branch {
		switch {
		case seen[m.ID]:
		case m.isTrace():
			fates[m.ID] = "hidden: a step of an earlier execution"
		default:
			fates[m.ID] = "not shown"
		}
	}
	for i, r := range c.records {
		for _, m := range c.covered(r) {
			if !seen[m.ID] {
				fates[m.ID] = fmt.Sprintf("replaced by compaction %d", i+1)
			}
		}
		for _, p := range r.Record.Pruned {
			if seen[p.ID] {
				fates[p.ID] = fmt.Sprintf("shortened by compaction %d", i+1)
			}
		}
	}
	for _, d := range c.view.Dropped {
		fates[d.ID] = "left out: " + cmp.Or(messageDrops[d.Reason], d.Reason)
		if d.Partial {
			fates[d.ID] = "shortened: " + cmp.Or(messageDrops[d.Reason], d.Reason)
		}
	}
	return fates
}

var messageDrops = map[string]string{
	"budget": "newer messages use the window", "boundary": "a conversation cannot begin with it",
	"orphan_result":   "its tool call is missing",
	"unanswered_call": "its result is missing", "empty": "it has no content",
}

// covered returns the messages of the branch that a compaction replaced.
func (c *openConversation) covered(r compaction) []message {
	from := slices.IndexFunc(c.branch, func(m message) bool { return m.ID == r.From })
	to := slices.IndexFunc(c.branch, func(m message) bool { return m.ID == r.To })
	if r.From == "" || from < 0 || to < from {
		return nil
	}
	var out []message
	for _, m := range c.branch[from : to+1] {
		if !slices.Contains(r.Record.Keep, m.ID) {
			out = append(out, m)
		}
	}
	return out
}

// stored lists the messages of the branch with what became of them.
func (c *openConversation) stored() html.Part {
	fates := c.fates()
	var list html.List
	for _, m := range c.branch {
		class := "message"
		if f := fates[m.ID]; f != "" && !strings.HasPrefix(f, "shortened") {
			class = "message unshown"
		}
		list = append(list, html.F(`<li class={} id={}>{}{}{}</li>`,
			class, anchor(m.ID), m.head(c.labels[m.ID]),
			html.If(fates[m.ID] != "", html.F(`<p class="fate small">{}</p>`, fates[m.ID])), contentOf(m.Content)))
	}
	return html.List{
		html.If(len(c.branch) == maxMessages, html.F(`<p class="quiet">{}</p>`,
			"The newest "+grouped(maxMessages)+" messages of the branch.")),
		html.F(`<ol class="messages">{}</ol>`, list),
	}
}

// seen lists the messages as a model is shown them.
func (c *openConversation) seen() html.Part {
	stored := make(map[string]bool)
	for _, m := range c.branch {
		stored[m.ID] = true
	}
	var list, hidden html.List
	for _, m := range c.view.Messages {
		class, note := "message", ""
		if !stored[m.ID] {
			class, note = "message summary", "made by compaction"
		}
		list = append(list, html.F(`<li class={}>{}{}{}</li>`,
			class, m.head(""), html.If(note != "", html.F(`<p class="made small">{}</p>`, note)), contentOf(m.Content)))
	}
	for _, h := range c.view.Hidden {
		hidden = append(hidden, html.F(`<li>{}</li>`,
			fmt.Sprintf("%s: %s, %s saved", cmp.Or(hiddenReasons[h.Reason], h.Reason), amount(h.Messages, "message"),
				amount(h.Tokens, "token"))))
	}
	return html.List{
		html.F(`<p class="quiet small">{}</p>`,
			fmt.Sprintf("%s, %s.", amount(len(c.view.Messages), "message"), amount(c.view.Tokens, "token"))),
		html.If(len(hidden) > 0, html.F(`<ul class="quiet small">{}</ul>`, hidden)), html.F(`<ol class="messages">{}</ol>`, list),
	}
}

var hiddenReasons = map[string]string{
	"section": "in a section that was not selected", "trace": "steps of earlier executions", "compacted": "replaced by a summary",
	"pruned": "old tool outputs", "stage": "replaced by a stage",
}

// head names the speaker and the time of a message.
func (m message) head(label string) html.Part {
	return html.F(`<p class="speaker small"><strong>{}</strong>{}{}{}</p>`,
		cmp.Or(m.Role, "user"), html.If(m.Name != "", html.Text(" "+m.Name)),
		html.If(!m.Created.IsZero(), html.Text(" "), clock(m.Created, "2 Jan 15:04:05")), html.If(label != "", html.Text(" "),
			html.F(`<span class="tag on">{}</span>`, label)))
}

// contentOf shows the blocks of a message.
func contentOf(content ragctx.Content) (list html.List) {
	for _, b := range content {
		switch b.Type {
		case ragctx.BlockText:
			list = append(list, said(b.Text))
		case ragctx.BlockToolUse:
			list = append(list, html.F(`<p class="call"><code>{}</code></p>`, b.Name+" "+compactText(b.Input)))
		case ragctx.BlockToolResult:
			list = append(list, html.If(b.IsError, html.F(`<p class="fault small">The tool failed.</p>`)), folded(b.Content.String(),
				html.F(`<pre class="result">{}</pre>`, b.Content.String())))
		case ragctx.BlockImage:
			list = append(list, html.F(`<p class="quiet">{}</p>`, fmt.Sprintf("Image, %s, %s", b.MediaType, size(len(b.Data)))))
		default:
			list = append(list, html.F(`<p class="call"><code>{}</code></p>`, compactText(b.Part)))
		}
	}
	return list
}

// folded shows the element of a text. That of a long text opens on demand.
func folded(text string, element html.Part) html.Part {
	const most = 700
	if len(text) <= most {
		return element
	}
	return html.F(`<details><summary>{}</summary>{}</details>`, excerpt(text, 240), element)
}

// said shows a text as it was said.
func said(text string) html.Part { return folded(text, html.F(`<p class="said">{}</p>`, text)) }

// compactions lists the records with what they replaced, and has the buttons that make and undo one.
func (c *openConversation) compactions(v *visit) html.Part {
	var list html.List
	for i, r := range c.records {
		var replaced html.List
		for _, m := range c.covered(r) {
			replaced = append(replaced, html.F(`<li><a href={}>{}</a></li>`,
				"#"+anchor(m.ID), cmp.Or(m.Role, "user")+": "+excerpt(textOf(m.Content), 120)))
		}
		list = append(list, html.F(`<li><p><strong>{}</strong> {}<span class="quiet">{}</span></p>{}{}</li>`,
			strconv.Itoa(i+1)+". "+cmp.Or(r.Record.Strategy, r.Record.Kind, "record"), clock(r.Created, "2 Jan 2006, 15:04:05"),
			fmt.Sprintf(" %s: %s tokens before, %s after", r.Record.Reason, grouped(r.Record.Before.Tokens),
				grouped(r.Record.After.Tokens)),
			html.If(r.Record.Summary != "", html.F(`<details><summary>Summary</summary><pre class="result">{}</pre></details>`,
				r.Record.Summary)),
			html.If(len(replaced) > 0, html.F(`<details><summary>{}</summary><ul class="small replaced">{}</ul></details>`,
				"Replaced: "+amount(len(replaced), "message"), replaced))))
	}
	return html.List{
		html.If(len(list) == 0, html.F(`<p class="quiet">None: the model is shown all messages that fit the window.</p>`)),
		html.If(len(list) > 0, html.F(`<ol class="records">{}</ol>`, list)),
		html.If(v.mayWrite(), html.F(`<div class="actions">{}{}</div>`,
			html.If(c.leaf == c.Leaf, c.button(v, "compact")), html.If(len(list) > 0, c.button(v, "undo")))),
	}
}

// textOf returns the first text of a content for a line of a list.
func textOf(content ragctx.Content) string {
	if s := content.String(); s != "" {
		return s
	}
	for _, b := range content {
		if b.Type == ragctx.BlockToolUse {
			return b.Name + " " + plainJSON(b.Input)
		}
		if b.Type == ragctx.BlockToolResult {
			return b.Content.String()
		}
	}
	return ""
}
