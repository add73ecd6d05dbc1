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
	"github.com/ragctx/ragctx/durable"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/store"
)

const snapshotType = "application/vnd.ragctx.snapshot"

// pieceTimeout is how long a reader may take for a piece of a file.
const pieceTimeout = time.Minute

// DoctorRequest asks for a check of the data directory.
type DoctorRequest struct {
	Repair bool `json:"repair,omitempty" doc:"makes every index again that differs from the database"`
}

type doctorInput struct{ Body DoctorRequest }

func (s *Server) adminRoutes() {
	tags := []string{"system"}
	register(s, huma.Operation{
		OperationID: "snapshot", Method: http.MethodGet, Path: "/v1/snapshot", Tags: tags, Summary: "Download a snapshot",
		Description: "One state of everything in the data directory as one file, which \"ragctx restore\" makes a data directory of. " +
			"Reads and writes go on meanwhile. The file ends in a checksum; one that broke off is refused when it is restored.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The snapshot.", Content: map[string]*huma.MediaType{snapshotType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		}},
	}, s.snapshot)
	register(s, huma.Operation{
		OperationID: "doctor", Method: http.MethodPost, Path: "/v1/doctor", Tags: tags, Summary: "Check the data directory",
		Description: "Reads the whole database and compares every index with it, by a job whose result says what was found. " +
			"Nothing is changed, but with repair indexes that differ are made again.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *doctorInput) (*jobOutput, error) {
		j, err := s.engine.CheckUp(ctx, in.Body.Repair)
		return &jobOutput{j}, err
	})
}

func (s *Server) snapshot(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return s.streamed(snapshotType, "snapshot.ragctx", func(ctx context.Context, w io.Writer) error {
		_, err := s.engine.WriteSnapshot(ctx, w, store.SnapshotOptions{})
		return err
	}), nil
}

// streamed answers with a file that write makes while it is sent.
func (s *Server) streamed(media, file string, write func(ctx context.Context, w io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		resp := humaecho.Unwrap(hctx).Response()
		out := &patient{resp: resp, ctl: http.NewResponseController(resp)}
		hctx.SetHeader("Content-Type", media)
		hctx.SetHeader("Content-Disposition", `attachment; filename="`+file+`"`)
		_ = out.ctl.SetWriteDeadline(time.Time{}) // making it may take long before the first byte
		err := write(hctx.Context(), out)
		switch {
		case err == nil:
		case !out.begun:
			s.handleError(s.problemOf(hctx.Context(), hctx.Operation(), err), humaecho.Unwrap(hctx))
		default:
			s.log.ErrorContext(hctx.Context(), "answer broke off", "request_id", requestID(hctx.Context()), "file", file, "error", err)
			panic(http.ErrAbortHandler) // a whole answer would look like the whole file
		}
	}}
}

// patient gives the reader time for every piece.
type patient struct {
	resp  http.ResponseWriter
	ctl   *http.ResponseController
	begun bool
}

func (p *patient) Write(b []byte) (int, error) {
	p.begun = true
	_ = p.ctl.SetWriteDeadline(time.Now().Add(pieceTimeout)) // where there is none, none is needed
	return p.resp.Write(b)
}

// Snapshot downloads a snapshot into a new file, and verifies it.
func (c *Client) Snapshot(ctx context.Context, file string, _ store.SnapshotOptions) (store.SnapshotInfo, error) {
	if _, err := (durable.OS{}).Stat(file); err == nil {
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
	err = durable.WriteFile(durable.OS{}, file, func(w io.Writer) error {
		_, err := io.Copy(w, resp.Body)
		return err
	})
	if err != nil {
		return store.SnapshotInfo{}, fmt.Errorf("download snapshot: %w", err)
	}
	info, err := store.ReadSnapshot(ctx, file)
	if err != nil {
		err = errors.Join(fmt.Errorf("check %s: %w", filepath.Base(file), err), durable.OS{}.Remove(file))
	}
	return info, err
}

// CheckUp calls [engine.Engine.CheckUp] on the server.
func (c *Client) CheckUp(ctx context.Context, repair bool) (engine.Job, error) {
	var j engine.Job
	err := c.do(ctx, http.MethodPost, "/v1/doctor", nil, DoctorRequest{Repair: repair}, &j)
	return j, err
}
