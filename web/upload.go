package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ragctx/ragctx/web/internal/html"
)

// uploadPath takes files, as the body of a bulk request.
const uploadPath = documentsPath + "/upload"

// uploadForm takes files by drag and drop, or from a dialog. A script sends them as one bulk request.
func (v *visit) uploadForm(prefix string) html.Part {
	return html.F(`<form class="upload" data-url={} aria-label="Upload"><label class="drop">
			<input class="unseen" type="file" multiple><strong>Drop files or folders here</strong> or <u>choose files</u></label>
			<label><span>Prefix of their ids</span><input name="prefix" value={} maxlength="256" placeholder="handbook/"></label>
			<div class="sending" hidden><progress max="1" value="0" aria-label="Sent"></progress>
			<span class="quiet"></span></div><div class="uploads" aria-live="polite"></div></form>`,
		v.link(uploadPath), prefix)
}

// upload passes files on to a bulk request, and answers with its job.
func upload(v *visit) (html.Part, error) {
	resp, err := v.client.Call(v.r.Context(), http.MethodPost, "/v1/documents:bulk", v.query(), v.r.Body, v.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var j job
	if err := json.NewDecoder(resp.Body).Decode(&j); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	return v.jobProgress(j), nil
}

// job has the fields of a job that the pages show.
type job struct {
	ID, Kind, Namespace, State, Error, Current string
	Items                                      int
	Counts                                     struct{ Created, Replaced, Unchanged, Deleted, Failed, Skipped int }
	TotalBytes                                 int       `json:"total_bytes"`
	WrittenBytes                               int       `json:"written_bytes"`
	ETA                                        float64   `json:"eta_seconds"`
	Made                                       time.Time `json:"created_at"`
	Finished                                   time.Time
}

func (j job) ended() bool { return j.State == "done" || j.State == "failed" || j.State == "cancelled" }

// done returns the number of items that are finished.
func (j job) done() int {
	c := j.Counts
	return c.Created + c.Replaced + c.Unchanged + c.Deleted + c.Failed + c.Skipped
}

// share returns the finished share of a job.
func (j job) share() float64 {
	switch {
	case j.ended():
		return 1
	case j.TotalBytes > 0:
		return float64(j.WrittenBytes) / float64(j.TotalBytes)
	case j.Items > 0:
		return float64(j.done()) / float64(j.Items)
	}
	return 0
}

// text describes the state of a job.
func (j job) text() string {
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{
		{j.Counts.Created, "created"},
		{j.Counts.Replaced, "replaced"},
		{j.Counts.Unchanged, "unchanged"},
		{j.Counts.Deleted, "deleted"},
		{j.Counts.Failed, "failed"},
		{j.Counts.Skipped, "skipped"},
	} {
		if c.n > 0 {
			parts = append(parts, grouped(c.n)+" "+c.name)
		}
	}
	if !j.ended() && j.Current != "" {
		parts = append(parts, j.Current)
	}
	if !j.ended() && j.ETA > 0 {
		parts = append(parts, fmt.Sprintf("%.0f s left", j.ETA))
	}
	if j.Error != "" {
		parts = append(parts, j.Error)
	}
	return strings.Join(parts, ", ")
}

// jobProgress shows a job, and follows it if it has not ended.
func (v *visit) jobProgress(j job) html.Part {
	return html.F(`<div class="job" data-events={}>{}</div>`,
		html.When(!j.ended(), v.link(jobsPath+"/events", "id", j.ID)), v.jobState(j))
}

// jobState is the content of a job's progress.
func (v *visit) jobState(j job) html.Part {
	return html.List{
		html.F(`<progress max="1" value={} aria-label={}></progress>`, decimal(j.share()), "Job "+j.State),
		html.F(`<span><strong>{}</strong>{}<span class="quiet">{}</span></span>`,
			j.State, " "+amount(j.Items, "item")+" ", j.text()),
		html.If(j.Counts.Failed > 0, html.F(`<a class="small" href={}>what failed</a>`, v.link(jobsPath, "id", j.ID))),
	}
}

// jobEvents relays the states of a job as server-sent events whose data is HTML.
func jobEvents(v *visit) (html.Part, error) {
	resp, err := v.client.Call(v.r.Context(), http.MethodGet, "/v1/jobs/"+segment(v.param("id"))+"/events", nil, nil, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(v.w)
	name := ""
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, nil // the stream has ended, or the visitor is gone
		}
		line = strings.TrimSuffix(line, "\n")
		switch field, value, _ := strings.Cut(line, ": "); field {
		case "event":
			name = value
		case "data":
			var j job
			if json.Unmarshal([]byte(value), &j) == nil {
				err = v.sendEvent(out, name, v.jobState(j))
			}
		case "":
			err = v.sendLine(out, ":\n\n")
		}
		if err != nil {
			return nil, nil
		}
	}
}

// eventTimeout is how long a visitor may take for an event.
const eventTimeout = 30 * time.Second

func (v *visit) sendEvent(out *http.ResponseController, name string, content html.Part) error {
	var text strings.Builder
	_ = html.WriteTo(&text, content) // a builder cannot fail
	data := strings.NewReplacer("\r", " ", "\n", "\ndata: ").Replace(text.String())
	return v.sendLine(out, "event: "+name+"\ndata: "+data+"\n\n")
}

// errEnded ends the stream of a visitor who has signed out.
var errEnded = errors.New("the session has ended")

// sendLine sends a part of a stream, unless the session of its visitor has ended meanwhile.
func (v *visit) sendLine(out *http.ResponseController, text string) error {
	if v.signed && !v.sessions.open(v.cookie) {
		return errEnded
	}
	_ = out.SetWriteDeadline(time.Now().Add(eventTimeout)) // writers without deadlines need none
	if _, err := io.WriteString(v.w, text); err != nil {
		return err
	}
	return out.Flush()
}
