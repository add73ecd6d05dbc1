package web

import (
	"net/http"

	"github.com/ragctx/ragctx/web/html"
)

// showJobs lists the newest jobs, or shows one with the items that failed.
func showJobs(v *visit) (html.Part, error) {
	if id := v.param("id"); id != "" {
		return v.oneJob(id)
	}
	page, err := get[struct {
		Jobs       []job
		NextCursor string `json:"next_cursor"`
	}](v, "/v1/jobs", v.query("state", v.param("state"), "cursor", v.param("cursor"), "limit", "50"))
	if err != nil {
		return nil, err
	}
	head := heading("Health", v.healthTabs(jobsPath))
	if len(page.Jobs) == 0 {
		return html.List{head, html.T("p.empty", "There are no jobs. Uploads, ingested folders and checks are jobs.")}, nil
	}
	var rows html.List
	for _, j := range page.Jobs {
		rows = append(rows, html.E("tr", html.E("td.when", html.E("a", html.A("href", v.link(jobsPath, "id", j.ID)),
			html.Text(minute(j.Made)))),
			html.T("td", j.Kind), html.T("td", j.Namespace), html.E("td.progress", v.jobProgress(j)), html.E("td", v.jobActions(j))))
	}
	return html.List{head, wide("Jobs", html.E("table.jobs", html.E("thead",
		html.E("tr", column("Created (UTC)"), column("Kind"), column("Namespace"), column("State"), column("Actions"))),
		html.E("tbody", rows))), html.If(page.NextCursor != "", html.E("p.pages",
		html.E("a.button", html.A("href", v.link(jobsPath, "cursor", page.NextCursor)), html.Text("Earlier jobs"))))}, nil
}

// jobActions cancel a job that runs, and retry one that has ended with failures.
func (v *visit) jobActions(j job) html.Part {
	form := func(verb, name string) html.Part {
		return html.E("form", html.A("method", "post"), html.A("action", v.link(jobsPath+"/"+verb)), v.tokenField(),
			hidden("id", j.ID), html.T("button", name))
	}
	switch {
	case !v.mayWrite():
		return nil
	case !j.ended():
		return form("cancel", "Cancel")
	case j.State == "failed" || j.Counts.Failed > 0:
		return form("retry", "Retry")
	}
	return nil
}

// changeJob cancels or retries a job.
func changeJob(verb string) view {
	return func(v *visit) (html.Part, error) {
		id := v.r.PostFormValue("id")
		if _, err := send[struct{}](v, http.MethodPost, "/v1/jobs/"+segment(id)+":"+verb, nil, nil); err != nil {
			return nil, err
		}
		return v.goTo(v.link(jobsPath, "id", id))
	}
}

// oneJob shows a job, its failed items and its result.
func (v *visit) oneJob(id string) (html.Part, error) {
	type result struct {
		Repaired int
		Degraded []string
		Store    struct {
			Items    int
			Findings []string
		}
		Indexes []struct {
			Namespace, Kind string
			Units           int
			Keyword, Vector struct{ Missing, Wrong, Extra int }
			Found           struct{ Recall *recall }
		}
	}
	j, err := get[struct {
		job
		Result *result
	}](v, "/v1/jobs/"+segment(id), nil)
	if err != nil {
		return nil, err
	}
	failed, err := get[struct {
		Items []struct {
			Key, Field, Error string
			N                 int
		}
	}](v, "/v1/jobs/"+segment(id)+"/items", v.query("state", "failed"))
	if err != nil {
		return nil, err
	}
	var rows, found html.List
	for _, it := range failed.Items {
		rows = append(rows, html.E("tr", html.T("td", it.Key), html.T("td", it.Error)))
	}
	if r := j.Result; r != nil && j.Kind == "doctor" {
		for _, f := range r.Store.Findings {
			found = append(found, html.T("li.fault", sentence(f)))
		}
		for _, d := range r.Degraded {
			found = append(found, html.T("li.fault", sentence(d)))
		}
		for _, i := range r.Indexes {
			wrong := i.Keyword.Missing + i.Keyword.Wrong + i.Keyword.Extra + i.Vector.Missing + i.Vector.Wrong + i.Vector.Extra
			text := i.Namespace + ", " + i.Kind + ": " + amount(i.Units, "chunk") + ", " + amount(wrong,
				"difference") + " from the database"
			if i.Found.Recall != nil {
				text += ", recall@10 " + decimal(i.Found.Recall.At10)
			}
			found = append(found, html.T("li", text))
		}
	}
	v.title = "Job"
	return html.List{
		heading("Health", v.healthTabs(jobsPath)),
		html.T("h2", "Job "+j.ID), v.jobProgress(j.job), html.E("dl.facts", fact("Kind", j.Kind), fact("Namespace", j.Namespace),
			fact("Created (UTC)", minute(j.Made)), fact("Finished (UTC)", minute(j.Finished))),
		html.E("div.actions", v.jobActions(j.job)),
		html.If(len(found) > 0, html.E("section", html.T("h2", "What the check found"), html.E("ul", found))),
		html.If(len(rows) > 0, html.E("section", html.T("h2", "What failed"),
			wide("Items that failed", html.E("table", html.E("thead", html.E("tr", column("Item"), column("Reason"))),
				html.E("tbody", rows))))),
	}, nil
}
