package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
)

const (
	chunksShown   = 200 // of a document at a time
	versionsShown = 20
)

// showDocument shows a document with its chunks marked in its text.
func showDocument(v *visit) (html.Part, error) {
	id := v.param("id")
	d, err := get[document](v, "/v1/documents/"+segment(id), v.query("version", v.param("version"), "chunks", "true"))
	if err != nil {
		return nil, err
	}
	v.title = d.ID
	versions, current, err := v.versions(d)
	if err != nil {
		return nil, err
	}
	return html.List{
		heading(d.ID, html.E("a", html.A("href", v.link(documentsPath)), html.Text("All documents"))),
		html.If(d.Version != current, html.T("p.note", "This is version "+strconv.Itoa(d.Version)+", which is not the current one.")),
		html.E("div.document", html.E("div.text", v.chunks(d)), html.E("aside", html.A("aria-label", "About the document"),
			documentFacts(d), versions,
			html.If(d.Version == current && v.mayWrite(), v.deleteForms(d)))),
	}, nil
}

// documentFacts are the properties of a document.
func documentFacts(d document) html.Part {
	list := html.E("dl.facts", fact("Title", d.Title), fact("Source", d.Source), fact("Type", d.MIME), fact("Size", size(d.Bytes)),
		fact("Chunks", grouped(d.Chunks)), fact("Stored (UTC)", minute(d.Recorded)), fact("Occurred", minute(d.Occurred)),
		fact("Ingested from", d.Root),
		html.If(len(d.Tags) > 0, html.T("dt", "Tags"), html.E("dd", tagList(d.Tags))), metadata(d.Metadata))
	return list
}

func fact(name, value string) html.Part {
	return html.If(value != "", html.T("dt", name), html.T("dd", value))
}

// metadata are rows for the values of metadata, in the order of their names.
func metadata(m map[string]any) (list html.List) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		value, ok := m[name].(string)
		if !ok {
			b, _ := json.Marshal(m[name]) // decoded JSON: cannot fail
			value = plainJSON(b)
		}
		list = append(list, html.T("dt", name), html.T("dd", value))
	}
	return list
}

// versions lists the stored versions of a document, and returns the number of the current one; 0 is none.
func (v *visit) versions(d document) (html.Part, int, error) {
	route := "/v1/documents/" + segment(d.ID)
	now, err := get[document](v, route, v.query("text", "false"))
	if err != nil && !errors.Is(err, ragctx.ErrNotFound) {
		return nil, 0, err
	}
	current := now.Version
	newest := max(current, d.Version)
	var rows html.List
	for n := newest; n > max(0, newest-versionsShown); n-- {
		one, err := get[document](v, route, v.query("text", "false", "version", strconv.Itoa(n)))
		if errors.Is(err, ragctx.ErrNotFound) {
			break
		} else if err != nil {
			return nil, 0, err
		}
		rows = append(rows, html.E("li", html.E("a", html.A("href", v.oneDocument(d.ID, "version", strconv.Itoa(n))),
			html.If(n == d.Version, html.A("aria-current", "true")), html.Text("Version "+strconv.Itoa(n))),
			html.T("span.quiet.small", " "+minute(one.Recorded)+" "),
			html.If(n != d.Version, html.E("a.small", html.A("href", v.link(documentsPath+"/difference", "id", d.ID, "from",
				strconv.Itoa(min(n, d.Version)),
				"to", strconv.Itoa(max(n, d.Version)))), html.Text("difference")))))
	}
	return html.If(len(rows) > 1, html.T("h2", "Versions"), html.E("ol.versions", rows)), current, nil
}

// deleteForms delete or erase a document.
func (v *visit) deleteForms(d document) html.Part {
	form := func(name, class, question string, more ...html.Part) html.Part {
		return html.E("form", html.A("method", "post"), html.A("action", v.link(documentsPath+"/delete")), v.tokenField(),
			hidden("id", d.ID), hidden("version", strconv.Itoa(d.Version)), html.List(more),
			html.E(class, html.A("data-confirm", question), html.Text(name)))
	}
	return html.E("div.actions",
		form("Delete", "button", "Delete this document? Answers stop showing it at once. You can undo it."),
		form("Erase", "button.danger", "Erase this document and all of its versions? They cannot be brought back.", hidden("erase", "1")))
}

// chunks shows the text of a document, cut at its chunks.
func (v *visit) chunks(d document) html.Part {
	first, _ := strconv.Atoi(v.param("from"))
	if want, err := strconv.Atoi(ordinal(v.param("chunk"))); err == nil && want >= chunksShown && first == 0 {
		first = want - want%chunksShown
	}
	first = min(max(first, 0), max(len(d.ChunkList)-1, 0))
	last := min(first+chunksShown, len(d.ChunkList))
	if len(d.ChunkList) == 0 {
		return html.T("pre", d.Text[:min(len(d.Text), 200_000)])
	}
	at := d.ChunkList[first].Start.Byte
	if first == 0 {
		at = 0
	}
	var list html.List
	for _, c := range d.ChunkList[first:last] {
		start, end := within(c.Start.Byte, at, len(d.Text)), within(c.End.Byte, at, len(d.Text))
		if gap := strings.TrimSpace(d.Text[min(at, start):start]); gap != "" {
			list = append(list, html.T("pre.gap", gap))
		}
		label := fmt.Sprintf("lines %d–%d", c.Start.Line, c.End.Line)
		if c.Page > 0 {
			label += fmt.Sprintf(", page %d", c.Page)
		}
		list = append(list, html.E("section.chunk#chunk-"+strconv.Itoa(c.Ordinal), html.A("aria-label", "Chunk "+strconv.Itoa(c.Ordinal)),
			html.If(strconv.Itoa(c.Ordinal) == ordinal(v.param("chunk")), html.A("data-wanted", "")),
			html.E("p.small.quiet", html.E("a", html.A("href", "#chunk-"+strconv.Itoa(c.Ordinal)),
				html.Text("#"+strconv.Itoa(c.Ordinal))),
				html.T("span", label), html.T("span", strings.Join(c.Heading, " › "))),
			html.T("pre", d.Text[start:end])))
		at = max(at, end)
	}
	turn := func(name string, to int) html.Part {
		return html.E("a.button", html.A("href", v.oneDocument(d.ID, "version", v.param("version"), "from", strconv.Itoa(to))),
			html.Text(name))
	}
	return html.List{list, html.E("p.pages", html.If(first > 0, turn("Chunks before", max(0, first-chunksShown))),
		html.If(last < len(d.ChunkList), turn("Next chunks", last)))}
}

func within(x, low, high int) int { return min(max(x, low), high) }

// ordinal returns the number of the chunk in an item's id, such as 4 of docs/a.md@3#4.
func ordinal(item string) string { return item[strings.LastIndexByte(item, '#')+1:] }

// showDifference compares two versions of a document, or two documents, line by line.
func showDifference(v *visit) (html.Part, error) {
	id, other := v.param("id"), v.param("other")
	read := func(id, version string) (document, error) {
		return get[document](v, "/v1/documents/"+segment(id), v.query("version", version))
	}
	from, err := read(id, v.param("from"))
	if err != nil {
		return nil, err
	}
	if other == "" {
		other = id
	}
	to, err := read(other, v.param("to"))
	if err != nil {
		return nil, err
	}
	v.title = "Difference"
	name := func(d document) html.Part {
		return html.E("a", html.A("href", v.oneDocument(d.ID, "version", strconv.Itoa(d.Version))),
			html.Text(fmt.Sprintf("%s, version %d", d.ID, d.Version)))
	}
	edits, whole := difference(lines(from.Text), lines(to.Text))
	return html.List{
		heading(v.title), html.E("p", html.Text("From "), name(from), html.Text(" to "), name(to)),
		html.If(!whole, html.T("p.note", "The texts differ so much that not every equal line is matched.")),
		html.E("div.difference", hunks(edits)),
	}, nil
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// maxDifference bounds the rows of a difference.
const maxDifference = 2000

// contextLines is how many equal lines are shown around a change.
const contextLines = 3

// hunks shows the changes with some lines around them.
func hunks(edits []edit) html.Part {
	shown := make([]bool, len(edits))
	changed := false
	for i, e := range edits {
		if e.op == ' ' {
			continue
		}
		changed = true
		for j := max(0, i-contextLines); j <= min(len(edits)-1, i+contextLines); j++ {
			shown[j] = true
		}
	}
	if !changed {
		return html.T("p.empty", "The texts are equal.")
	}
	var rows html.List
	for i, e := range edits {
		if !shown[i] {
			if i == 0 || shown[i-1] {
				rows = append(rows, html.E("tr.skipped", html.E("td", html.A("colspan", "4"), html.Text("…"))))
			}
			continue
		}
		if len(rows) >= maxDifference {
			rows = append(rows, html.E("tr.skipped", html.E("td", html.A("colspan", "4"),
				html.Text("There are more changes, which are not shown."))))
			break
		}
		class, sign := "tr", ""
		switch e.op {
		case '+':
			class, sign = "tr.added", "+"
		case '-':
			class, sign = "tr.removed", "−"
		}
		rows = append(rows, html.E(class, html.E("td.number", lineNumber(e.from)), html.E("td.number", lineNumber(e.to)),
			html.T("td", sign),
			html.T("td", e.text)))
	}
	return html.E("table", html.E("thead.unseen", html.E("tr", column("Old line"), column("New line"), column("Change"),
		column("Text"))), html.E("tbody", rows))
}

func lineNumber(n int) html.Part {
	if n == 0 {
		return nil
	}
	return html.Text(strconv.Itoa(n))
}
