package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/web/html"
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
			edges = append(edges, html.E("path", html.A("d", d), html.If(n.on, html.A("class", "on"))))
		}
		class := "circle." + roleClass(n.Role)
		if strings.HasPrefix(fates[n.ID], "replaced") || strings.HasPrefix(fates[n.ID], "hidden") {
			class += ".covered"
		}
		if !n.on {
			class += ".off"
		}
		dot := html.E(class, html.Int("cx", x(n)), html.Int("cy", y(n)), html.Int("r", radius), html.E("title",
			html.Text(n.title(c.labels[n.ID], fates[n.ID]))))
		if len(n.children) > 0 {
			dots = append(dots, dot)
			continue
		}
		dots = append(dots, html.E("a", html.A("href", address("leaf", n.ID)), html.A("aria-label",
			"Branch that ends with "+n.quoted(60)),
			html.If(n.ID == c.Leaf, html.E("circle.leaf", html.Int("cx", x(n)), html.Int("cy", y(n)), html.Int("r", radius+4))), dot))
	}
	return html.List{
		html.E("div.scroll", html.A("tabindex", "0"), html.A("role", "region"), html.A("aria-label",
			"Graph of the branches"),
			html.E("svg.graph", html.Int("width", 2*edge+deepest*step), html.Int("height", 2*edge+max(lanes-1, 0)*lane),
				html.E("g.edges", edges), dots)),
		html.E("p.legend.quiet.small", key("user", "user"), key("assistant", "assistant"), key("tool", "tool"), key("system", "system"),
			key("user.covered", "not shown to the model")),
	}
}

// key explains a colour of a chart.
func key(class, name string) html.Part {
	return html.E("span.key", html.E("svg.graph", html.A("aria-hidden", "true"), html.A("width", "12"), html.A("height", "12"),
		html.E("circle."+class, html.A("cx", "6"), html.A("cy", "6"), html.A("r", "4.5"))), html.Text(name))
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
		row := html.List{html.E("a", html.A("href", address("leaf", n.ID)), html.If(n.ID == c.leaf, html.A("aria-current", "true")),
			html.Text(text))}
		if n.ID == c.Leaf {
			row = append(row, html.Text(" "), html.E("span.tag.on", html.Text("current")))
		}
		if n.ID == c.leaf && n.ID != c.Leaf && v.mayWrite() {
			row = append(row, c.button(v, "navigate"))
		}
		list = append(list, html.E("li.actions", row))
	}
	return html.E("ul.tips", list)
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
	return html.E("figure", html.E("figcaption", html.Text(text)),
		html.E("svg.chart.lines", html.A("role", "img"), html.A("aria-label", text), html.A("height", "170"),
			html.E("svg", html.A("viewBox", "0 0 1000 100"), html.A("preserveAspectRatio", "none"), html.A("width", "100%"),
				html.A("height", "100%"),
				html.E("path.area", html.A("d", line(stored)+"L1000 100L0 100Z")), html.E("path.stored", html.A("d", line(stored))),
				html.E("path.shown", html.A("d", line(seen)))),
			html.If(near, html.E("line.limit", html.A("x1", "0"), html.A("x2", "100%"), html.A("y1", level(c.window)), html.A("y2",
				level(c.window))),
				html.E("text", html.A("x", "4"), html.A("y", level(c.window)), html.A("dy", "-4"),
					html.Text("window, "+grouped(c.window)))),
			html.E("text", html.A("x", "100%"), html.A("dx", "-4"), html.A("y", "100%"), html.A("dy", "-5"), html.A("text-anchor", "end"),
				html.Text("newest message"))),
		html.E("p.legend.quiet.small", html.E("span.key.stored-key", html.Text("stored")), html.E("span.key.shown-key",
			html.Text("shown to the model"))))
}

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }
