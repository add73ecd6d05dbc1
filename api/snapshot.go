package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/store"
)

const snapshotType = "application/vnd.ragctx.snapshot"

// pieceTimeout is how long a client may take for a piece of a file.
const pieceTimeout = time.Minute

// doctorRequest asks for a check of the data directory.
type doctorRequest struct {
	Repair bool `json:"repair,omitempty" doc:"rebuild every index that differs from the database"`
	// RecallSeconds is [engine.DoctorOptions].Searching.
	RecallSeconds *float64 `json:"recall_seconds,omitempty" minimum:"0" maximum:"3600"`
}

func (r doctorRequest) options() engine.DoctorOptions {
	o := engine.DoctorOptions{Repair: r.Repair}
	if s := r.RecallSeconds; s != nil {
		o.Searching = time.Duration(*s * float64(time.Second))
		if o.Searching == 0 {
			o.Searching = -1 // none; 0 would be the default
		}
	}
	return o
}

type vectorStatusOutput struct{ Body engine.VectorStatus }

type doctorInput struct{ Body doctorRequest }

func (s *Server) adminRoutes() {
	tags := []string{administrationGroup}
	register(s, huma.Operation{
		OperationID: "snapshot", Method: http.MethodGet, Path: "/v1/snapshot", Tags: tags, Summary: "Download a snapshot",
		Description: "Returns a consistent copy of the data directory as one file for \"ragctx restore\". Reads " +
			"and writes continue during the download. A checksum at the end detects a truncated file on restore. " +
			fmt.Sprintf("At most %d snapshots are created or downloaded at a time; one more is 429, with Retry-After.",
				engine.MaxSnapshots),
		Responses: map[string]*huma.Response{"200": {
			Description: "The snapshot.",
			Content: map[string]*huma.MediaType{
				snapshotType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			},
		}},
	}, s.snapshot)
	register(s, huma.Operation{
		OperationID: "doctor", Method: http.MethodPost, Path: "/v1/doctor", Tags: tags, Summary: "Check the data directory",
		Description: "Starts a job that reads the whole database and compares every index with it; the result " +
			"lists the findings. Nothing changes, unless repair is set: then differing indexes are rebuilt.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *doctorInput) (*jobOutput, error) {
		j, err := s.engine.Jobs().SubmitCheckup(ctx, in.Body.options())
		return &jobOutput{j}, err
	})
	register(s, huma.Operation{
		OperationID: "vector-status", Method: http.MethodGet, Path: "/v1/indexes", Tags: tags,
		Summary: "Get the state of the vector indexes",
		Description: "Returns quickly available data: the sizes and search times of open vector indexes, and " +
			"recall@10 over a sample of live queries, with its confidence interval.",
	}, func(ctx context.Context, _ *struct{}) (*vectorStatusOutput, error) {
		st, err := s.engine.Indexes().Status(ctx)
		return &vectorStatusOutput{st}, err
	})
}

func (s *Server) snapshot(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return s.streamed(snapshotType, "snapshot.ragctx", func(ctx context.Context, w io.Writer) error {
		_, err := s.engine.Admin().WriteSnapshot(ctx, w, store.SnapshotOptions{})
		return err
	}), nil
}

// streamed answers with a file that write generates while it is sent.
func (s *Server) streamed(media, file string, write func(ctx context.Context, w io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		resp := humaecho.Unwrap(hctx).Response()
		out := newPieceWriter(resp)
		hctx.SetHeader("Content-Type", media)
		hctx.SetHeader("Content-Disposition", `attachment; filename="`+file+`"`)
		err := write(hctx.Context(), out)
		switch {
		case err == nil:
		case !out.begun:
			if errors.Is(err, ragctx.ErrLimited) {
				hctx.SetHeader("Retry-After", "10")
			}
			s.handleError(s.problemOf(hctx.Context(), hctx.Operation(), err), humaecho.Unwrap(hctx))
		default:
			s.log.ErrorContext(hctx.Context(), "answer broke off", "request_id", requestID(hctx.Context()), "file", file,
				"error", err)
			panic(http.ErrAbortHandler) // an orderly end would look like a complete file
		}
	}}
}

// pieceWriter gives the client a new deadline for every piece.
type pieceWriter struct {
	http.ResponseWriter

	ctl   *http.ResponseController
	begun bool
}

// newPieceWriter removes the deadline of the whole answer: the first byte may take long.
func newPieceWriter(resp http.ResponseWriter) *pieceWriter {
	p := &pieceWriter{ResponseWriter: resp, ctl: http.NewResponseController(resp)}
	_ = p.ctl.SetWriteDeadline(time.Time{}) // unsupported writers need no deadline
	return p
}

// Unwrap returns the writer of the answer to [http.ResponseController].
func (p *pieceWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *pieceWriter) Write(b []byte) (int, error) {
	p.begun = true
	_ = p.ctl.SetWriteDeadline(time.Now().Add(pieceTimeout)) // unsupported writers need no deadline
	return p.ResponseWriter.Write(b)
}

// Snapshot downloads a snapshot into a new file and verifies it.
func (c *Client) Snapshot(ctx context.Context, file string, _ store.SnapshotOptions) (store.SnapshotInfo, error) {
	if _, err := (atomicfile.OS{}).Stat(file); err == nil {
		return store.SnapshotInfo{}, fmt.Errorf("snapshot: %w: %s exists; name another file", ragctx.ErrConflict, file)
	}
	req, err := c.request(ctx, http.MethodGet, "/v1/snapshot", nil, nil)
	if err != nil {
		return store.SnapshotInfo{}, err
	}
	resp, err := c.stream(req)
	if err != nil {
		return store.SnapshotInfo{}, err
	}
	defer resp.Body.Close()
	err = atomicfile.WriteFile(atomicfile.OS{}, file, func(w io.Writer) error {
		_, err := io.Copy(w, resp.Body)
		return err
	})
	if err != nil {
		return store.SnapshotInfo{}, fmt.Errorf("download snapshot: %w", err)
	}
	info, err := store.ReadSnapshot(ctx, file)
	if err != nil {
		err = errors.Join(fmt.Errorf("check %s: %w", filepath.Base(file), err), atomicfile.OS{}.Remove(file))
	}
	return info, err
}

// CheckUp calls [engine.Jobs.SubmitCheckup] on the server.
func (c *Client) CheckUp(ctx context.Context, o engine.DoctorOptions) (engine.Job, error) {
	r := doctorRequest{Repair: o.Repair}
	if o.Searching != 0 {
		seconds := max(0, o.Searching.Seconds())
		r.RecallSeconds = &seconds
	}
	var j engine.Job
	err := c.do(ctx, http.MethodPost, "/v1/doctor", nil, r, &j)
	return j, err
}

// VectorStatus calls [engine.Indexes.Status] on the server.
func (c *Client) VectorStatus(ctx context.Context) (engine.VectorStatus, error) {
	var st engine.VectorStatus
	err := c.do(ctx, http.MethodGet, "/v1/indexes", nil, nil, &st)
	return st, err
}
