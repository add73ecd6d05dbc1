package web

import (
	"net/http"

	"github.com/ragctx/ragctx/web/internal/html"
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
		return html.List{head, html.F(`<p class="empty">There are no jobs. Uploads, ingested folders and checks are jobs.</p>`)}, nil
	}
	var rows html.List
	for _, j := range page.Jobs {
		rows = append(rows, html.F(`<tr><td class="when"><a href={}>{}</a></td><td>{}</td><td>{}</td><td class="progress">{}</td>
			<td>{}</td></tr>`,
			v.link(jobsPath, "id", j.ID), minute(j.Made), j.Kind, j.Namespace, v.jobProgress(j), v.jobActions(j)))
	}
	return html.List{head, wide("Jobs", html.F(`<table class="jobs"><thead><tr>{}{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
		column("Created (UTC)"), column("Kind"), column("Namespace"), column("State"), column("Actions"),
		rows)), html.If(page.NextCursor != "", html.F(`<p class="pages"><a class="button" href={}>Earlier jobs</a></p>`,
		v.link(jobsPath, "cursor", page.NextCursor)))}, nil
}

// jobActions cancel a job that runs, and retry one that has ended with failures.
func (v *visit) jobActions(j job) html.Part {
	form := func(verb, name string) html.Part {
		return html.F(`<form method="post" action={}>{}{}<button>{}</button></form>`,
			v.link(jobsPath+"/"+verb), v.tokenField(), hidden("id", j.ID), name)
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
		rows = append(rows, html.F(`<tr><td>{}</td><td>{}</td></tr>`, it.Key, it.Error))
	}
	if r := j.Result; r != nil && j.Kind == "doctor" {
		for _, f := range r.Store.Findings {
			found = append(found, html.F(`<li class="fault">{}</li>`, sentence(f)))
		}
		for _, d := range r.Degraded {
			found = append(found, html.F(`<li class="fault">{}</li>`, sentence(d)))
		}
		for _, i := range r.Indexes {
			wrong := i.Keyword.Missing + i.Keyword.Wrong + i.Keyword.Extra + i.Vector.Missing + i.Vector.Wrong + i.Vector.Extra
			text := i.Namespace + ", " + i.Kind + ": " + amount(i.Units, "chunk") + ", " + amount(wrong,
				"difference") + " from the database"
			if i.Found.Recall != nil {
				text += ", recall@10 " + decimal(i.Found.Recall.At10)
			}
			found = append(found, html.F(`<li>{}</li>`, text))
		}
	}
	v.title = "Job"
	return html.List{
		heading("Health", v.healthTabs(jobsPath)),
		html.F(`<h2>{}</h2>`, "Job "+j.ID), v.jobProgress(j.job), html.F(`<dl class="facts">{}{}{}{}</dl>`,
			fact("Kind", j.Kind), fact("Namespace", j.Namespace), fact("Created (UTC)", minute(j.Made)),
			fact("Finished (UTC)", minute(j.Finished))),
		html.F(`<div class="actions">{}</div>`, v.jobActions(j.job)),
		html.If(len(found) > 0, html.F(`<section><h2>What the check found</h2><ul>{}</ul></section>`, found)),
		html.If(len(rows) > 0, html.F(`<section><h2>What failed</h2>{}</section>`,
			wide("Items that failed", html.F(`<table><thead><tr>{}{}</tr></thead><tbody>{}</tbody></table>`,
				column("Item"), column("Reason"), rows)))),
	}, nil
}
