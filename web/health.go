package web

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
)

const (
	healthPath = root + "/health"
	jobsPath   = healthPath + "/jobs"
	keysPath   = healthPath + "/keys"
	auditPath  = healthPath + "/audit"
)

func healthPage() page {
	return page{path: healthPath, name: "Health", view: showHealth, also: map[string]view{
		"GET " + healthPath + "/snapshot": snapshot, "POST " + healthPath + "/check": checkData,
		"GET " + jobsPath: showJobs, "GET " + jobsPath + "/events": jobEvents,
		"POST " + jobsPath + "/cancel": changeJob("cancel"), "POST " + jobsPath + "/retry": changeJob("retry"),
		"GET " + keysPath: showKeys, "POST " + keysPath: createKey, "POST " + keysPath + "/revoke": revokeKey,
		"GET " + auditPath: showAudit,
	}}
}

// healthTabs leads to the parts of the page Health.
func (v *visit) healthTabs(now string) html.Part {
	var list html.List
	for _, t := range []choice{{healthPath, "Overview"}, {jobsPath, "Jobs"}, {keysPath, "Keys"}, {auditPath, "Audit log"}} {
		if v.role != "admin" && (t.value == keysPath || t.value == auditPath) {
			continue
		}
		list = append(list, html.E("li", html.E("a", html.A("href", v.link(t.value)),
			html.If(t.value == now, html.A("aria-current", "page")), html.Text(t.name))))
	}
	return html.E("nav.tabs", html.A("aria-label", "Health"), html.E("ul", list))
}

// showHealth shows the state of the server. Parts that the visitor's key may not see say so.
func showHealth(v *visit) (html.Part, error) {
	var parts html.List
	for _, show := range []func() (html.Part, error){v.sizes, v.vectors, v.measurements} {
		part, err := show()
		switch {
		case errors.Is(err, ragctx.ErrDenied):
			parts = append(parts, html.T("p.note", sentence(detailOf(err))))
		case err != nil:
			return nil, err
		default:
			parts = append(parts, part)
		}
	}
	return html.List{
		heading("Health", v.healthTabs(healthPath)),
		html.E("div.health#health", html.A("hx-get", v.link(healthPath)), html.A("hx-trigger", "every 5s, again"),
			html.A("hx-select", "#health"),
			html.A("hx-swap", "outerHTML"), parts),
		html.If(v.role == "admin", v.care()),
	}, nil
}

// sizes shows the problems and the sizes.
func (v *visit) sizes() (html.Part, error) {
	st, err := get[struct {
		Version   string
		Opened    time.Time
		Uptime    int `json:"uptime_seconds"`
		Directory struct {
			Database int `json:"database_bytes"`
			Indexes  int `json:"index_bytes"`
		}
		Total      struct{ Documents, Memories int }
		Namespaces []struct {
			Name                string
			Documents, Memories int
		}
		Jobs     struct{ Queued, Running, Failed int }
		Embedder struct {
			Name       string
			Dimensions int
			Waiting    int
		}
		Degraded []string
		Troubles []struct {
			Time             time.Time
			Message, Details string
			Count            int
		}
	}](v, "/v1/status", nil)
	if err != nil {
		return nil, err
	}
	problems := html.Part(html.T("p.fine", "Everything works."))
	if len(st.Degraded) > 0 {
		var list html.List
		for _, d := range st.Degraded {
			list = append(list, html.T("li", sentence(d)))
		}
		problems = html.E("div.problem", html.T("h2", amount(len(st.Degraded), "problem")), html.E("ul", list))
	}
	var names, troubles html.List
	for _, n := range st.Namespaces {
		names = append(names, html.E("tr", html.E("td", html.E("a", html.A("href",
			documentsPath+"?"+url.Values{"namespace": {n.Name}}.Encode()), html.Text(n.Name))),
			html.T("td.number", grouped(n.Documents)), html.T("td.number", grouped(n.Memories))))
	}
	for _, e := range st.Troubles {
		troubles = append(troubles, html.E("li", html.T("span.quiet.number", minute(e.Time)+" "), html.Text(e.Message+" "),
			html.T("span.quiet", e.Details),
			html.If(e.Count > 1, html.Text(fmt.Sprintf(" (%d times)", e.Count)))))
	}
	return html.List{
		problems,
		html.E("dl.figures",
			figure("Documents", grouped(st.Total.Documents)), figure("Memories", grouped(st.Total.Memories)),
			figure("Database", size(st.Directory.Database)),
			figure("Indexes", size(st.Directory.Indexes)), figure("Up", (time.Duration(st.Uptime)*time.Second).String()),
			figure("Jobs running", grouped(st.Jobs.Running)), figure("Jobs queued", grouped(st.Jobs.Queued)),
			figure("Embedder", st.Embedder.Name), figure("Dimensions", grouped(st.Embedder.Dimensions)),
			html.If(st.Embedder.Waiting > 0, figure("Chunks to embed", grouped(st.Embedder.Waiting))),
			figure("Version", st.Version)),
		html.If(len(troubles) > 0, html.E("section", html.T("h2", "Recent warnings and errors"), html.E("ul.troubles", troubles))),
		html.If(len(names) > 1, html.E("section", html.T("h2", "Namespaces"), html.E("table", html.E("thead", html.E("tr", column("Name"),
			numberColumn("Documents"), numberColumn("Memories"))), html.E("tbody", names)))),
	}, nil
}

func figure(name, value string) html.Part {
	return html.E("div", html.T("dt", name), html.T("dd", value))
}

func numberColumn(name string) html.Part {
	return html.E("th.number", html.A("scope", "col"), html.Text(name))
}

// recall is a measured recall with its interval.
type recall struct {
	At10    float64 `json:"recall_at_10"`
	Low     float64
	High    float64
	Samples int
}

// vectors shows the recall of the vector indexes and their sizes.
func (v *visit) vectors() (html.Part, error) {
	type searches struct {
		Searches int
		P50      float64 `json:"p50_ms"`
		P99      float64 `json:"p99_ms"`
		Recall   *recall
	}
	st, err := get[struct {
		Documents, Memories searches
		Indexes             []struct {
			Namespace, Kind, Graph, State string
			Units, Pending, Bytes         int
			Linked, Waiting               int
		}
	}](v, "/v1/indexes", nil)
	if err != nil {
		return nil, err
	}
	var gauges, rows html.List
	for _, k := range []struct {
		name string
		of   searches
	}{{"Documents", st.Documents}, {"Memories", st.Memories}} {
		text := "no live search was repeated exactly yet"
		if r := k.of.Recall; r != nil {
			text = fmt.Sprintf("recall@10 %s (%s to %s), %s", decimal(r.At10), decimal(r.Low), decimal(r.High),
				amount(r.Samples, "sample"))
		}
		gauges = append(gauges, html.E("div", html.E("p", html.T("strong", k.name), html.Text(" "+text)), gauge(k.of.Recall),
			html.If(k.of.Searches > 0, html.T("p.quiet.small", fmt.Sprintf("Vector searches: %s, median %s ms, 99 %% within %s ms",
				grouped(k.of.Searches), decimal(k.of.P50), decimal(k.of.P99))))))
	}
	for _, i := range st.Indexes {
		rows = append(rows, html.E("tr", html.T("td", i.Namespace), html.T("td", i.Kind), html.T("td", i.Graph), html.T("td", i.State),
			html.T("td.number", grouped(i.Units)), html.T("td.number", grouped(i.Pending)), html.T("td.number", size(i.Bytes))))
	}
	return html.List{
		html.E("section", html.T("h2", "Recall, measured on live queries"), html.E("div.gauges", gauges)),
		html.If(len(rows) > 0, html.E("section", html.T("h2", "Open vector indexes"),
			wide("Open vector indexes", html.E("table", html.E("thead", html.E("tr", column("Namespace"),
				column("Kind"), column("Graph"), column("State"), numberColumn("Vectors"), numberColumn("Not in files"),
				numberColumn("Size"))), html.E("tbody", rows))))),
	}, nil
}

// gauge draws a recall between one half and one, with its interval.
func gauge(r *recall) html.Part {
	list := html.List{html.E("rect.ground", html.A("y", "5"), html.A("width", "100%"), html.A("height", "6"))}
	label := "no recall was measured"
	if r != nil {
		at := func(x float64) float64 { return min(max(2*x-1, 0), 1) }
		list = append(list,
			html.E("rect.interval", html.A("x", percent(at(r.Low))), html.A("width", percent(at(r.High)-at(r.Low))), html.A("y", "3"),
				html.A("height", "10")),
			html.E("rect.bar", html.A("x", percent(at(r.At10)*.995)), html.A("width", "3"), html.A("height", "16")))
		label = fmt.Sprintf("recall %s of a scale from 0.50 to 1.00", decimal(r.At10))
	}
	return html.E("svg.chart.gauge", html.A("role", "img"), html.A("aria-label", label), html.A("height", "30"), list,
		html.E("text", html.A("x", "0"), html.A("y", "28"), html.Text(".5")),
		html.E("text", html.A("x", "50%"), html.A("y", "28"), html.Text(".75")),
		html.E("text.end", html.A("x", "100%"), html.A("y", "28"), html.Text("1")))
}

// wide makes a table that is wider than its window scroll, also with the keyboard.
func wide(name string, table html.Part) html.Part {
	return html.E("div.scroll", html.A("tabindex", "0"), html.A("role", "region"), html.A("aria-label", name), table)
}

// routesShown is how many routes the page lists, the most used first.
const routesShown = 15

// measurements shows the duration of the stages of an answer and of the routes.
func (v *visit) measurements() (html.Part, error) {
	resp, err := v.client.Call(v.r.Context(), http.MethodGet, "/metrics", nil, nil, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := readMetrics(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	stages, order := histograms(all, "ragctx_answer_stage_duration_seconds", "stage")
	longest := 0.0
	for _, h := range stages {
		longest = max(longest, h.quantile(.99))
	}
	var rows html.List
	for _, name := range order {
		h := stages[name]
		if h.count == 0 {
			continue
		}
		rows = append(rows, html.E("tr", html.E("th", html.A("scope", "row"), html.Text(name)),
			html.E("td.bars", bar(h.quantile(.5)/longest), bar(h.quantile(.99)/longest)),
			html.T("td.number", milliseconds(h.quantile(.5))), html.T("td.number", milliseconds(h.quantile(.99))),
			html.T("td.number", grouped(int(h.count)))))
	}
	stagesPart := html.Part(html.T("p.quiet", "No question was answered since the server started."))
	if len(rows) > 0 {
		stagesPart = wide("Stages of an answer", html.E("table.stages", html.E("thead",
			html.E("tr", column("Stage"), column("Median, 99 %"), numberColumn("Median ms"), numberColumn("99 % ms"),
				numberColumn("Answers"))), html.E("tbody", rows)))
	}
	return html.List{
		html.E("section", html.T("h2", "Stages of an answer"), stagesPart),
		html.E("section", html.T("h2", "Requests"), requests(all)),
	}, nil
}

// requests lists the most used routes.
func requests(all []sample) html.Part {
	routes, order := histograms(all, "ragctx_http_request_duration_seconds", "method", "route")
	failed := make(map[string]float64)
	for _, s := range all {
		if s.name == "ragctx_http_requests_total" && (s.labels["status"] == "4xx" || s.labels["status"] == "5xx") {
			failed[s.labels["method"]+" "+s.labels["route"]] += s.value
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(routes[b].count, routes[a].count) })
	most := 1.0
	if len(order) > 0 {
		most = max(most, routes[order[0]].count)
	}
	var rows html.List
	for _, name := range order[:min(len(order), routesShown)] {
		h := routes[name]
		rows = append(rows, html.E("tr", html.E("th.mono", html.A("scope", "row"), html.Text(name)),
			html.E("td.bars", bar(h.count/most)), html.T("td.number", grouped(int(h.count))),
			html.T("td.number", grouped(int(failed[name]))), html.T("td.number", milliseconds(h.quantile(.5))),
			html.T("td.number", milliseconds(h.quantile(.99)))))
	}
	return wide("Requests", html.E("table.requests", html.E("thead", html.E("tr", column("Route"), column("Share"),
		numberColumn("Requests"), numberColumn("Refused or failed"),
		numberColumn("Median ms"), numberColumn("99 % ms"))), html.E("tbody", rows)))
}

func milliseconds(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// care has the buttons for the whole data directory.
func (v *visit) care() html.Part {
	return html.E("section.care", html.T("h2", "Backup and check"),
		html.E("div.actions", html.E("a.button", html.A("href", healthPath+"/snapshot"), html.Flag("download", true),
			html.Text("Download a snapshot")),
			html.E("form", html.A("method", "post"), html.A("action", v.link(healthPath+"/check")), v.tokenField(),
				html.T("button", "Check the data directory"))),
		html.E("p.quiet.small", html.Text("A snapshot is a consistent copy of everything, for "), html.T("code", "ragctx restore"),
			html.Text(". A check reads the whole database and compares every index with it, as a job.")))
}

// checkData starts a check of the data directory.
func checkData(v *visit) (html.Part, error) {
	j, err := send[job](v, http.MethodPost, "/v1/doctor", nil, map[string]any{})
	if err != nil {
		return nil, err
	}
	return v.goTo(v.link(jobsPath, "id", j.ID))
}

// pieceTimeout is how long a visitor may take for a piece of a file.
const pieceTimeout = time.Minute

// snapshot passes a snapshot on while the server makes it.
func snapshot(v *visit) (html.Part, error) {
	resp, err := v.client.Call(v.r.Context(), http.MethodGet, "/v1/snapshot", nil, nil, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	v.w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	v.w.Header().Set("Content-Disposition", `attachment; filename="ragctx-`+v.now().UTC().Format("2006-01-02-1504")+`.snapshot"`)
	out := http.NewResponseController(v.w)
	for buf := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(buf)
		_ = out.SetWriteDeadline(time.Now().Add(pieceTimeout)) // writers without deadlines need none
		if _, failed := v.w.Write(buf[:n]); failed != nil {
			return nil, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			panic(http.ErrAbortHandler) // an orderly end would look like a whole file
		}
	}
}
