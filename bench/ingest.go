package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// OwnNamespace is the namespace of the documents that a run writes, unless they go into the
// namespace that is queried.
const OwnNamespace = "ragctx-bench"

// cleanTimeout bounds the removal of the written documents.
const cleanTimeout = 2 * time.Minute

const (
	// writerPool is the number of document ids of a writer. Further documents replace earlier ones,
	// so a run leaves at most that many.
	writerPool = 256
	// freeWriters is the number of concurrent writers when no rate is set.
	freeWriters = 4
)

// writer writes generated documents to a namespace.
type writer struct {
	client    *http.Client
	base      string
	namespace string
	seed      uint64
	pool      int
	next      atomic.Int64 // number of the next document
}

func newWriter(client *http.Client, base, namespace string, seed uint64) *writer {
	return &writer{
		client: client, base: strings.TrimRight(base, "/"), namespace: namespace, seed: seed ^ 0x1157,
		pool: writerPool,
	}
}

// written counts the documents of a writer.
type written struct {
	took   time.Duration
	chunks int
	bytes  int
	times  []float64 // ms
	errors map[string]int
	failed int
	first  error // first error
}

func (w *written) add(o *written) {
	w.took += o.took
	w.merge(o)
}

// merge adds the counts of a concurrent writer.
func (w *written) merge(o *written) {
	w.chunks += o.chunks
	w.bytes += o.bytes
	w.times = append(w.times, o.times...)
	w.failed += o.failed
	if w.first == nil {
		w.first = o.first
	}
	for class, n := range o.errors {
		w.fail(class, n)
	}
}

func (w *written) fail(class string, n int) {
	if w.errors == nil {
		w.errors = make(map[string]int)
	}
	w.errors[class] += n
}

// start writes rate documents per second until ctx is done, and then sends the counts. If nothing
// is to be written, it sends nil at once.
func (w *writer) start(ctx context.Context, rate float64) <-chan *written {
	out := make(chan *written, 1)
	if w == nil || rate <= 0 {
		out <- nil
		return out
	}
	go func() { out <- w.writePaced(ctx, rate) }()
	return out
}

// writePaced writes documents one after another. Each latency counts from the time when the document was
// due.
func (w *writer) writePaced(ctx context.Context, rate float64) *written {
	var out written
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if !sleepUntil(ctx, timer, due) || !w.writeOne(ctx, &out, int(w.next.Add(1))-1, due) {
			break
		}
	}
	out.took = time.Since(start)
	return &out
}

// writeUnpaced writes as fast as the server accepts documents, until ctx is done or the given number is
// written (0 is no limit). It calls tell with the number of chunks so far.
func (w *writer) writeUnpaced(ctx context.Context, documents int, progress func(int)) *written {
	var (
		out  written
		mu   sync.Mutex
		sum  atomic.Int64
		wg   sync.WaitGroup
		from = time.Now()
	)
	for range freeWriters {
		wg.Go(func() {
			var own written
			for own.failed == 0 {
				before, i := own.chunks, int(w.next.Add(1))-1
				if documents > 0 && i >= documents || !w.writeOne(ctx, &own, i, time.Now()) {
					break
				}
				progress(int(sum.Add(int64(own.chunks - before))))
			}
			mu.Lock()
			defer mu.Unlock()
			out.merge(&own)
		})
	}
	wg.Wait()
	out.took = time.Since(from)
	return &out
}

// writeOne writes the i-th document. It returns false if ctx ended first.
func (w *writer) writeOne(ctx context.Context, out *written, i int, due time.Time) bool {
	text := Generated(w.seed, i)
	put, err := w.put(ctx, w.id(i), text)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		out.failed++
		out.fail(errorClass(err), 1)
		if out.first == nil {
			out.first = err
		}
	default:
		out.chunks += put
		out.bytes += len(text)
		out.times = append(out.times, millis(time.Since(due)))
	}
	return true
}

// id returns the id of the i-th document. Ids repeat after pool documents; if pool is 0, they never
// do.
func (w *writer) id(i int) string {
	if w.pool > 0 {
		i %= w.pool
	}
	return fmt.Sprintf("ragctx-bench/%06d.md", i)
}

func (w *writer) path(id string) string {
	return w.base + "/v1/documents/" + url.PathEscape(id) + "?namespace=" + url.QueryEscape(w.namespace)
}

// put stores a document and returns its number of chunks.
func (w *writer) put(ctx context.Context, id, text string) (int, error) {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return 0, err
	}
	answer, err := w.send(ctx, http.MethodPut, w.path(id), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	var put struct{ Chunks int }
	if err := json.Unmarshal(answer, &put); err != nil {
		return 0, fmt.Errorf("answer is not JSON: %w", err)
	}
	return put.Chunks, nil
}

// clean erases the written documents.
func (w *writer) clean(ctx context.Context) error {
	if w == nil {
		return nil
	}
	// All requests are concurrent: a server rewrites its index files once for all waiting erasures.
	errs := make([]error, min(int(w.next.Load()), w.pool))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = w.erase(ctx, w.id(i)) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("remove the documents written during the runs, ragctx-bench/… in namespace "+
				"%s: %w", w.namespace, err)
		}
	}
	return nil
}

func (w *writer) erase(ctx context.Context, id string) error {
	_, err := w.send(ctx, http.MethodDelete, w.path(id)+"&erase=true", nil)
	if answer, ok := errors.AsType[statusError](err); ok && answer.code == http.StatusNotFound {
		return nil // it was never written
	}
	return err
}

func (w *writer) send(ctx context.Context, method, target string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return exchange(w.client, req)
}

// writtenBy sums up the documents written in the runs of a load. It returns nil if the load writes
// none.
func writtenBy(wanted float64, runs []*written) *Written {
	if wanted <= 0 {
		return nil
	}
	var sum written
	for _, w := range runs {
		if w != nil {
			sum.add(w)
		}
	}
	return writtenOf(wanted, &sum)
}

func writtenOf(wanted float64, w *written) *Written {
	out := &Written{
		Wanted: wanted, Documents: len(w.times), Chunks: w.chunks, Bytes: w.bytes, Failed: w.failed, Errors: w.errors,
		Seconds: w.took.Seconds(), Latency: LatencyOf(w.times),
	}
	if s := out.Seconds; s > 0 {
		out.DocumentsPerSecond, out.ChunksPerSecond, out.BytesPerSecond = float64(out.Documents)/s,
			float64(out.Chunks)/s, float64(out.Bytes)/s
	}
	return out
}

// statusError is a response that is not a success.
type statusError struct {
	code int
	text string
}

// Error implements error.
func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// exchange sends a request and reads the whole response, so that the connection can be reused.
func exchange(client *http.Client, req *http.Request) ([]byte, error) {
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = statusError{res.StatusCode, problem(answer)}
	}
	return answer, err
}

// errorClass returns the kind of an error from exchange.
func errorClass(err error) string {
	if answer, ok := errors.AsType[statusError](err); ok {
		return fmt.Sprintf("status %d", answer.code)
	}
	return classOf(err)
}
