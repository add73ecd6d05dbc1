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

// The headers of requests that may be sent again.
const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
)

const (
	maxKeyBytes = 255
	keyWait     = 30 * time.Second // for a request with the same key that is under way
)

// keptHeaders are the headers of an answer that are sent again with it.
var keptHeaders = [...]string{echo.HeaderContentType, echo.HeaderLocation, tagHeader}

// isWrite reports whether an operation changes something that doing it again would
// change once more, and so knows keys. Assembling a call of a session may compact it,
// and finds that done when it is asked again; its answer is the whole prompt, and storing
// one for each call of a model would take more room than all that is said.
func isWrite(op *huma.Operation) bool {
	others := [...]string{
		"context", "search", "search-memories", "embeddings", "import-memories", "extract-memories", "import-messages", "pack", "assemble", "assemble-session", "explain", "compile-session", "compile", "compact",
		"mem0-list-v2", "mem0-list-v3", "mem0-search", "mem0-search-v2", "mem0-search-v3", "create-key",
	}
	return op.Method != http.MethodGet && !slices.Contains(others[:], op.OperationID)
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

// underWay are the keys of requests that are being answered.
type underWay struct {
	mu   sync.Mutex
	keys map[store.RequestKey]chan struct{}
}

// enter waits until no other request with the key is under way, and returns a
// func that ends this one.
func (u *underWay) enter(ctx context.Context, k store.RequestKey) (leave func(), err error) {
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

// hasKey reports whether a request came with a key, good or bad.
func hasKey(r *http.Request) bool { return len(r.Header.Values(keyHeader)) > 0 }

// requestKey returns the key of a request that has one.
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
		key = by + " " + key // what one caller was answered is no one else's
	}
	return store.RequestKey{Namespace: cmp.Or(namespace, ragctx.DefaultNamespace), Route: op.Method + " " + op.Path, Key: key}, nil
}

// requestHash begins the hash of a request; its body is written to it.
func requestHash(r *http.Request) hash.Hash {
	h := sha256.New()
	for _, part := range [...]string{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get(echo.HeaderContentType)} {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(part))) // a hash takes everything
		h.Write([]byte(part))
	}
	return h
}

// namespaceOf returns the namespace that a request names.
func namespaceOf(r *http.Request, body []byte) string {
	var in struct {
		Namespace string `json:"namespace"`
		Project   string `json:"project_id"` // mem0's word
	}
	_ = json.Unmarshal(body, &in) // it has been checked, or there is none
	q := r.URL.Query()
	return cmp.Or(q.Get("namespace"), q.Get("project_id"), in.Namespace, in.Project)
}

// once answers a request that is sound: with next if it has no key or is new,
// else as it was answered before. next gets the id of what the request makes.
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

// onceIn is once for a request that has a key and names a namespace, or none. Its body is
// summed up by sum, which may refuse it.
func (s *Server) onceIn(c echo.Context, op *huma.Operation, namespace string, sum func(hash.Hash) error, next func(seed string)) error {
	r := c.Request()
	k, err := requestKey(r, op, namespace)
	if err != nil {
		return err
	}
	if namespace != "" && !access.From(r.Context()).Includes(namespace) {
		next("") // which refuses it; nothing is noted of a namespace that is not the caller's
		return nil
	}
	leave, err := s.underWay.enter(r.Context(), k)
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

// keyError translates what [engine.Requests.Begin] returns.
func keyError(err error) error {
	if errors.Is(err, store.ErrKeyReused) {
		return invalid(Fault{Location: "header." + keyHeader, Message: "was already used for another request; " +
			"use a new key for a new request"})
	}
	return err
}

// replay sends an answer again.
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

// record lets next answer and notes the answer before it is sent: whoever has
// got it gets it again. Failures of the server are not noted, nor what may well
// go better the next time. A request that is refused for its values leaves its
// key free.
func (s *Server) record(c echo.Context, k store.RequestKey, a store.StoredResponse, next func()) error {
	resp := c.Response()
	w := &recorder{ResponseWriter: resp.Writer}
	resp.Writer = w
	defer func() { resp.Writer = w.ResponseWriter }() // also when next panics
	next()
	// What was done is done: the caller's going away does not matter.
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

// note makes an answer the one to a request, if it is that for good.
func (s *Server) note(ctx context.Context, k store.RequestKey, a store.StoredResponse, w *recorder) error {
	switch {
	case refused(w.status):
		return s.engine.Requests().Drop(ctx, k, a.Seed)
	case !repeatable(w.status):
		return nil
	}
	a.Status, a.Body, a.Header = w.status, w.body.Bytes(), make(map[string]string)
	for _, name := range keptHeaders {
		if v := w.Header().Get(name); v != "" {
			a.Header[name] = v
		}
	}
	return s.engine.Requests().End(ctx, k, a)
}

// refused reports whether an answer with a status says that nothing was done, and
// that another request is wanted, or another API key.
func refused(status int) bool {
	return slices.Contains([]int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	}, status)
}

// repeatable reports whether an answer with a status is the answer for good.
func repeatable(status int) bool {
	const gone = 499 // the caller, in the middle
	passing := [...]int{0, http.StatusRequestTimeout, http.StatusTooManyRequests, gone}
	return status < http.StatusInternalServerError && !slices.Contains(passing[:], status)
}

// recorder holds an answer back.
type recorder struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// Unwrap returns the writer underneath, for [http.ResponseController].
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

// seedOf returns the id of what the request of ctx makes, if it names none; ""
// leaves that to the engine.
func seedOf(ctx context.Context) string {
	seed, _ := ctx.Value(seedKey).(string)
	return seed
}
