package api

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const asLines = "Content-Type: application/x-ndjson"

func (f *fixture) ids(t *testing.T, namespace string) []string {
	t.Helper()
	list, err := f.client.ListDocuments(t.Context(), namespace, store.ListOptions{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

func (f *fixture) jobs(t *testing.T) []engine.Job {
	t.Helper()
	list, err := f.client.ListJobs(t.Context(), store.JobFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBulkLines: a mistake in a line is that line's, and says where it is.
func TestBulkLines(t *testing.T) {
	f := start(t, Options{MaxBodyBytes: 10_000})
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/gone?namespace=n", `{"text":"old"}`), 201)
	long := strings.Repeat("x", 20_000)
	var body strings.Builder
	for i := range 200 {
		fmt.Fprintf(&body, `{"id":"d/%03d","text":"Number w%d stands here.","tags":["x"],"metadata":{"n":12345678901234567890}}`+"\n", i, i)
	}
	body.WriteString("\n" + // 201, blank
		`{"id":"a","text":5,"titel":"x"}` + "\n" +
		`{"id":"b","text":" "}` + "\r\n" +
		`{"text":"no id"}` + "\n" +
		`{"delete":"gone"}` + "\n" +
		`{"delete":"gone","text":"x"}` + "\n" +
		`not json` + "\n" +
		`{"id":"c","text":"` + long + `"}` + "\n" +
		`{"id":"t","title":"A title and no text"}` + "\n" +
		`{"id":"last","text":"without a newline at its end"}`)
	a := f.call(t, "POST", "/v1/documents:bulk?namespace=n&wait=60s", body.String(), asLines)
	j := into[engine.Job](t, a, 200)
	want := store.JobCounts{Created: 202, Deleted: 1, Failed: 6}
	if j.State != store.JobDone || j.Counts != want || j.Items != 209 || j.Kind != "documents" || j.Namespace != "n" {
		t.Errorf("%+v", j)
	}
	if a.header.Get("Location") != "/v1/jobs/"+j.ID {
		t.Errorf("Location %q", a.header.Get("Location"))
	}
	var got []string
	for _, i := range into[jobItemPage](t, f.call(t, "GET", "/v1/jobs/"+j.ID+"/items?state=failed", ""), 200).Items {
		got = append(got, fmt.Sprintf("%d %s %s: %s", i.N, i.Key, i.Field, i.Error))
	}
	for k, wanted := range []string{
		"202 a text: is a number; send a string; titel is not a field here; did you mean title?",
		"203 b text: is empty or white space",
		"204  id: is empty; give the document a name",
		"206 gone delete: cannot be combined with other fields",
		"207  line: is not valid JSON: has ",
		"208  text: is in a line of more than 10000 bytes",
	} {
		if k >= len(got) || !strings.HasPrefix(got[k], wanted) {
			t.Errorf("item errors are %q; want %q", got, wanted)
			break
		}
	}
	if ids := f.ids(t, "n"); len(ids) != 202 || slices.Contains(ids, "gone") {
		t.Errorf("%d documents", len(ids))
	}
	if d := into[Document](t, f.call(t, "GET", "/v1/documents/t?namespace=n", ""), 200); d.Text == nil || *d.Text != "A title and no text" {
		t.Errorf("%+v", d)
	}
	d := into[Document](t, f.call(t, "GET", "/v1/documents/d/007?namespace=n", ""), 200)
	if fmt.Sprint(d.Metadata["n"]) != "1.2345678901234567e+19" && fmt.Sprint(d.Metadata["n"]) != "12345678901234567890" || d.Tags[0] != "x" {
		t.Errorf("%+v", d)
	}
	// All of it again costs no writes: the items are settled as they come.
	j = into[engine.Job](t, f.call(t, "POST", "/v1/documents:bulk?namespace=n&wait=60s", body.String(), asLines), 200)
	if j.Counts.Unchanged != 203 || j.Counts.Failed != 6 {
		t.Errorf("again: %+v", j)
	}
}

func TestBulkForm(t *testing.T) {
	f := start(t, Options{})
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part := func(disposition, media, text string) {
		h := textproto.MIMEHeader{"Content-Disposition": {disposition}}
		if media != "" {
			h.Set("Content-Type", media)
		}
		w, err := form.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	part(`form-data; name="options"`, "application/json", `{"prefix":"guide/","tags":["team"],"root":"wiki"}`)
	part(`form-data; name="file"; filename="sub/a.md"`, "text/plain", "# Zebras\n\nAll about zebras.")
	part(`form-data; name="file"; filename="b.txt"`, "application/octet-stream", "a\x00b")
	part(`form-data; name="file"; filename*=UTF-8''%C3%BC.md`, "", "\xff\xfeh\x00i\x00")
	part(`form-data; name="file"; filename=""`, "", "no name")
	form.Close()
	j := into[engine.Job](t, f.call(t, "POST", "/v1/documents:bulk?wait=60s", body.String(), "Content-Type: "+form.FormDataContentType()), 200)
	if (j.Counts != store.JobCounts{Created: 2, Failed: 2}) {
		t.Errorf("%+v", j)
	}
	d := into[Document](t, f.call(t, "GET", "/v1/documents/guide/sub/a.md", ""), 200)
	if d.Title != "Zebras" || d.Root != "wiki" || d.Tags[0] != "team" || d.MIME != "text/markdown" {
		t.Errorf("%+v", d)
	}
	if d := into[Document](t, f.call(t, "GET", "/v1/documents/guide/ü.md", ""), 200); *d.Text != "hi" {
		t.Errorf("%+v", d)
	}
	for name, parts := range map[string]func(){
		"options last": func() {
			part(`form-data; name="file"; filename="a"`, "", "x")
			part(`form-data; name="options"`, "", `{}`)
		},
		"misspelt": func() { part(`form-data; name="options"`, "", `{"prefx":"x"}`) },
		"no file":  func() { part(`form-data; name="other"`, "", `x`) },
		"nothing":  func() {},
	} {
		body.Reset()
		form = multipart.NewWriter(&body)
		parts()
		form.Close()
		p := f.call(t, "POST", "/v1/documents:bulk", body.String(), "Content-Type: "+form.FormDataContentType()).problem(t)
		if p.Status != 422 || !strings.HasPrefix(p.Errors[0].Location, "body") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if n := len(f.jobs(t)); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

func TestBulkRefuses(t *testing.T) {
	f := start(t, Options{MaxBulkItems: 2, MaxBulkBytes: 1000})
	line := `{"id":"a","text":"alpha"}` + "\n"
	for _, tc := range []struct {
		name, query, body, header string
		status                    int
		location                  string
	}{
		{"type", "", line, "Content-Type: application/json", 415, "header.Content-Type"},
		{"encoding", "", line, "Content-Encoding: gzip", 415, "header.Content-Encoding"},
		{"boundary", "", line, "Content-Type: multipart/form-data", 415, "header.Content-Type"},
		{"nothing", "", "\n\n", asLines, 422, "body"},
		{"items", "", line + line + line, asLines, 413, "body"},
		{"texts", "", `{"id":"a","text":"` + strings.Repeat("x", 1500) + `"}`, asLines, 413, "body"},
		{"bytes", "", strings.Repeat(" ", 3000), asLines, 413, "body"},
		{"wait", "?wait=1h", line, asLines, 422, "query.wait"},
		{"parameter", "?prefix=x", line, asLines, 422, "query.prefix"},
		{"namespace", "?namespace=" + strings.Repeat("x", 513), line, asLines, 422, "query.namespace"},
	} {
		p := f.call(t, "POST", "/v1/documents:bulk"+tc.query, tc.body, tc.header).problem(t)
		if p.Status != tc.status || len(p.Errors) != 1 || p.Errors[0].Location != tc.location {
			t.Errorf("%s: %+v", tc.name, p)
		}
	}
	if n := len(f.jobs(t)); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

// TestLongUploadIsAnswered: also if it takes longer than an answer may, and is refused.
func TestLongUploadIsAnswered(t *testing.T) {
	f := start(t, Options{})
	srv := httptest.NewUnstartedServer(f.Server)
	srv.Config.WriteTimeout = 20 * time.Millisecond
	srv.Start()
	defer srv.Close()
	r, w := io.Pipe()
	go func() {
		for range 10 {
			io.WriteString(w, "\n")
			time.Sleep(5 * time.Millisecond)
		}
		w.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/documents:bulk", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", linesType)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("%s, %v: %s", resp.Status, err, b)
	}
}

// TestFormIsReadToItsEnd: what comes after its last part is part of the request,
// which can be sent again.
func TestFormIsReadToItsEnd(t *testing.T) {
	f := start(t, Options{})
	form := "--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nalpha\r\n--b--\r\n"
	for i, after := range []string{"", "\r\n", strings.Repeat("epilogue\r\n", 10_000)} {
		key := fmt.Sprintf("Idempotency-Key: %d", i)
		for _, replayed := range []string{"", "true"} {
			a := f.call(t, "POST", "/v1/documents:bulk?wait=60s", form+after, "Content-Type: multipart/form-data; boundary=b", key)
			if a.status != 200 || a.header.Get(replayedHeader) != replayed {
				t.Errorf("%d: %d %s", i, a.status, a.body)
			}
		}
	}
}

// TestBulkBodyBreaksOff: nothing of it is stored.
func TestBulkBodyBreaksOff(t *testing.T) {
	f := start(t, Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := bufio.NewWriter(conn)
	fmt.Fprintf(w, "POST /v1/documents:bulk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
	line := `{"id":"a%d","text":"alpha"}` + "\n"
	for i := range 1000 {
		chunk := fmt.Sprintf(line, i)
		fmt.Fprintf(w, "%x\r\n%s\r\n", len(chunk), chunk)
	}
	w.Flush()
	conn.(*net.TCPConn).CloseWrite()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(b), `"detail":"the body broke off: `) {
		t.Errorf("status %d: %s", resp.StatusCode, b)
	}
	broken := errors.New("broken")
	_, err = f.client.PutDocuments(t.Context(), "", func(yield func(BulkLine, error) bool) {
		_ = yield(BulkLine{ID: "x", Text: "y"}, nil) && yield(BulkLine{}, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("client says %v", err)
	}
	if len(f.jobs(t)) > 0 || len(f.ids(t, "")) > 0 {
		t.Error("something is left")
	}
	if names := into[namespacePage](t, f.call(t, "GET", "/v1/namespaces", ""), 200); len(names.Namespaces) > 0 {
		t.Errorf("namespaces %v", names)
	}
}

func lines(all ...BulkLine) iter.Seq2[BulkLine, error] {
	return func(yield func(BulkLine, error) bool) {
		for _, l := range all {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func TestJobRoutes(t *testing.T) {
	f := start(t, Options{})
	j, err := f.client.PutDocuments(t.Context(), "n", lines(BulkLine{ID: "a", Text: "alpha"}, BulkLine{ID: "b", Text: "\u00a0"}))
	if err != nil {
		t.Fatal(err)
	}
	var told []engine.Job
	last, err := f.client.WatchJob(t.Context(), j.ID, func(j engine.Job) { told = append(told, j) })
	if err != nil || last.State != store.JobDone || len(told) == 0 || last.Counts.Created != 1 || last.Counts.Failed != 1 {
		t.Errorf("%+v, %v", last, err)
	}
	if got, err := f.client.Job(t.Context(), j.ID); err != nil || got.ID != j.ID || got.Created.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	for range 3 {
		if _, err := f.client.PutDocuments(t.Context(), "m", lines(BulkLine{ID: "a", Text: "alpha"})); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for cursor := ""; ; {
		page := into[jobPage](t, f.call(t, "GET", "/v1/jobs?limit=2&cursor="+cursor, ""), 200)
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(ids) != 4 || ids[3] != j.ID {
		t.Errorf("%v", ids)
	}
	if page := into[jobPage](t, f.call(t, "GET", "/v1/jobs?namespace=n&state=done", ""), 200); len(page.Jobs) != 1 {
		t.Errorf("%+v", page)
	}
	items := into[jobItemPage](t, f.call(t, "GET", "/v1/jobs/"+j.ID+"/items?limit=1", ""), 200)
	if len(items.Items) != 1 || items.Items[0].Status != store.Created || items.NextCursor == "" {
		t.Errorf("%+v", items)
	}
	if rest, err := f.client.JobItems(t.Context(), j.ID, store.ItemFilter{After: 1}); err != nil || len(rest) != 1 || rest[0].N != 2 {
		t.Errorf("%+v, %v", rest, err)
	}
	for _, tc := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/v1/jobs/none", 404},
		{"GET", "/v1/jobs/none/items", 404},
		{"GET", "/v1/jobs/none/events", 404},
		{"POST", "/v1/jobs/none:cancel", 404},
		{"POST", "/v1/jobs/none:retry", 404},
		{"POST", "/v1/jobs/" + j.ID + ":cancel", 409},
		{"POST", "/v1/jobs/" + j.ID + ":retry", 409},
		{"GET", "/v1/jobs?state=spooling", 422},
		{"GET", "/v1/jobs/" + j.ID + "/items?state=new", 422},
	} {
		if p := f.call(t, tc.method, tc.target, "").problem(t); p.Status != tc.status {
			t.Errorf("%s %s: %+v", tc.method, tc.target, p)
		}
	}
	if _, err := f.client.RetryJob(t.Context(), j.ID); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("%v", err)
	}
	if _, err := f.client.CancelJob(t.Context(), "none"); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// FuzzReadLine: whatever the sizes, lines come as they are.
func FuzzReadLine(f *testing.F) {
	f.Add("a\nbb\n\nccc", int64(2))
	f.Add("", int64(0))
	f.Add(strings.Repeat("x", 100)+"\n", int64(50))
	f.Fuzz(func(t *testing.T, body string, limit int64) {
		r := bufio.NewReaderSize(strings.NewReader(body), 16)
		for want := range strings.SplitAfterSeq(body, "\n") {
			line, whole, err := readLine(r, nil, limit, func(int) error { return nil })
			if whole != (int64(len(want)) <= limit) || whole && string(line) != want {
				t.Fatalf("%q, %v; want %q", line, whole, want)
			}
			if last := !strings.HasSuffix(want, "\n"); last != (err != nil) {
				t.Fatalf("%q ends with %v", want, err)
			}
		}
	})
}
