package web

import (
	"cmp"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

const documentsPath = root + "/documents"

func documentsPage() page {
	return page{path: documentsPath, name: "Documents", view: showDocuments, also: map[string]view{
		"GET " + documentsPath + "/one": showDocument, "GET " + documentsPath + "/difference": showDifference,
		"GET " + documentsPath + "/duplicates": showDuplicates, "POST " + documentsPath + "/upload": upload,
		"POST " + documentsPath + "/delete": deleteDocument, "POST " + documentsPath + "/restore": restoreDocument,
	}}
}

// document has the fields of a document that the pages show.
type document struct {
	ID, Title, Source, MIME, Root string
	Version, Bytes, Chunks        int
	Tags                          []string
	Metadata                      map[string]any
	Occurred, Recorded            time.Time
	Text                          string
	ChunkList                     []chunk `json:"chunk_list"`
}

type chunk struct {
	Ordinal    int
	Heading    []string
	Page       int
	Start, End struct{ Byte, Line int }
}

// oneDocument returns the address of a document's page.
func (v *visit) oneDocument(id string, args ...string) string {
	return v.link(documentsPath+"/one", append([]string{"id", id}, args...)...)
}

// showDocuments lists documents in the order of their ids, or searches them.
func showDocuments(v *visit) (html.Part, error) {
	q, prefix := strings.TrimSpace(v.param("q")), v.param("prefix")
	var list html.Part
	var err error
	if q != "" {
		list, err = v.searchDocuments(q)
	} else {
		list, err = v.documentTable(prefix)
	}
	if err != nil {
		return nil, err
	}
	return html.List{
		heading("Documents", html.F(`<a href={}>Near duplicates</a>`, v.link(documentsPath+"/duplicates", "prefix", prefix))),
		html.If(v.param("deleted") != "", v.deletedNote(v.param("deleted"), v.param("version"))),
		html.F(`<form class="filters" method="get" action={} role="search">{}<label><span>Search in the texts</span>
			<input type="search" name="q" value={} maxlength={}></label><label><span>Ids that begin with</span>
			<input name="prefix" value={} maxlength="512"></label><label><span>Ingested from</span>
			<input name="root" value={} maxlength="4096"></label><button>Show</button></form>`,
			documentsPath, v.namespaceField(), q, maxQuestion, prefix, v.param("root")),
		html.If(v.mayWrite(), v.uploadForm(prefix)),
		html.F(`<div id="list" hx-get={} hx-trigger="uploaded from:body, again" hx-select="#list" hx-swap="outerHTML">{}</div>`,
			v.r.URL.RequestURI(), list),
	}, nil
}

// documentTable lists a page of documents, under the folders of their ids.
func (v *visit) documentTable(prefix string) (html.Part, error) {
	page, err := get[struct {
		Documents  []document
		NextCursor string `json:"next_cursor"`
	}](v, "/v1/documents", v.query("prefix", prefix, "root", v.param("root"), "cursor", v.param("cursor"), "limit", "100"))
	if err != nil {
		return nil, err
	}
	if len(page.Documents) == 0 {
		return html.F(`<p class="empty">There are no documents here. {}</p>`,
			html.If(v.mayWrite(), html.Text("Drop files above, or run "),
				html.F(`<code>ragctx ingest PATH</code>`), html.Text("."))), nil
	}
	var rows html.List
	folder := "\x00"
	for _, d := range page.Documents {
		if dir := strings.TrimSuffix(d.ID[:strings.LastIndexByte(d.ID, '/')+1], "/"); dir != folder {
			folder = dir
			rows = append(rows, html.F(`<tr class="folder"><th colspan="5" scope="colgroup">{}</th></tr>`, v.crumbs(dir)))
		}
		rows = append(rows, html.F(`<tr><td><a href={}>{}</a>{}</td><td class="quiet"><span class="type">{}</span>{}</td>
			<td class="number">{}</td>
			<td class="number">{}</td><td class="number quiet" title={}>{}</td></tr>`,
			v.oneDocument(d.ID), cmp.Or(path.Base(d.ID), d.ID),
			html.If(d.Title != "" && d.Title != d.ID && d.Title != path.Base(d.ID), html.F(`<span class="quiet">{}</span>`,
				" "+d.Title)),
			strings.TrimPrefix(d.MIME, "text/"), tagList(d.Tags), size(d.Bytes), grouped(d.Chunks), d.Recorded.Format(time.RFC3339),
			minute(d.Recorded)))
	}
	more := html.If(page.NextCursor != "", html.F(`<p class="pages"><a class="button" href={}>Next documents</a></p>`,
		v.link(documentsPath, "prefix", prefix, "root", v.param("root"), "cursor", page.NextCursor)))
	return html.List{html.F(`<div class="scroll" tabindex="0" role="region" aria-label="Documents"><table class="documents">
		<thead><tr>{}{}
			<th class="number" scope="col">Size</th><th class="number" scope="col">Chunks</th>
			<th class="number" scope="col">Stored (UTC)</th></tr></thead><tbody>{}</tbody></table></div>`,
		column("Document"), column("Type"), rows), more}, nil
}

func column(name string) html.Part { return html.F(`<th scope="col">{}</th>`, name) }

// crumbs links each folder of a path.
func (v *visit) crumbs(dir string) (list html.List) {
	if dir == "" {
		return html.List{html.Text("no folder")}
	}
	end := 0
	for i, name := range strings.Split(dir, "/") {
		end += len(name) + 1
		if i > 0 {
			list = append(list, html.Text(" / "))
		}
		list = append(list, html.F(`<a href={}>{}</a>`, v.link(documentsPath, "prefix", (dir + "/")[:end]), cmp.Or(name, "/")))
	}
	return list
}

func tagList(tags []string) (list html.List) {
	for _, t := range tags {
		list = append(list, html.Text(" "), html.F(`<span class="tag">{}</span>`, t))
	}
	return list
}

// size returns a number of bytes for people.
func size(bytes int) string {
	switch x := float64(bytes); {
	case bytes < 1000:
		return strconv.Itoa(bytes) + " B"
	case bytes < 1_000_000:
		return strconv.FormatFloat(x/1e3, 'f', 1, 64) + " kB"
	case bytes < 1_000_000_000:
		return strconv.FormatFloat(x/1e6, 'f', 1, 64) + " MB"
	default:
		return strconv.FormatFloat(x/1e9, 'f', 2, 64) + " GB"
	}
}

// minute returns a time to the minute, or nothing for no time.
func minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006, 15:04")
}

// searchDocuments lists the passages that answer a question.
func (v *visit) searchDocuments(q string) (html.Part, error) {
	found, err := send[foundItems](v, http.MethodPost, "/v1/search", v.query(),
		map[string]any{"query": q, "context_types": []string{"resource"}, "max_results": 30, "highlight": true})
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return html.F(`<p class="empty">{}</p>`, "No document answers “"+q+"”."), nil
	}
	var list html.List
	for _, it := range found.Items {
		list = append(list, html.F(`<li><div><p class="name">{} <span class="quiet small">{}</span></p><pre>{}</pre></div>
			<span class="relevance number" title="relevance">{}</span></li>`,
			v.itemLink(it), it.Source, marked(it), decimal(it.Relevance)))
	}
	return html.F(`<ol class="found">{}</ol>`, list), nil
}

// deletedNote offers to store a document again whose last version is still there.
func (v *visit) deletedNote(id, version string) html.Part {
	return html.F(`<div class="note" role="status"><p>{}</p>{}</div>`,
		"“"+id+"” is deleted.",
		html.If(version != "" && v.mayWrite(), html.F(`<form method="post" action={}>{}{}{}<button>Undo</button></form>`,
			v.link(documentsPath+"/restore"), v.tokenField(), hidden("id", id), hidden("version", version))))
}

// deleteDocument deletes a document, or erases it.
func deleteDocument(v *visit) (html.Part, error) {
	id, erase := v.r.PostFormValue("id"), v.r.PostFormValue("erase") != ""
	version := v.r.PostFormValue("version")
	q := v.query()
	if erase {
		q.Set("erase", "true")
		version = ""
	}
	if _, err := send[struct{}](v, http.MethodDelete, "/v1/documents/"+segment(id), q, nil); err != nil {
		return nil, err
	}
	return v.goTo(v.link(documentsPath, "deleted", id, "version", version))
}

// restoreDocument stores a version of a deleted document again.
func restoreDocument(v *visit) (html.Part, error) {
	id := v.r.PostFormValue("id")
	if _, err := get[document](v, "/v1/documents/"+segment(id), v.query()); !errors.Is(err, ragctx.ErrNotFound) {
		if err == nil {
			err = ragctx.Invalid("id", "names a document that is not deleted; open it and choose the version there")
		}
		return nil, err
	}
	d, err := get[document](v, "/v1/documents/"+segment(id), v.query("version", v.r.PostFormValue("version")))
	if err != nil {
		return nil, err
	}
	body := map[string]any{
		"text": d.Text, "title": d.Title, "source": d.Source, "mime": d.MIME, "tags": d.Tags,
		"metadata": d.Metadata, "root": d.Root,
	}
	if !d.Occurred.IsZero() {
		body["occurred"] = d.Occurred
	}
	if _, err := send[struct{}](v, http.MethodPut, "/v1/documents/"+segment(id), v.query(), body); err != nil {
		return nil, err
	}
	return v.goTo(v.oneDocument(id))
}

// showDuplicates lists groups of documents that are equal or nearly so.
func showDuplicates(v *visit) (html.Part, error) {
	v.title = "Near duplicates"
	found, err := get[struct {
		Groups []struct {
			IDs        []string
			Similarity float64
			Exact      bool
		}
		Total      int
		NextCursor string `json:"next_cursor"`
	}](v, "/v1/documents:duplicates", v.query("prefix", v.param("prefix"), "cursor", v.param("cursor"), "limit", "50"))
	if err != nil {
		return nil, err
	}
	head := heading(v.title, html.F(`<a href={}>All documents</a>`, v.link(documentsPath)))
	if found.Total == 0 {
		return html.List{head, html.F(`<p class="empty">No two documents are nearly equal.</p>`)}, nil
	}
	var groups html.List
	for _, g := range found.Groups {
		var ids html.List
		for i, id := range g.IDs {
			ids = append(ids, html.F(`<li><a href={}>{}</a>{}</li>`,
				v.oneDocument(id), id,
				html.If(i > 0 && !g.Exact, html.Text(" "), html.F(`<a class="small" href={}>Difference from the first</a>`,
					v.link(documentsPath+"/difference", "id", g.IDs[0], "other", id)))))
		}
		label := "equal"
		if !g.Exact {
			label = strconv.Itoa(int(100*g.Similarity)) + " % alike"
		}
		groups = append(groups, html.F(`<tr><td><ul>{}</ul></td><td class="number">{}</td></tr>`, ids, label))
	}
	return html.List{
		head, html.F(`<p class="quiet">{}</p>`,
			amount(found.Total, "group")+". Answers show equal passages only once in any case."),
		html.F(`<table><thead><tr>{}<th class="number" scope="col">Likeness</th></tr></thead><tbody>{}</tbody></table>`,
			column("Documents"), groups),
		html.If(found.NextCursor != "", html.F(`<p class="pages"><a class="button" href={}>Next groups</a></p>`,
			v.link(documentsPath+"/duplicates", "prefix", v.param("prefix"), "cursor", found.NextCursor))),
	}, nil
}
