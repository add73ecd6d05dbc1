package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// jobPage is a page of jobs.
type jobPage struct {
	Jobs       []engine.Job `json:"jobs" nullable:"false" doc:"newest first"`
	NextCursor string       `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// jobItemPage is a page of a job's items.
type jobItemPage struct {
	Items      []store.JobItem `json:"items" nullable:"false" doc:"in order of position"`
	NextCursor string          `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// jobCursor is a position in a list of jobs or items.
type jobCursor struct {
	N int64 `json:"n"`
}

// JobKey is the parameter of every route of one job.
type JobKey struct {
	ID string `path:"id" doc:"job id"`
}

type jobList struct {
	Namespace string `query:"namespace" maxLength:"512" doc:"only jobs of this namespace"`
	State     string `query:"state" enum:"queued,running,done,failed,cancelled" doc:"only jobs in this state"`
	Page
}

type jobItemList struct {
	JobKey
	State string `query:"state" enum:"pending,done,failed,skipped" doc:"only items in this state"`
	Page
}

type jobOutput struct{ Body engine.Job }

type jobPageOutput struct{ Body jobPage }

type jobItemPageOutput struct{ Body jobItemPage }

func (s *Server) jobRoutes() {
	tags := []string{administrationGroup}
	register(s, huma.Operation{
		OperationID: "list-jobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: tags,
		Summary: "List jobs", Description: "Lists jobs, newest first. A job is kept for 7 days after its end.",
	}, s.listJobs)
	register(s, huma.Operation{
		OperationID: "get-job", Method: http.MethodGet, Path: "/v1/jobs/{id}", Tags: tags, Summary: "Get a job",
		Description: "Returns a job, for up to 7 days after its end.",
	}, func(ctx context.Context, in *JobKey) (*jobOutput, error) {
		j, err := s.engine.Jobs().Get(ctx, in.ID)
		return &jobOutput{j}, err
	})
	register(s, huma.Operation{
		OperationID: "list-job-items", Method: http.MethodGet, Path: "/v1/jobs/{id}/items", Tags: tags,
		Summary:     "List a job's items",
		Description: "Lists the result of each document of a bulk request, and the files that an ingest skipped.",
	}, s.listJobItems)
	register(s, huma.Operation{
		OperationID: "watch-job", Method: http.MethodGet, Path: "/v1/jobs/{id}/events", Tags: tags, Summary: "Watch a job",
		Description: "Streams server-sent events: progress with the job's current state after each change, at " +
			"most four times a second, and end with the final state, which ends the stream. Every stream begins " +
			"with the current state, so reconnecting loses nothing; Last-Event-ID is not needed.",
		Responses: eventsOf("The events. The data of each is a job.", "progress", "end"),
	}, s.watchJob)
	register(s, huma.Operation{
		OperationID: "cancel-job", Method: http.MethodPost, Path: verbPath("/v1/jobs", "cancel"), Tags: tags, Summary: "Cancel a job",
		Description: "Cancels a job and waits for its end. Completed items stay; the others are dropped. 409 if " +
			"the job has already ended differently.",
	}, func(ctx context.Context, in *JobKey) (*jobOutput, error) {
		j, err := s.engine.Jobs().Cancel(ctx, in.ID)
		return &jobOutput{j}, err
	})
	register(s, huma.Operation{
		OperationID: "retry-job", Method: http.MethodPost, Path: verbPath("/v1/jobs", "retry"), Tags: tags, Summary: "Retry a job",
		Description:   "Queues an ended job again, with its failed and unprocessed items. 409 if no item failed or is left.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *JobKey) (*jobOutput, error) {
		j, err := s.engine.Jobs().Retry(ctx, in.ID)
		return &jobOutput{j}, err
	})
}

func (s *Server) listJobs(ctx context.Context, in *jobList) (*jobPageOutput, error) {
	c, err := decodeCursor[jobCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Jobs().List(ctx, store.JobFilter{
		Before: c.N, Limit: in.Limit + 1, State: store.JobState(in.State), Namespace: in.Namespace,
	})
	if err != nil {
		return nil, err
	}
	found, next := pageOf(in.Page, found, func(j engine.Job) jobCursor { return jobCursor{j.N} })
	return &jobPageOutput{jobPage{found, next}}, nil
}

func (s *Server) listJobItems(ctx context.Context, in *jobItemList) (*jobItemPageOutput, error) {
	c, err := decodeCursor[jobCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Jobs().Items(ctx, in.ID, store.ItemFilter{
		After: int(c.N), Limit: in.Limit + 1,
		State: store.ItemState(in.State),
	})
	if err != nil {
		return nil, err
	}
	found, next := pageOf(in.Page, found, func(i store.JobItem) jobCursor { return jobCursor{int64(i.N)} })
	return &jobItemPageOutput{jobItemPage{found, next}}, nil
}
