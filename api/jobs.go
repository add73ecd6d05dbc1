package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// JobPage is a page of jobs.
type JobPage struct {
	Jobs       []engine.Job `json:"jobs" nullable:"false" doc:"newest first"`
	NextCursor string       `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// JobItemPage is a page of a job's items.
type JobItemPage struct {
	Items      []store.JobItem `json:"items" nullable:"false" doc:"in order of position"`
	NextCursor string          `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// jobCursor says where a page of jobs or items starts.
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
	Limit     int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor    string `query:"cursor" doc:"next_cursor of the previous page"`
}

type jobItemList struct {
	JobKey
	State  string `query:"state" enum:"pending,done,failed,skipped" doc:"only items in this state"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the previous page"`
}

type jobOutput struct{ Body engine.Job }

type jobPageOutput struct{ Body JobPage }

type jobItemPageOutput struct{ Body JobItemPage }

func (s *Server) jobRoutes() {
	tags := []string{"jobs"}
	register(s, huma.Operation{
		OperationID: "list-jobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: tags,
		Summary: "List jobs", Description: "The newest first. A job can be looked at for 7 days after it has ended.",
	}, s.listJobs)
	register(s, huma.Operation{
		OperationID: "get-job", Method: http.MethodGet, Path: "/v1/jobs/{id}", Tags: tags, Summary: "Get a job",
		Description: "Also one that has ended, for 7 days.",
	}, func(ctx context.Context, in *JobKey) (*jobOutput, error) {
		j, err := s.engine.Jobs().Get(ctx, in.ID)
		return &jobOutput{j}, err
	})
	register(s, huma.Operation{
		OperationID: "list-job-items", Method: http.MethodGet, Path: "/v1/jobs/{id}/items", Tags: tags, Summary: "List a job's items",
		Description: "What became of each document of a bulk request; what a folder's ingest left out.",
	}, s.listJobItems)
	register(s, huma.Operation{
		OperationID: "watch-job", Method: http.MethodGet, Path: "/v1/jobs/{id}/events", Tags: tags, Summary: "Watch a job",
		Description: "A stream of server-sent events: progress with the job as it is now, after each change but at most four times a second, " +
			"and end with the job when it has ended, which ends the stream. Every stream begins with the present state, " +
			"so nothing is missed by connecting again; Last-Event-ID is not needed.",
		Responses: eventsOf("The events. Their data are jobs.", "progress", "end"),
	}, s.watchJob)
	stop := huma.Operation{
		OperationID: "cancel-job", Method: http.MethodPost, Path: "/v1/jobs/{id}/cancel", Tags: tags, Summary: "Cancel a job",
		Description: "Answers when the job has ended. What was done stays, the rest is dropped. 409 if the job has ended otherwise.",
	}
	register(s, stop, s.cancelJob)
	stop.OperationID, stop.Method, stop.Path = "delete-job", http.MethodDelete, "/v1/jobs/{id}"
	stop.Description = "The same as POST /v1/jobs/{id}/cancel: the job is cancelled, and can still be looked at."
	register(s, stop, s.cancelJob)
	register(s, huma.Operation{
		OperationID: "retry-job", Method: http.MethodPost, Path: "/v1/jobs/{id}/retry", Tags: tags, Summary: "Retry a job",
		Description:   "Queues a job that has ended again, with its failed items and those that it did not come to. 409 if there are none.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *JobKey) (*jobOutput, error) {
		j, err := s.engine.Jobs().Retry(ctx, in.ID)
		return &jobOutput{j}, err
	})
}

func (s *Server) cancelJob(ctx context.Context, in *JobKey) (*jobOutput, error) {
	j, err := s.engine.Jobs().Cancel(ctx, in.ID)
	return &jobOutput{j}, err
}

func (s *Server) listJobs(ctx context.Context, in *jobList) (*jobPageOutput, error) {
	c, err := decodeCursor[jobCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Jobs().List(ctx, store.JobFilter{
		Before: c.N, Limit: in.Limit, State: store.JobState(in.State), Namespace: in.Namespace,
	})
	if err != nil {
		return nil, err
	}
	page := JobPage{Jobs: found}
	if len(found) == in.Limit {
		page.NextCursor = encodeCursor(jobCursor{found[len(found)-1].N})
	}
	return &jobPageOutput{page}, nil
}

func (s *Server) listJobItems(ctx context.Context, in *jobItemList) (*jobItemPageOutput, error) {
	c, err := decodeCursor[jobCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Jobs().Items(ctx, in.ID, store.ItemFilter{After: int(c.N), Limit: in.Limit, State: store.ItemState(in.State)})
	if err != nil {
		return nil, err
	}
	page := JobItemPage{Items: found}
	for i := range found {
		if found[i].Field == "external_id" { // what the engine calls it
			found[i].Field = "id"
		}
	}
	if len(found) == in.Limit {
		page.NextCursor = encodeCursor(jobCursor{int64(found[len(found)-1].N)})
	}
	return &jobItemPageOutput{page}, nil
}
