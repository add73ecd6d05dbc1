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
	"github.com/ragctx/ragctx/web/internal/html"
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
		list = append(list, html.F(`<li><a href={} aria-current={}>{}</a></li>`,
			v.link(t.value), html.When(t.value == now, "page"), t.name))
	}
	return html.F(`<nav class="tabs" aria-label="Health"><ul>{}</ul></nav>`, list)
}

// showHealth shows the state of the server. Parts that the visitor's key may not see say so.
func showHealth(v *visit) (html.Part, error) {
	var parts html.List
	for _, show := range []func() (html.Part, error){v.sizes, v.vectors, v.measurements} {
		part, err := show()
		switch {
		case errors.Is(err, ragctx.ErrDenied):
			parts = append(parts, html.F(`<p class="note">{}</p>`, sentence(detailOf(err))))
		case err != nil:
			return nil, err
		default:
			parts = append(parts, part)
		}
	}
	return html.List{
		heading("Health", v.healthTabs(healthPath)),
		html.F(`<div class="health" id="health" hx-get={} hx-trigger="every 5s, again" hx-select="#health" hx-swap="outerHTML">{}</div>`,
			v.link(healthPath), parts),
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
	problems := html.F(`<p class="fine">Everything works.</p>`)
	if len(st.Degraded) > 0 {
		var list html.List
		for _, d := range st.Degraded {
			list = append(list, html.F(`<li>{}</li>`, sentence(d)))
		}
		problems = html.F(`<div class="problem"><h2>{}</h2><ul>{}</ul></div>`, amount(len(st.Degraded), "problem"), list)
	}
	var names, troubles html.List
	for _, n := range st.Namespaces {
		names = append(names, html.F(`<tr><td><a href={}>{}</a></td><td class="number">{}</td><td class="number">{}</td></tr>`,
			documentsPath+"?"+url.Values{"namespace": {n.Name}}.Encode(), n.Name, grouped(n.Documents), grouped(n.Memories)))
	}
	for _, e := range st.Troubles {
		troubles = append(troubles, html.F(`<li><span class="quiet number">{}</span>{}<span class="quiet">{}</span>{}</li>`,
			minute(e.Time)+" ", e.Message+" ", e.Details, html.If(e.Count > 1, html.Text(fmt.Sprintf(" (%d times)", e.Count)))))
	}
	return html.List{
		problems,
		html.F(`<dl class="figures">{}{}{}{}{}{}{}{}{}{}{}</dl>`,
			figure("Documents", grouped(st.Total.Documents)), figure("Memories", grouped(st.Total.Memories)),
			figure("Database", size(st.Directory.Database)), figure("Indexes", size(st.Directory.Indexes)),
			figure("Up", (time.Duration(st.Uptime)*time.Second).String()), figure("Jobs running", grouped(st.Jobs.Running)),
			figure("Jobs queued", grouped(st.Jobs.Queued)), figure("Embedder", st.Embedder.Name),
			figure("Dimensions", grouped(st.Embedder.Dimensions)),
			html.If(st.Embedder.Waiting > 0, figure("Chunks to embed", grouped(st.Embedder.Waiting))),
			figure("Version", st.Version)),
		html.If(len(troubles) > 0, html.F(`<section><h2>Recent warnings and errors</h2><ul class="troubles">{}</ul></section>`,
			troubles)),
		html.If(len(names) > 1, html.F(`<section><h2>Namespaces</h2><table><thead><tr>{}{}{}</tr></thead>
			<tbody>{}</tbody></table></section>`,
			column("Name"), numberColumn("Documents"), numberColumn("Memories"), names)),
	}, nil
}

func figure(name, value string) html.Part {
	return html.F(`<div><dt>{}</dt><dd>{}</dd></div>`, name, value)
}

func numberColumn(name string) html.Part {
	return html.F(`<th class="number" scope="col">{}</th>`, name)
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
		gauges = append(gauges, html.F(`<div><p><strong>{}</strong>{}</p>{}{}</div>`,
			k.name, " "+text, gauge(k.of.Recall), html.If(k.of.Searches > 0, html.F(`<p class="quiet small">{}</p>`,
				fmt.Sprintf("Vector searches: %s, median %s ms, 99 %% within %s ms", grouped(k.of.Searches),
					decimal(k.of.P50), decimal(k.of.P99))))))
	}
	for _, i := range st.Indexes {
		rows = append(rows, html.F(`<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class="number">{}</td><td class="number">{}</td>
			<td class="number">{}</td></tr>`,
			i.Namespace, i.Kind, i.Graph, i.State, grouped(i.Units), grouped(i.Pending), size(i.Bytes)))
	}
	return html.List{
		html.F(`<section><h2>Recall, measured on live queries</h2><div class="gauges">{}</div></section>`, gauges),
		html.If(len(rows) > 0, html.F(`<section><h2>Open vector indexes</h2>{}</section>`,
			wide("Open vector indexes", html.F(`<table><thead><tr>{}{}{}{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
				column("Namespace"), column("Kind"), column("Graph"), column("State"), numberColumn("Vectors"),
				numberColumn("Not in files"), numberColumn("Size"), rows)))),
	}, nil
}

// gauge draws a recall between one half and one, with its interval.
func gauge(r *recall) html.Part {
	list := html.List{html.F(`<rect class="ground" y="5" width="100%" height="6"></rect>`)}
	label := "no recall was measured"
	if r != nil {
		at := func(x float64) float64 { return min(max(2*x-1, 0), 1) }
		list = append(list,
			html.F(`<rect class="interval" x={} width={} y="3" height="10"></rect>`,
				percent(at(r.Low)), percent(at(r.High)-at(r.Low))),
			html.F(`<rect class="bar" x={} width="3" height="16"></rect>`, percent(at(r.At10)*.995)))
		label = fmt.Sprintf("recall %s of a scale from 0.50 to 1.00", decimal(r.At10))
	}
	return html.F(`<svg class="chart gauge" role="img" aria-label={} height="30">{}<text x="0" y="28">.5</text>
			<text x="50%" y="28">.75</text><text class="end" x="100%" y="28">1</text></svg>`,
		label, list)
}

// wide makes a table that is wider than its window scroll, also with the keyboard.
func wide(name string, table html.Part) html.Part {
	return html.F(`<div class="scroll" tabindex="0" role="region" aria-label={}>{}</div>`, name, table)
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
		rows = append(rows, html.F(`<tr><th scope="row">{}</th><td class="bars">{}{}</td><td class="number">{}</td>
			<td class="number">{}</td>
			<td class="number">{}</td></tr>`,
			name, bar(h.quantile(.5)/longest), bar(h.quantile(.99)/longest), milliseconds(h.quantile(.5)),
			milliseconds(h.quantile(.99)), grouped(int(h.count))))
	}
	stagesPart := html.F(`<p class="quiet">No question was answered since the server started.</p>`)
	if len(rows) > 0 {
		stagesPart = wide("Stages of an answer", html.F(`<table class="stages"><thead><tr>{}{}{}{}{}</tr></thead>
			<tbody>{}</tbody></table>`,
			column("Stage"), column("Median, 99 %"), numberColumn("Median ms"), numberColumn("99 % ms"), numberColumn("Answers"),
			rows))
	}
	return html.List{
		html.F(`<section><h2>Stages of an answer</h2>{}</section>`, stagesPart),
		html.F(`<section><h2>Requests</h2>{}</section>`, requests(all)),
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
		rows = append(rows, html.F(`<tr><th class="mono" scope="row">{}</th><td class="bars">{}</td><td class="number">{}</td>
			<td class="number">{}</td><td class="number">{}</td><td class="number">{}</td></tr>`,
			name, bar(h.count/most), grouped(int(h.count)), grouped(int(failed[name])), milliseconds(h.quantile(.5)),
			milliseconds(h.quantile(.99))))
	}
	return wide("Requests", html.F(`<table class="requests"><thead><tr>{}{}{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
		column("Route"), column("Share"), numberColumn("Requests"), numberColumn("Refused or failed"), numberColumn("Median ms"),
		numberColumn("99 % ms"), rows))
}

func milliseconds(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// care has the buttons for the whole data directory.
func (v *visit) care() html.Part {
	return html.F(`<section class="care"><h2>Backup and check</h2><div class="actions">
			<a class="button" href={} download>Download a snapshot</a><form method="post" action={}>{}
			<button>Check the data directory</button></form></div>
			<p class="quiet small">A snapshot is a consistent copy of everything, for <code>ragctx restore</code>. A check
			reads the whole database and compares every index with it, as a job.</p></section>`,
		healthPath+"/snapshot", v.link(healthPath+"/check"), v.tokenField())
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
