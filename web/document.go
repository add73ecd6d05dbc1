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
	"github.com/ragctx/ragctx/web/internal/html"
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
		heading(d.ID, html.F(`<a href={}>All documents</a>`, v.link(documentsPath))),
		html.If(d.Version != current, html.F(`<p class="note">{}</p>`,
			"This is version "+strconv.Itoa(d.Version)+", which is not the current one.")),
		html.F(`<div class="document"><div class="text">{}</div><aside aria-label="About the document">{}{}{}</aside></div>`,
			v.chunks(d), documentFacts(d), versions, html.If(d.Version == current && v.mayWrite(), v.deleteForms(d))),
	}, nil
}

// documentFacts are the properties of a document.
func documentFacts(d document) html.Part {
	list := html.F(`<dl class="facts">{}{}{}{}{}{}{}{}{}{}</dl>`,
		fact("Title", d.Title), fact("Source", d.Source), fact("Type", d.MIME), fact("Size", size(d.Bytes)),
		fact("Chunks", grouped(d.Chunks)), fact("Stored (UTC)", minute(d.Recorded)), fact("Occurred", minute(d.Occurred)),
		fact("Ingested from", d.Root), html.If(len(d.Tags) > 0, html.F(`<dt>Tags</dt>`), html.F(`<dd>{}</dd>`, tagList(d.Tags))),
		metadata(d.Metadata))
	return list
}

func fact(name, value string) html.Part {
	return html.If(value != "", html.F(`<dt>{}</dt>`, name), html.F(`<dd>{}</dd>`, value))
}

// metadata are rows for the values of metadata, in the order of their names.
func metadata(m map[string]any) (list html.List) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		value, ok := m[name].(string)
		if !ok {
			b, _ := json.Marshal(m[name]) // decoded JSON: cannot fail
			value = plainJSON(b)
		}
		list = append(list, html.F(`<dt>{}</dt>`, name), html.F(`<dd>{}</dd>`, value))
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
		rows = append(rows, html.F(`<li><a href={} aria-current={}>{}</a><span class="quiet small">{}</span>{}</li>`,
			v.oneDocument(d.ID, "version", strconv.Itoa(n)), html.When(n == d.Version, "true"), "Version "+strconv.Itoa(n),
			" "+minute(one.Recorded)+" ", html.If(n != d.Version, html.F(`<a class="small" href={}>difference</a>`,
				v.link(documentsPath+"/difference", "id", d.ID, "from", strconv.Itoa(min(n, d.Version)),
					"to", strconv.Itoa(max(n, d.Version)))))))
	}
	return html.If(len(rows) > 1, html.F(`<h2>Versions</h2>`), html.F(`<ol class="versions">{}</ol>`, rows)), current, nil
}

// deleteForms delete or erase a document.
func (v *visit) deleteForms(d document) html.Part {
	form := func(name, class, question string, more ...html.Part) html.Part {
		return html.F(`<form method="post" action={}>{}{}{}{}<button class={} data-confirm={}>{}</button></form>`,
			v.link(documentsPath+"/delete"), v.tokenField(), hidden("id", d.ID), hidden("version", strconv.Itoa(d.Version)),
			html.List(more), html.When(class != "", class), question, name)
	}
	return html.F(`<div class="actions">{}{}</div>`,
		form("Delete", "", "Delete this document? Answers stop showing it at once. You can undo it."),
		form("Erase", "danger", "Erase this document and all of its versions? They cannot be brought back.", hidden("erase", "1")))
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
		return html.F(`<pre>{}</pre>`, d.Text[:min(len(d.Text), 200_000)])
	}
	at := d.ChunkList[first].Start.Byte
	if first == 0 {
		at = 0
	}
	var list html.List
	for _, c := range d.ChunkList[first:last] {
		start, end := within(c.Start.Byte, at, len(d.Text)), within(c.End.Byte, at, len(d.Text))
		if gap := strings.TrimSpace(d.Text[min(at, start):start]); gap != "" {
			list = append(list, html.F(`<pre class="gap">{}</pre>`, gap))
		}
		label := fmt.Sprintf("lines %d–%d", c.Start.Line, c.End.Line)
		if c.Page > 0 {
			label += fmt.Sprintf(", page %d", c.Page)
		}
		list = append(list, html.F(`<section class="chunk" id={} aria-label={} data-wanted={}>
			<p class="small quiet"><a href={}>{}</a><span>{}</span><span>{}</span></p><pre>{}</pre></section>`,
			"chunk-"+strconv.Itoa(c.Ordinal), "Chunk "+strconv.Itoa(c.Ordinal),
			strconv.Itoa(c.Ordinal) == ordinal(v.param("chunk")), "#chunk-"+strconv.Itoa(c.Ordinal), "#"+strconv.Itoa(c.Ordinal),
			label, strings.Join(c.Heading, " › "), d.Text[start:end]))
		at = max(at, end)
	}
	turn := func(name string, to int) html.Part {
		return html.F(`<a class="button" href={}>{}</a>`,
			v.oneDocument(d.ID, "version", v.param("version"), "from", strconv.Itoa(to)), name)
	}
	return html.List{list, html.F(`<p class="pages">{}{}</p>`,
		html.If(first > 0, turn("Chunks before", max(0, first-chunksShown))),
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
		return html.F(`<a href={}>{}</a>`,
			v.oneDocument(d.ID, "version", strconv.Itoa(d.Version)), fmt.Sprintf("%s, version %d", d.ID, d.Version))
	}
	edits, whole := difference(lines(from.Text), lines(to.Text))
	return html.List{
		heading(v.title), html.F(`<p>From {} to {}</p>`, name(from), name(to)),
		html.If(!whole, html.F(`<p class="note">The texts differ so much that not every equal line is matched.</p>`)),
		html.F(`<div class="difference">{}</div>`, hunks(edits)),
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
		return html.F(`<p class="empty">The texts are equal.</p>`)
	}
	var rows html.List
	for i, e := range edits {
		if !shown[i] {
			if i == 0 || shown[i-1] {
				rows = append(rows, html.F(`<tr class="skipped"><td colspan="4">…</td></tr>`))
			}
			continue
		}
		if len(rows) >= maxDifference {
			rows = append(rows, html.F(`<tr class="skipped"><td colspan="4">There are more changes, which are not shown.</td></tr>`))
			break
		}
		class, sign := "", ""
		switch e.op {
		case '+':
			class, sign = "added", "+"
		case '-':
			class, sign = "removed", "−"
		}
		rows = append(rows, html.F(`<tr class={}><td class="number">{}</td><td class="number">{}</td><td>{}</td><td>{}</td></tr>`,
			html.When(class != "", class), lineNumber(e.from), lineNumber(e.to), sign, e.text))
	}
	return html.F(`<table><thead class="unseen"><tr>{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
		column("Old line"), column("New line"), column("Change"), column("Text"), rows)
}

func lineNumber(n int) html.Part {
	if n == 0 {
		return nil
	}
	return html.Text(strconv.Itoa(n))
}
