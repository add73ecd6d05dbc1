package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/web/internal/html"
)

// node is a message in the graph of branches.
type node struct {
	message

	parent      int // -1 is none
	children    []int
	depth, lane int
	on          bool // on the branch that the page shows
}

// nodes lays out the messages: a column for each step, a lane for each branch. The branch that the page
// shows has the first lane. REST lists parents before their children.
func (c *openConversation) nodes() (nodes []node, lanes int) {
	at := make(map[string]int, len(c.all))
	for i, m := range c.all {
		n := node{message: m, parent: -1, lane: -1}
		if p, ok := at[m.Parent]; ok && m.Parent != "" {
			n.parent, n.depth = p, nodes[p].depth+1
			nodes[p].children = append(nodes[p].children, i)
		}
		at[m.ID] = i
		nodes = append(nodes, n)
	}
	if i, ok := at[c.leaf]; ok {
		for ; i >= 0; i = nodes[i].parent {
			nodes[i].on, nodes[i].lane = true, 0
		}
		lanes = 1
	}
	for i := range nodes {
		n := &nodes[i]
		if n.lane >= 0 {
			continue
		}
		if p := n.parent; p >= 0 && !nodes[p].on && nodes[p].children[0] == i { // goes on in the lane of its parent
			n.lane = nodes[p].lane
			continue
		}
		n.lane = lanes
		lanes++
	}
	return nodes, lanes
}

// graph draws the branches. Each branch is a link from its last message.
func (c *openConversation) graph(address func(...string) string) html.Part {
	nodes, lanes := c.nodes()
	deepest := 0
	for _, n := range nodes {
		deepest = max(deepest, n.depth)
	}
	const lane, edge = 26, 14
	step := min(26, max(6, 1000/(deepest+1)))
	radius := min(6, step/2)
	x := func(n node) int { return edge + n.depth*step }
	y := func(n node) int { return edge + n.lane*lane }
	fates := c.fates()
	var edges, dots html.List
	for _, n := range nodes {
		if n.parent >= 0 {
			p := nodes[n.parent]
			d := fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x(p), y(p), x(n), y(p), x(p), y(n), x(n), y(n))
			edges = append(edges, html.F(`<path d={} class={}></path>`, d, html.When(n.on, "on")))
		}
		class := roleClass(n.Role)
		if strings.HasPrefix(fates[n.ID], "replaced") || strings.HasPrefix(fates[n.ID], "hidden") {
			class += " covered"
		}
		if !n.on {
			class += " off"
		}
		dot := html.F(`<circle class={} cx={} cy={} r={}><title>{}</title></circle>`,
			class, x(n), y(n), radius, n.title(c.labels[n.ID], fates[n.ID]))
		if len(n.children) > 0 {
			dots = append(dots, dot)
			continue
		}
		dots = append(dots, html.F(`<a href={} aria-label={}>{}{}</a>`,
			address("leaf", n.ID), "Branch that ends with "+n.quoted(60),
			html.If(n.ID == c.Leaf, html.F(`<circle class="leaf" cx={} cy={} r={}></circle>`, x(n), y(n), radius+4)), dot))
	}
	return html.List{
		html.F(`<div class="scroll" tabindex="0" role="region" aria-label="Graph of the branches">
			<svg class="graph" width={} height={}><g class="edges">{}</g>{}</svg></div>`,
			2*edge+deepest*step, 2*edge+max(lanes-1, 0)*lane, edges, dots),
		html.F(`<p class="legend quiet small">{}{}{}{}{}</p>`,
			key("user", "user"), key("assistant", "assistant"), key("tool", "tool"), key("system", "system"),
			key("user covered", "not shown to the model")),
	}
}

// key explains a colour of a chart.
func key(class, name string) html.Part {
	return html.F(`<span class="key"><svg class="graph" aria-hidden="true" width="12" height="12">
			<circle class={} cx="6" cy="6" r="4.5"></circle></svg>{}</span>`,
		class, name)
}

func roleClass(role string) string {
	switch role {
	case "assistant", "tool":
		return role
	case "system", "developer":
		return "system"
	}
	return "user"
}

// title describes a message to a visitor who points at it.
func (n node) title(label, fate string) string {
	text := n.Role + ": " + excerpt(textOf(n.Content), 160)
	if label != "" {
		text = "“" + label + "” " + text
	}
	if fate != "" && n.on {
		text += " (" + fate + ")"
	}
	return text
}

// quoted returns the beginning of a message in quotes.
func (n node) quoted(limit int) string {
	if text := excerpt(textOf(n.Content), limit); text != "" {
		return "“" + text + "”"
	}
	return "a message without text"
}

// branches lists the branches as links, and continues from another one.
func (c *openConversation) branches(v *visit, address func(...string) string) html.Part {
	nodes, _ := c.nodes()
	var list html.List
	for _, n := range nodes {
		if len(n.children) > 0 {
			continue
		}
		text := amount(n.depth+1, "message") + ", ends with " + n.quoted(80)
		row := html.List{html.F(`<a href={} aria-current={}>{}</a>`,
			address("leaf", n.ID), html.When(n.ID == c.leaf, "true"), text)}
		if n.ID == c.Leaf {
			row = append(row, html.Text(" "), html.F(`<span class="tag on">current</span>`))
		}
		if n.ID == c.leaf && n.ID != c.Leaf && v.mayWrite() {
			row = append(row, c.button(v, "navigate"))
		}
		list = append(list, html.F(`<li class="actions">{}</li>`, row))
	}
	return html.F(`<ul class="tips">{}</ul>`, list)
}

// The chart of tokens counts at 6 to 24 places of a branch: fewer on a long one, since each place takes time
// in proportion to the messages before it.
const (
	minSamples, maxSamples = 6, 24
	sampledMessages        = 4000
)

// tokensAt returns the tokens of the branch up to a message: stored, and shown to the model.
func (c *openConversation) tokensAt(v *visit, leaf string) (stored, seen int, err error) {
	type count struct {
		Tokens          int
		Hidden, Dropped []struct{}
	}
	route, q := c.path(":compile"), v.query("user_id", c.User)
	view, err := send[count](v, http.MethodPost, route, q, c.compile(leaf))
	if err != nil || len(view.Hidden) == 0 && len(view.Dropped) == 0 {
		return view.Tokens, view.Tokens, err // the model is shown all
	}
	raw, err := send[count](v, http.MethodPost, route, q, map[string]any{"leaf": leaf, "raw": true})
	return raw.Tokens, view.Tokens, err
}

// showTokens draws the tokens of the branch over time: stored, and shown to the model.
func showTokens(v *visit) (html.Part, error) {
	c, err := openConversationOf(v)
	if err != nil || len(c.branch) == 0 {
		return html.List{}, err
	}
	n := min(len(c.branch), within(sampledMessages/len(c.branch), minSamples, maxSamples))
	stored, seen := make([]int, n), make([]int, n)
	for i := range n {
		leaf := c.branch[(i+1)*len(c.branch)/n-1].ID
		if stored[i], seen[i], err = c.tokensAt(v, leaf); err != nil {
			return nil, err
		}
	}
	return c.tokenChart(stored, seen), nil
}

// tokenChart draws two lines over the messages, and the window if it is near.
func (c *openConversation) tokenChart(stored, seen []int) html.Part {
	last, shown := stored[len(stored)-1], seen[len(seen)-1]
	most := 1
	for i := range stored {
		most = max(most, stored[i], seen[i])
	}
	near := c.window <= 3*most
	if near {
		most = max(most, c.window)
	}
	top := float64(most) * 1.1
	line := func(values []int) string {
		var b strings.Builder
		for i, n := range values {
			at := 0.0
			if len(values) > 1 {
				at = 1000 * float64(i) / float64(len(values)-1)
			}
			fmt.Fprintf(&b, "%c%s %s", "ML"[min(i, 1)], coordinate(at), coordinate(100-100*float64(n)/top))
		}
		if len(values) == 1 {
			fmt.Fprintf(&b, "L1000 %s", coordinate(100-100*float64(values[0])/top))
		}
		return b.String()
	}
	level := func(n int) string { return coordinate(100-100*float64(n)/top) + "%" }
	text := fmt.Sprintf("Stored: %s. Shown to the model: %s, %.1f %% of the window of %s.", amount(last, "token"), amount(shown, "token"),
		100*float64(shown)/float64(c.window), amount(c.window, "token"))
	return html.F(`<figure><figcaption>{}</figcaption><svg class="chart lines" role="img" aria-label={} height="170">
			<svg viewBox="0 0 1000 100" preserveAspectRatio="none" width="100%" height="100%">
			<path class="area" d={}></path><path class="stored" d={}></path><path class="shown" d={}></path></svg>{}
			<text x="100%" dx="-4" y="100%" dy="-5" text-anchor="end">newest message</text></svg>
			<p class="legend quiet small"><span class="key stored-key">stored</span>
			<span class="key shown-key">shown to the model</span></p></figure>`,
		text, text, line(stored)+"L1000 100L0 100Z", line(stored), line(seen),
		html.If(near, html.F(`<line class="limit" x1="0" x2="100%" y1={} y2={}></line>`, level(c.window), level(c.window)),
			html.F(`<text x="4" y={} dy="-4">{}</text>`, level(c.window), "window, "+grouped(c.window))))
}

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }
