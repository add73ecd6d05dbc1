package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

const (
	mapPath = root + "/map"
	// mapColours is how many groups have a colour of their own.
	mapColours = 9
	// mapNeighbours is how many neighbours of a question the page lists.
	mapNeighbours = 10
)

func mapPage() page {
	return page{path: mapPath, name: "Map", view: showMap, also: map[string]view{
		"GET " + mapPath + "/drawn": showDrawnMap, "GET " + mapPath + "/points": sendPoints, "GET " + mapPath + "/chunk": showChunk,
		"POST " + mapPath + "/again": drawAgain,
	}}
}

// mapName returns the name of the visitor's map: that of the key and the namespace.
func mapName(v *visit) string { return v.sessions.key(v.cookie) + "\x00" + v.namespace() }

// mapOf returns the map of the visitor's namespace, if the visitor may read it now.
func mapOf(v *visit) (*vectorMap, error) {
	if _, err := get[struct{}](v, "/v1/documents", v.query("limit", "1")); err != nil {
		return nil, err
	}
	client, namespace := v.client, v.namespace()
	return v.maps.of(mapName(v), v.now(), func(ctx context.Context, m *vectorMap) error {
		return makeMap(ctx, client, namespace, m)
	}), nil
}

// showMap shows the chunks of a namespace as points: what is near to each other is about the same.
func showMap(v *visit) (html.Part, error) {
	q, by := v.r.URL.Query().Get("q"), v.r.URL.Query().Get("by")
	drawn, err := showDrawnMap(v)
	if err != nil {
		return nil, err
	}
	return html.List{
		heading("Map", html.F(`<form method="post" action={}>{}<button>Draw again</button></form>`,
			v.link(mapPath+"/again"), v.tokenField())),
		html.F(`<script src={} defer></script>`, assetPath("map.js")),
		html.F(`<form class="memories" method="get" action={}>{}<div class="scope"><label class="wide"><span>Question</span>
			<input name="q" value={} maxlength="2000" autocomplete="off" placeholder="Where on the map is …"></label>
			<label><span>Colour by</span><select name="by" data-submit><option value="">source</option>
			<option value="tag" selected={}>tag</option></select></label><button class="main">Show</button></div></form>`,
			mapPath, v.namespaceField(), q, by == "tag"),
		html.F(`<div id="drawn">{}</div>`, drawn),
	}, nil
}

// showDrawnMap shows the map, or how far it is.
func showDrawnMap(v *visit) (html.Part, error) {
	m, err := mapOf(v)
	if err != nil {
		return nil, err
	}
	query := v.r.URL.Query()
	q, by := query.Get("q"), query.Get("by")
	if !m.ready() {
		return html.F(`<div hx-get={} hx-trigger="load delay:500ms, again" hx-target="#drawn">
			<p class="empty" role="status">{}</p></div>`,
			v.link(mapPath+"/drawn", "q", q, "by", by),
			fmt.Sprintf("The map is being drawn: %s of %s.", grouped(int(m.read.Load())), amount(int(m.of.Load()), "document"))), nil
	}
	if m.err != nil {
		v.maps.drop(mapName(v))
		return nil, m.err
	}
	if len(m.points) == 0 {
		text := "The namespace has no chunks of documents. The map shows each of them as a point."
		if m.chunks > 0 {
			text = fmt.Sprintf("The built-in embedder cannot represent any of the texts: %s.", amount(m.chunks, "chunk"))
		}
		return html.F(`<p class="empty">{}</p>`, text), nil
	}
	near, place, err := v.asked(m, q)
	if err != nil {
		return nil, err
	}
	groups, _ := m.groups(by)
	text := fmt.Sprintf("%s of %s.", amount(len(m.points), "chunk"), amount(int(m.of.Load()), "document"))
	if m.chunks > maxPoints {
		text = fmt.Sprintf("An even sample of %s of %s of %s.", grouped(len(m.points)), amount(m.chunks, "chunk"),
			amount(int(m.of.Load()), "document"))
	}
	return html.F(`<div class="map"><div class="drawing">
			<canvas id="map" tabindex="0" role="application" aria-describedby="map-help"
			aria-label="Map of the chunks" data-url={} data-chunk={} data-question={} data-near={}></canvas>
			<p class="quiet small" id="map-help">{} What is near to each other is about the same. Point at a chunk, or move
			between chunks with the arrow keys. Drawn {} by the built-in embedder.</p><ul class="legend map-legend">{}</ul>
			<p class="legend quiet small">{}{}{}</p><div class="panel" id="chunk" aria-live="polite">
			<p class="quiet">The chunk that you point at is shown here.</p></div></div>
			<div class="beside">{}{}{}</div></div>`,
		v.link(mapPath+"/points", "by", by), v.link(mapPath+"/chunk"), html.When(place != "", place),
		html.When(len(near) > 0, joined(near)),
		text, moment(m.begun),
		groupLegend(groups), key("outlier", "outlier"), key("duplicate", "has a near duplicate"),
		html.If(place != "", key("question", "the question and its neighbours")), v.nearTable(m, q, near), v.outlierTable(m),
		v.pairTable(m)), nil
}

// asked returns the chunks nearest to a question, and the place of the question on the map.
func (v *visit) asked(m *vectorMap, q string) ([]neighbour, string, error) {
	if strings.TrimSpace(q) == "" {
		return nil, "", nil
	}
	all, err := vectorsOf(v.r.Context(), v.client, []string{q})
	if err != nil || len(all[0]) != m.vectors.dims {
		return nil, "", err
	}
	x, y := m.scaled(m.plane.at(all[0]))
	return m.vectors.nearest(all[0], mapNeighbours), fmt.Sprintf("%d,%d", x, y), nil
}

func joined(near []neighbour) string {
	var list []string
	for _, n := range near {
		list = append(list, strconv.Itoa(n.i))
	}
	return strings.Join(list, ",")
}

// scaled returns a place as whole numbers from 0 to 10,000, the map having a margin.
func (m *vectorMap) scaled(at [2]float64) (x, y int) {
	scale := func(k int) int {
		if m.high[k] == m.low[k] {
			return 5000
		}
		return int(math.Round(300 + 9400*min(max((at[k]-m.low[k])/(m.high[k]-m.low[k]), 0), 1)))
	}
	return scale(0), 10000 - scale(1)
}

// mapGroup is chunks with one colour.
type mapGroup struct {
	name  string
	count int
}

// groups returns the groups of the points by source or tag, the largest first, and the group of each point.
// Beyond the colours there is one group of all others.
func (m *vectorMap) groups(by string) (groups []mapGroup, of []int) {
	names := make([]string, len(m.points))
	for depth := 6; depth > 0; depth-- { // the finest grouping whose colours cover nine tenths of the points
		counts := make(map[string]int)
		for i, p := range m.points {
			names[i] = groupOf(p, by, depth)
			counts[names[i]]++
		}
		groups = groups[:0]
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			groups = append(groups, mapGroup{name, counts[name]})
		}
		slices.SortStableFunc(groups, func(a, b mapGroup) int { return cmp.Compare(b.count, a.count) })
		covered := 0
		for _, g := range groups[:min(len(groups), mapColours)] {
			covered += g.count
		}
		if 10*covered >= 9*len(names) {
			break
		}
	}
	at := make(map[string]int)
	for i, g := range groups {
		at[g.name] = min(i, mapColours)
	}
	for len(groups) > mapColours+1 {
		last := groups[len(groups)-1]
		groups = groups[:len(groups)-1]
		groups[mapColours] = mapGroup{"others", groups[mapColours].count + last.count}
	}
	of = make([]int, len(names))
	for i, name := range names {
		of[i] = at[name]
	}
	return groups, of
}

// groupOf returns the group of a point: its first tag, or the first parts of its source.
func groupOf(p mapPoint, by string, depth int) string {
	if by == "tag" {
		if len(p.Tags) == 0 {
			return "no tag"
		}
		return p.Tags[0]
	}
	parts := strings.Split(cmp.Or(p.Source, p.Document), "/")
	if len(parts) == 1 {
		scheme, _, found := strings.Cut(parts[0], ":")
		if !found {
			return "no folder"
		}
		return scheme
	}
	return strings.Join(parts[:min(depth, len(parts)-1)], "/")
}

func groupLegend(groups []mapGroup) (list html.List) {
	for i, g := range groups {
		list = append(list, html.F(`<li class="key"><svg class="graph" aria-hidden="true" width="12" height="12">
			<circle class={} cx="6" cy="6" r="5"></circle></svg><span>{}</span><span class="number">{}</span></li>`,
			"group-"+strconv.Itoa(i), excerpt(g.name, 60), grouped(g.count)))
	}
	return list
}

// chunkCell shows a chunk in a table, with a link to its document.
func (v *visit) chunkCell(m *vectorMap, i int) html.Part {
	p := m.points[i]
	it, err := get[struct{ Text string }](v, "/v1/items/"+segment(p.ID), v.query())
	if err != nil { // not even its name is shown, as that may be what was erased
		return html.F(`<p class="quiet small">This chunk is no longer stored. Draw the map again.</p>`)
	}
	return html.List{html.F(`<a href={} data-point={}>{}</a>`,
		v.link(root+"/documents/one", "id", p.Document, "chunk", p.ID), strconv.Itoa(i),
		excerpt(p.ID, 80)), html.F(`<p class="small">{}</p>`, excerpt(it.Text, 140))}
}

func (v *visit) nearTable(m *vectorMap, q string, near []neighbour) html.Part {
	var rows html.List
	for _, n := range near {
		rows = append(rows, html.F(`<tr><td>{}</td><td class="number">{}</td></tr>`, v.chunkCell(m, n.i), decimal(n.cosine)))
	}
	return html.If(strings.TrimSpace(q) != "", html.F(`<h2>Nearest to the question</h2>`),
		html.If(len(rows) == 0, html.F(`<p class="quiet">The embedder cannot represent this question.</p>`)), html.F(`<table>
			<tbody>{}</tbody></table>`,
			rows))
}

func (v *visit) outlierTable(m *vectorMap) html.Part {
	var rows html.List
	for _, n := range m.outliers {
		rows = append(rows, html.F(`<tr><td>{}</td><td class="number">{}</td></tr>`, v.chunkCell(m, n.i), decimal(n.cosine)))
	}
	return html.List{html.F(`<h2>Outliers</h2>`), html.F(`<p class="quiet small">Chunks that are like no other, with the cosine to the
		most similar one of a sample.</p>`), html.F(`<table><tbody>{}</tbody></table>`, rows)}
}

func (v *visit) pairTable(m *vectorMap) html.Part {
	var rows html.List
	for _, p := range m.pairs[:min(len(m.pairs), 20)] {
		rows = append(rows, html.F(`<tr><td>{}{}</td><td class="number">{}</td></tr>`,
			v.chunkCell(m, p.a), v.chunkCell(m, p.b), decimal(p.cosine)))
	}
	text := "Pairs with a cosine of 0.95 or more. Answers show identical passages once."
	if len(rows) == 0 {
		text = "No two chunks have a cosine of 0.95 or more."
	}
	return html.List{html.F(`<h2>Near duplicates</h2>`), html.F(`<p class="quiet small">{}</p>`, text), html.F(`<table>
		<tbody>{}</tbody></table>`,
		rows)}
}

// sendPoints sends the places and groups of all points as JSON.
func sendPoints(v *visit) (html.Part, error) {
	m, err := mapOf(v)
	if err != nil {
		return nil, err
	}
	if !m.ready() || m.err != nil || len(m.points) == 0 {
		return nil, fmt.Errorf("%w: the map is not drawn", ragctx.ErrNotFound)
	}
	_, of := m.groups(v.r.URL.Query().Get("by"))
	var out struct {
		X []int `json:"x"`
		Y []int `json:"y"`
		C []int `json:"c"`
		D []int `json:"d"` // points that have a near duplicate
		O []int `json:"o"` // outliers
	}
	out.C = of
	for _, p := range m.points {
		x, y := m.scaled(p.At)
		out.X, out.Y = append(out.X, x), append(out.Y, y)
	}
	for _, p := range m.pairs {
		out.D = append(out.D, p.a, p.b)
	}
	for _, n := range m.outliers {
		out.O = append(out.O, n.i)
	}
	v.w.Header().Set("Content-Type", "application/json")
	return nil, json.NewEncoder(v.w).Encode(out)
}

// showChunk shows the chunk of a point.
func showChunk(v *visit) (html.Part, error) {
	m, err := mapOf(v)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(v.r.URL.Query().Get("i"))
	if err != nil || !m.ready() || i < 0 || i >= len(m.points) {
		return nil, fmt.Errorf("%w: the map has no such point", ragctx.ErrNotFound)
	}
	return v.chunkCell(m, i), nil
}

func drawAgain(v *visit) (html.Part, error) {
	v.maps.drop(mapName(v))
	http.Redirect(v.w, v.r, v.link(mapPath), http.StatusSeeOther)
	return nil, nil
}
