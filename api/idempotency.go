package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// Headers of idempotent requests.
const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
)

const (
	maxKeyBytes = 255
	keyWait     = 30 * time.Second // for a request with the same key in progress
)

// replayedHeaders are the headers stored and replayed with an answer.
var replayedHeaders = [...]string{echo.HeaderContentType, echo.HeaderLocation, tagHeader}

// isWrite reports whether repeating an operation would change data again; such operations accept
// keys. The exceptions change data, but a repetition finds it done, or its answer must not be stored: whole
// prompts take more room than the conversation, and a new API key is secret.
func isWrite(op *huma.Operation) bool {
	others := [...]string{"import-memories", "import-messages", "assemble-session", "create-key"}
	return op.Method != http.MethodGet && roleOf(op.OperationID) > access.Read && !slices.Contains(others[:], op.OperationID)
}

// describeKey adds the header to an operation's description.
func describeKey(op *huma.Operation) {
	least, limit := 1, maxKeyBytes
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: keyHeader, In: "header",
		Description: "Makes retries safe: for 24 hours, the same request with the same key runs only once and " +
			"gets the stored answer, with the header " + replayedHeader + ": true. A different request with the " +
			"same key is 422.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &limit},
	})
}

// requestsInProgress holds the keys of requests in progress.
type requestsInProgress struct {
	mu   sync.Mutex
	keys map[store.RequestKey]chan struct{}
}

// enter waits until no other request with the key is in progress, and returns a func that ends this
// one.
func (u *requestsInProgress) enter(ctx context.Context, k store.RequestKey) (leave func(), err error) {
	patience := time.NewTimer(keyWait)
	defer patience.Stop()
	for {
		u.mu.Lock()
		other, busy := u.keys[k]
		if !busy {
			if u.keys == nil {
				u.keys = make(map[store.RequestKey]chan struct{})
			}
			done := make(chan struct{})
			u.keys[k] = done
			u.mu.Unlock()
			return func() {
				u.mu.Lock()
				defer u.mu.Unlock()
				delete(u.keys, k)
				close(done)
			}, nil
		}
		u.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience.C:
			code, status := ragctx.CodeOf(ragctx.ErrConflict)
			return nil, newProblem(status, string(code), "a request with the same key is still in progress; try "+
				"again later",
				Fault{Location: "header." + keyHeader, Message: "belongs to a request that is still in progress"})
		}
	}
}

// hasKey reports whether a request has a key, valid or not.
func hasKey(r *http.Request) bool { return len(r.Header.Values(keyHeader)) > 0 }

// requestKey returns the key of a request.
func requestKey(r *http.Request, op *huma.Operation, namespace string) (store.RequestKey, error) {
	values := r.Header.Values(keyHeader)
	bad := func(format string, args ...any) (store.RequestKey, error) {
		return store.RequestKey{}, invalid(Fault{Location: "header." + keyHeader, Message: fmt.Sprintf(format, args...)})
	}
	key := values[0]
	switch {
	case len(values) > 1:
		return bad("is sent %d times; send it once", len(values))
	case key == "" || len(key) > maxKeyBytes:
		return bad("is %d bytes long; use 1 to %d, such as a UUID", len(key), maxKeyBytes)
	case strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
		return bad("has characters other than printable ASCII; use letters, digits and dashes")
	}
	if by := access.From(r.Context()).Key; by != "" {
		key = by + " " + key // each caller has keys of its own
	}
	return store.RequestKey{
		Namespace: cmp.Or(namespace, ragctx.DefaultNamespace), Route: op.Method + " " + op.Path,
		Key: key,
	}, nil
}

// requestHash starts the hash of a request; the caller adds the body.
func requestHash(r *http.Request) hash.Hash {
	h := sha256.New()
	for _, part := range [...]string{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get(echo.HeaderContentType)} {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(part))) // a hash never fails
		h.Write([]byte(part))
	}
	return h
}

// namespaceOf returns the namespace of a request.
func namespaceOf(r *http.Request, body []byte) string {
	var in struct {
		Namespace string `json:"namespace"`
		Project   string `json:"project_id"` // mem0's name
	}
	_ = json.Unmarshal(body, &in) // checked before, or empty
	q := r.URL.Query()
	return cmp.Or(q.Get("namespace"), q.Get("project_id"), in.Namespace, in.Project)
}

// once answers a valid request: by next if it has no key or is new, otherwise with the stored
// answer. next receives the id for the created object.
func (s *Server) once(c echo.Context, op *huma.Operation, body []byte, next func(seed string)) error {
	r := c.Request()
	if !hasKey(r) || !isWrite(op) {
		next("")
		return nil
	}
	return s.onceIn(c, op, namespaceOf(r, body), func(sum hash.Hash) error {
		sum.Write(body)
		return nil
	}, next)
}

// onceIn is once for a request with a key and an optional namespace. sum hashes the body and may
// reject it.
func (s *Server) onceIn(c echo.Context, op *huma.Operation, namespace string, sum func(hash.Hash) error,
	next func(seed string),
) error {
	r := c.Request()
	k, err := requestKey(r, op, namespace)
	if err != nil {
		return err
	}
	if namespace != "" && !access.From(r.Context()).Includes(namespace) {
		next("") // next rejects it; nothing is stored in a foreign namespace
		return nil
	}
	leave, err := s.inProgress.enter(r.Context(), k)
	if err != nil {
		return s.problemOf(r.Context(), op, err)
	}
	defer leave()
	h := requestHash(r)
	if err := sum(h); err != nil {
		return err
	}
	a, err := s.engine.Requests().Begin(r.Context(), k, h.Sum(nil), "")
	if err != nil {
		return s.problemOf(r.Context(), op, keyError(err))
	}
	if a.Status != 0 {
		return replay(c, a)
	}
	return s.record(c, k, a, func() { next(a.Seed) })
}

// keyError translates errors of [engine.Requests.Begin].
func keyError(err error) error {
	if errors.Is(err, store.ErrKeyReused) {
		return invalid(Fault{Location: "header." + keyHeader, Message: "was already used for another request; " +
			"use a new key for a new request"})
	}
	return err
}

// replay sends a stored answer.
func replay(c echo.Context, a store.StoredResponse) error {
	header := c.Response().Header()
	for name, value := range a.Header {
		header.Set(name, value)
	}
	header.Set(replayedHeader, "true")
	c.Response().WriteHeader(a.Status)
	_, err := c.Response().Write(a.Body)
	return err
}

// record lets next answer and stores the answer before sending it, so that a repetition gets the
// same. It does not store server errors or temporary failures. A request rejected for its values
// frees its key.
func (s *Server) record(c echo.Context, k store.RequestKey, a store.StoredResponse, next func()) error {
	resp := c.Response()
	w := &recorder{ResponseWriter: resp.Writer}
	resp.Writer = w
	defer func() { resp.Writer = w.ResponseWriter }() // also when next panics
	next()
	// The change is made, even if the caller disconnects.
	ctx := context.WithoutCancel(c.Request().Context())
	if err := s.note(ctx, k, a, w); err != nil {
		s.log.ErrorContext(ctx, "note answer", "request_id", requestID(ctx), "error", err)
	}
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
		if _, err := w.ResponseWriter.Write(w.body.Bytes()); err != nil {
			s.log.DebugContext(c.Request().Context(), "write answer", "error", err)
		}
	}
	return nil
}

// note stores an answer for repetitions if it is final.
func (s *Server) note(ctx context.Context, k store.RequestKey, a store.StoredResponse, w *recorder) error {
	switch {
	case refused(w.status):
		return s.engine.Requests().Drop(ctx, k, a.Seed)
	case !repeatable(w.status):
		return nil
	}
	a.Status, a.Body, a.Header = w.status, w.body.Bytes(), make(map[string]string)
	for _, name := range replayedHeaders {
		if v := w.Header().Get(name); v != "" {
			a.Header[name] = v
		}
	}
	return s.engine.Requests().End(ctx, k, a)
}

// refused reports whether a status means that nothing was done and that a repetition needs another
// request or another API key.
func refused(status int) bool {
	return slices.Contains([]int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	}, status)
}

// repeatable reports whether an answer with this status is final.
func repeatable(status int) bool {
	const gone = 499 // the caller disconnected
	passing := [...]int{0, http.StatusRequestTimeout, http.StatusTooManyRequests, gone}
	return status < http.StatusInternalServerError && !slices.Contains(passing[:], status)
}

// recorder buffers an answer.
type recorder struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements [http.ResponseWriter].
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// seedOf returns the id for the object that the request of ctx creates; "" lets the engine choose.
func seedOf(ctx context.Context) string {
	seed, _ := ctx.Value(seedKey).(string)
	return seed
}
