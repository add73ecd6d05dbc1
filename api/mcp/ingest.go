package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

type ingestArguments struct {
	documentScope
	sized

	ID       string         `json:"id,omitempty" jsonschema:"such as a path or URL; required with text"`
	Text     string         `json:"text,omitempty" jsonschema:"whole text: Markdown, plain text or code"`
	Title    string         `json:"title,omitempty" jsonschema:"default is that of the text"`
	Source   string         `json:"source,omitempty" jsonschema:"origin of the text, such as its URL"`
	MIME     string         `json:"mime,omitempty" jsonschema:"default follows the id's extension"`
	Tags     []string       `json:"tags,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty" jsonschema:"your own attributes"`
	Paths    []string       `json:"paths,omitempty" jsonschema:"instead of text: files, folders or URLs"`
}

type ingestAnswer struct {
	ID      string       `json:"id,omitempty"`
	Status  store.Status `json:"status,omitempty"`
	Version int          `json:"version,omitempty"`
	Chunks  int          `json:"chunks,omitempty"`
	// JobID, State, Counts and Problems are of the job that ingests paths. Counts without a JobID are of
	// paths that needed no job.
	JobID    string           `json:"job_id,omitempty"`
	State    store.JobState   `json:"state,omitempty"`
	Counts   *store.JobCounts `json:"counts,omitempty"`
	Problems []jobProblem     `json:"problems,omitempty"`
}

// maxTextChars limits the text of a document in a message.
const maxTextChars = 1 << 20

func (s *Server) ingestTool() tool {
	return define(s, definition{
		name: "ingest", title: "Ingest", role: access.Write, forAll: true, hints: writeHints(true, true, s.opts.Ingest != nil),
		description: "Stores a document, searchable at once; an existing id is replaced. " + s.pathsAllowed(),
		limits: func(p properties) {
			p.text("id", ragctx.MaxNameBytes, false)
			p.text("text", maxTextChars, false)
			p.text("title", docs.MaxTitleBytes/4, false)
			p.text("source", docs.MaxSourceBytes/4, false)
			p.text("mime", ragctx.MaxNameBytes, false)
			p.texts("tags", docs.MaxTags, ragctx.MaxNameBytes)
			p.maxTokens(minTokens)
			if p.texts("paths", 100, 4096); s.opts.Ingest == nil {
				delete(p, "paths")
			}
		},
	}, s.ingest)
}

func (s *Server) pathsAllowed() string {
	if s.opts.Ingest == nil {
		return "Server files and URLs are not read."
	}
	return "Or ingests paths or URLs that the operator allows; if state is queued or running, ask job_status later."
}

func (s *Server) ingest(ctx context.Context, at Scope, in ingestArguments) (ingestAnswer, error) {
	switch {
	case len(in.Paths) > 0 && (in.Text != "" || in.ID != ""):
		return ingestAnswer{}, ragctx.Invalid("paths", "cannot be combined with id or text; send either paths, "+
			"or a text with its id")
	case len(in.Paths) > 0:
		return s.ingestPaths(ctx, at, in)
	case in.ID == "":
		return ingestAnswer{}, ragctx.Invalid("id", "is missing; send an id such as the path or URL of the document")
	case in.Text == "" && in.Title == "":
		return ingestAnswer{}, ragctx.Invalid("text", "is missing, and so is title; send one of them")
	}
	put, err := s.engine.PutDocument(ctx, at.Namespace, ragctx.Document{
		ExternalID: in.ID, Text: in.Text, Title: in.Title, Source: in.Source, MIME: in.MIME, Tags: in.Tags,
		Metadata: in.Metadata,
	}, "")
	if err != nil {
		return ingestAnswer{}, err
	}
	return ingestAnswer{ID: in.ID, Status: put.Status, Version: put.Version, Chunks: put.Chunks}, nil
}

// The wait for a job of paths before it is answered: most are short, and a model that need not call again
// saves a turn.
const (
	ingestWait = 3 * time.Second
	ingestPoll = 50 * time.Millisecond
)

// ingestPaths starts a job for paths and answers with its result if it ends soon, else with its id.
func (s *Server) ingestPaths(ctx context.Context, at Scope, in ingestArguments) (ingestAnswer, error) {
	j, err := s.opts.Ingest(ctx, at.Namespace, in.Paths)
	if err != nil {
		return ingestAnswer{}, err
	}
	if j.ID == "" {
		return ingestAnswer{Status: store.Unchanged, Counts: &j.Counts}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, ingestWait)
	defer cancel()
	for !j.State.Ended() {
		select {
		case <-waiting.Done():
			return ingestAnswer{JobID: j.ID, State: j.State}, nil
		case <-time.After(ingestPoll):
		}
		now, err := s.engine.Job(waiting, j.ID)
		if err != nil { // the job goes on
			return ingestAnswer{JobID: j.ID, State: j.State}, nil
		}
		j = now
	}
	ended, err := s.job(ctx, j.ID)
	if err != nil {
		return ingestAnswer{JobID: j.ID, State: j.State, Counts: &j.Counts}, nil
	}
	answer := func(k int) ingestAnswer {
		return ingestAnswer{JobID: j.ID, State: ended.State, Counts: &ended.Counts, Problems: ended.Problems[:k]}
	}
	k, err := fitting(s, in.MaxTokens, len(ended.Problems), answer)
	return answer(k), err
}

type jobArguments struct {
	documentScope
	sized
	paged

	ID    string `json:"id,omitempty" jsonschema:"default lists the newest jobs"`
	Limit int    `json:"limit,omitempty" jsonschema:"jobs per page"`
}

type jobAnswer struct {
	Jobs       []jobResult `json:"jobs"`
	NextCursor string      `json:"next_cursor,omitempty"`
}

type jobResult struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	State      store.JobState  `json:"state"`
	Stage      string          `json:"stage,omitempty"`
	Items      int             `json:"items,omitempty"`
	Counts     store.JobCounts `json:"counts"`
	ETASeconds *float64        `json:"eta_seconds,omitempty"`
	Error      string          `json:"error,omitempty"`
	Problems   []jobProblem    `json:"problems,omitempty"`
	Created    time.Time       `json:"created_at"`
	Finished   time.Time       `json:"finished,omitzero"`
}

type jobProblem struct {
	Item   string `json:"item"`
	Reason string `json:"reason"`
}

const maxProblems = 10 // per state

func (s *Server) jobStatusTool() tool {
	return define(s, readTool("job_status", "Jobs",
		"Reports progress and failures of ingest jobs.",
		func(p properties) {
			p.text("id", ragctx.MaxNameBytes, false)
			p.between("limit", 1, 100, fallbackResults)
			p.maxTokens(fallbackTokens)
			p.cursor()
		}), s.jobStatus)
}

func (s *Server) jobStatus(ctx context.Context, at Scope, in jobArguments) (jobAnswer, error) {
	c, err := parseCursor(in.Cursor, queryHash("job_status", at, in.ID), engine.MaxPage)
	if err != nil {
		return jobAnswer{}, err
	}
	jobs, more, err := s.jobs(ctx, at, in, c)
	if err != nil {
		return jobAnswer{}, err
	}
	return fitList(s, in.MaxTokens, len(jobs), func(k int) jobAnswer {
		return jobAnswer{Jobs: jobs[:k], NextCursor: c.next(k, more || k < len(jobs))}
	})
}

// jobs returns a page of jobs, and whether there are more.
func (s *Server) jobs(ctx context.Context, at Scope, in jobArguments, c cursor) ([]jobResult, bool, error) {
	if in.ID != "" {
		j, err := s.job(ctx, in.ID)
		return []jobResult{j}, false, err
	}
	list, err := s.engine.ListJobs(ctx, store.JobFilter{
		Limit:     min(c.After+in.Limit+1, engine.MaxPage),
		Namespace: at.Namespace,
	})
	if err != nil {
		return nil, false, err
	}
	list = list[min(c.After, len(list)):]
	out := make([]jobResult, min(in.Limit, len(list)))
	for i := range out {
		out[i] = jobOf(list[i])
	}
	return out, len(list) > in.Limit, nil
}

// job returns a job with its failures.
func (s *Server) job(ctx context.Context, id string) (jobResult, error) {
	j, err := s.engine.Job(ctx, id)
	if err == nil && !access.From(ctx).Includes(j.Namespace) { // a remote engine does not know the scope of this call
		err = fmt.Errorf("job %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	if err != nil {
		return jobResult{}, err
	}
	out := jobOf(j)
	for _, state := range []store.ItemState{store.ItemFailed, store.ItemSkipped} {
		items, err := s.engine.JobItems(ctx, id, store.ItemFilter{Limit: maxProblems, State: state})
		if err != nil {
			return out, err
		}
		for _, it := range items {
			out.Problems = append(out.Problems, jobProblem{ragctx.Clip(it.Key), it.Error})
		}
	}
	return out, nil
}

func jobOf(j engine.Job) jobResult {
	return jobResult{
		ID: j.ID, Kind: j.Kind, State: j.State, Stage: j.Stage, Items: j.Items, Counts: j.Counts, ETASeconds: j.ETASeconds,
		Error: j.Error, Created: j.Created, Finished: j.Finished,
	}
}
