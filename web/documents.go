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
	"github.com/ragctx/ragctx/web/html"
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
	ID         string
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
		heading("Documents", html.E("a", html.A("href", v.link(documentsPath+"/duplicates", "prefix", prefix)),
			html.Text("Near duplicates"))),
		html.If(v.param("deleted") != "", v.deletedNote(v.param("deleted"), v.param("version"))),
		html.E("form.filters", html.A("method", "get"), html.A("action", documentsPath), html.A("role", "search"), v.namespaceField(),
			html.E("label", html.T("span", "Search in the texts"), html.E("input", html.A("type", "search"), html.A("name", "q"),
				html.A("value", q),
				html.Int("maxlength", maxQuestion))),
			html.E("label", html.T("span", "Ids that begin with"), html.E("input", html.A("name", "prefix"), html.A("value", prefix),
				html.A("maxlength", "512"))),
			html.E("label", html.T("span", "Ingested from"), html.E("input", html.A("name", "root"), html.A("value", v.param("root")),
				html.A("maxlength", "4096"))),
			html.T("button", "Show")),
		html.If(v.mayWrite(), v.uploadForm(prefix)),
		html.E("div#list", html.A("hx-get", v.r.URL.RequestURI()), html.A("hx-trigger", "uploaded from:body, again"),
			html.A("hx-select", "#list"),
			html.A("hx-swap", "outerHTML"), list),
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
		return html.E("p.empty", html.Text("There are no documents here. "), html.If(v.mayWrite(), html.Text("Drop files above, or run "),
			html.T("code", "ragctx ingest PATH"), html.Text("."))), nil
	}
	var rows html.List
	folder := "\x00"
	for _, d := range page.Documents {
		if dir := strings.TrimSuffix(d.ID[:strings.LastIndexByte(d.ID, '/')+1], "/"); dir != folder {
			folder = dir
			rows = append(rows, html.E("tr.folder", html.E("th", html.A("colspan", "5"), html.A("scope", "colgroup"), v.crumbs(dir))))
		}
		rows = append(rows, html.E("tr",
			html.E("td", html.E("a", html.A("href", v.oneDocument(d.ID)), html.Text(cmp.Or(path.Base(d.ID), d.ID))),
				html.If(d.Title != "" && d.Title != d.ID && d.Title != path.Base(d.ID), html.T("span.quiet", " "+d.Title))),
			html.E("td.quiet", html.T("span.type", strings.TrimPrefix(d.MIME, "text/")), tagList(d.Tags)),
			html.T("td.number", size(d.Bytes)),
			html.T("td.number", grouped(d.Chunks)),
			html.E("td.number.quiet", html.A("title", d.Recorded.Format(time.RFC3339)), html.Text(minute(d.Recorded))),
		))
	}
	more := html.If(page.NextCursor != "", html.E("p.pages", html.E("a.button",
		html.A("href", v.link(documentsPath, "prefix", prefix, "root", v.param("root"),
			"cursor", page.NextCursor)), html.Text("Next documents"))))
	return html.List{html.E("div.scroll", html.A("tabindex", "0"), html.A("role", "region"), html.A("aria-label", "Documents"),
		html.E("table.documents", html.E("thead", html.E("tr", column("Document"), column("Type"),
			html.E("th.number", html.A("scope", "col"), html.Text("Size")),
			html.E("th.number", html.A("scope", "col"), html.Text("Chunks")),
			html.E("th.number", html.A("scope", "col"), html.Text("Stored (UTC)")))),
			html.E("tbody", rows))), more}, nil
}

func column(name string) html.Part { return html.E("th", html.A("scope", "col"), html.Text(name)) }

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
		list = append(list, html.E("a", html.A("href", v.link(documentsPath, "prefix", (dir + "/")[:end])), html.Text(cmp.Or(name, "/"))))
	}
	return list
}

func tagList(tags []string) (list html.List) {
	for _, t := range tags {
		list = append(list, html.Text(" "), html.T("span.tag", t))
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
		return html.T("p.empty", "No document answers “"+q+"”."), nil
	}
	var list html.List
	for _, it := range found.Items {
		list = append(list, html.E("li", html.E("div", html.E("p.name", v.itemLink(it), html.Text(" "),
			html.T("span.quiet.small", it.Source)),
			html.E("pre", marked(it))), html.E("span.relevance.number", html.A("title", "relevance"), html.Text(decimal(it.Relevance)))))
	}
	return html.E("ol.found", list), nil
}

// deletedNote offers to store a document again whose last version is still there.
func (v *visit) deletedNote(id, version string) html.Part {
	return html.E("div.note", html.A("role", "status"), html.T("p", "“"+id+"” is deleted."),
		html.If(version != "" && v.mayWrite(), html.E("form", html.A("method", "post"), html.A("action", v.link(documentsPath+"/restore")),
			v.tokenField(),
			hidden("id", id), hidden("version", version), html.T("button", "Undo"))))
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
	head := heading(v.title, html.E("a", html.A("href", v.link(documentsPath)), html.Text("All documents")))
	if found.Total == 0 {
		return html.List{head, html.T("p.empty", "No two documents are nearly equal.")}, nil
	}
	var groups html.List
	for _, g := range found.Groups {
		var ids html.List
		for i, id := range g.IDs {
			ids = append(ids, html.E("li", html.E("a", html.A("href", v.oneDocument(id)), html.Text(id)),
				html.If(i > 0 && !g.Exact, html.Text(" "), html.E("a.small",
					html.A("href", v.link(documentsPath+"/difference", "id", g.IDs[0], "other", id)),
					html.Text("Difference from the first")))))
		}
		label := "equal"
		if !g.Exact {
			label = strconv.Itoa(int(100*g.Similarity)) + " % alike"
		}
		groups = append(groups, html.E("tr", html.E("td", html.E("ul", ids)), html.T("td.number", label)))
	}
	return html.List{
		head, html.T("p.quiet", amount(found.Total, "group")+". Answers show equal passages only once in any case."),
		html.E("table", html.E("thead", html.E("tr", column("Documents"),
			html.E("th.number", html.A("scope", "col"), html.Text("Likeness")))), html.E("tbody", groups)),
		html.If(found.NextCursor != "", html.E("p.pages", html.E("a.button",
			html.A("href", v.link(documentsPath+"/duplicates", "prefix", v.param("prefix"),
				"cursor", found.NextCursor)), html.Text("Next groups")))),
	}, nil
}
