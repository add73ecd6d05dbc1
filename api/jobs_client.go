package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// reconnectIn is the pause before a client reconnects.
const reconnectIn = 500 * time.Millisecond

// PutDocuments sends lines as one job, and returns it. The lines are streamed; an error among them
// aborts the request, and nothing is stored. If ctx ends after the last line, PutDocuments waits
// for the answer for a short time: the server may have accepted the job, and the caller needs its
// id to cancel it.
func (c *Client) PutDocuments(ctx context.Context, namespace string, lines iter.Seq2[BulkLine, error]) (engine.Job, error) {
	caller := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var mu sync.Mutex
	complete := false
	defer context.AfterFunc(caller, func() {
		mu.Lock()
		defer mu.Unlock()
		if !complete {
			cancel()
			return
		}
		time.AfterFunc(answerWithin, cancel)
	})()
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := writeLines(w, lines)
		mu.Lock()
		if err == nil {
			err = caller.Err()
		}
		complete = err == nil
		mu.Unlock()
		w.CloseWithError(err)
		sent <- err
	}()
	req, err := c.request(ctx, http.MethodPost, "/v1/documents:bulk", in(namespace), nil)
	if err != nil {
		r.CloseWithError(err)
		return engine.Job{}, errors.Join(err, <-sent)
	}
	req.Body, req.ContentLength = r, -1
	req.Header.Set("Content-Type", linesType)
	var j engine.Job
	err = c.answer(req, &j)
	r.CloseWithError(errNotRead)
	// After a failure the transport closes the body; the cause is in err.
	if serr := <-sent; serr != nil && !errors.Is(serr, errNotRead) && !errors.Is(serr, io.ErrClosedPipe) {
		return engine.Job{}, serr
	}
	return j, err
}

// answerWithin is how long PutDocuments waits for the answer after ctx has ended.
const answerWithin = 5 * time.Second

// errNotRead means that the server answered before the end of the body.
var errNotRead = errors.New("the rest is not read")

func writeLines(w io.Writer, lines iter.Seq2[BulkLine, error]) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	for line, err := range lines {
		if err != nil {
			return err
		}
		b, err := encodeLine(line)
		if err != nil {
			return err
		}
		if _, err := buffered.Write(b); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

func encodeLine(line BulkLine) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // which ends the line
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return nil, fmt.Errorf("%w: encode document: %w", ragctx.ErrInvalid, err)
	}
	if replaced(b.Bytes()) {
		return nil, fmt.Errorf("%w: document %q has text that is not valid UTF-8; convert it before sending it",
			ragctx.ErrInvalid, ragctx.Clip(line.ID+line.Delete))
	}
	return b.Bytes(), nil
}

func jobPath(id, below string) string { return "/v1/jobs/" + escaped(id) + below }

// Job calls [engine.Jobs.Get] on the server.
func (c *Client) Job(ctx context.Context, id string) (engine.Job, error) {
	var j engine.Job
	err := c.do(ctx, http.MethodGet, jobPath(id, ""), nil, nil, &j)
	return j, err
}

// ListJobs returns the newest jobs that f lets through.
func (c *Client) ListJobs(ctx context.Context, f store.JobFilter) ([]engine.Job, error) {
	q := in(f.Namespace)
	set(q, "state", string(f.State))
	setPage(q, "/v1/jobs", f.Limit, jobCursor{f.Before})
	var page jobPage
	err := c.do(ctx, http.MethodGet, "/v1/jobs", q, nil, &page)
	return page.Jobs, err
}

// JobItems calls [engine.Jobs.Items] on the server.
func (c *Client) JobItems(ctx context.Context, id string, f store.ItemFilter) ([]store.JobItem, error) {
	q := make(url.Values)
	set(q, "state", string(f.State))
	setPage(q, jobPath(id, "/items"), f.Limit, jobCursor{int64(f.After)})
	var page jobItemPage
	err := c.do(ctx, http.MethodGet, jobPath(id, "/items"), q, nil, &page)
	return page.Items, err
}

// CancelJob calls [engine.Jobs.Cancel] on the server.
func (c *Client) CancelJob(ctx context.Context, id string) (engine.Job, error) {
	var j engine.Job
	err := c.do(ctx, http.MethodPost, jobPath(id, ":cancel"), nil, nil, &j)
	return j, err
}

// RetryJob calls [engine.Jobs.Retry] on the server.
func (c *Client) RetryJob(ctx context.Context, id string) (engine.Job, error) {
	var j engine.Job
	err := c.do(ctx, http.MethodPost, jobPath(id, ":retry"), nil, nil, &j)
	return j, err
}

// WatchJob calls tell with the job now and after every change, and returns the job when it has
// ended. It resumes a broken stream as long as the server answers.
func (c *Client) WatchJob(ctx context.Context, id string, tell func(engine.Job)) (engine.Job, error) {
	for {
		var last engine.Job
		err := c.watch(ctx, id, func(j engine.Job) {
			last = j
			tell(j)
		})
		if last.State.Ended() {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		select {
		case <-time.After(reconnectIn):
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
}

// watch reads one stream. An early end is no error.
func (c *Client) watch(ctx context.Context, id string, tell func(engine.Job)) error {
	req, err := c.request(ctx, http.MethodGet, jobPath(id, "/events"), nil, nil)
	if err != nil {
		return err
	}
	resp, err := c.stream(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return ctx.Err()
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var j engine.Job
		if err := json.Unmarshal(data, &j); err != nil {
			return fmt.Errorf("%w: read event: %w", ragctx.ErrUnavailable, err)
		}
		tell(j)
	}
}
