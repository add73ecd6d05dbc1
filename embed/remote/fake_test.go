package remote_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/embed/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-9f8e7d6c5b4a"

// fake is a service of any shape, as exact about its limits as the real ones.
type fake struct {
	shape    remote.Shape
	dim      int
	maxItems int // 0 is any number
	maxBytes int // of one text; 0 is any
	bad      func(text string) bool
	badness  int                       // the status that a bad text is refused with
	silent   bool                      // does not count tokens
	common   float32                   // is added to every component
	hangs    func(texts []string) bool // which requests wait for hang; nil is all

	mu       sync.Mutex
	status   int         // of every answer, unless it is 0
	header   http.Header // beside it
	requests []([]string)
	hang     chan struct{} // requests wait for it, if it is not nil
}

func (f *fake) set(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status = status
}

func (f *fake) served() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// raw is the vector of a text: not of length 1, and different for all texts.
func (f *fake) raw(text string) []float32 {
	v := make([]float32, f.dim)
	for i := range v {
		h := fnv.New32a()
		fmt.Fprint(h, i, text)
		v[i] = float32(h.Sum32()%2001)/100 - 10 + f.common
	}
	return v
}

// want is the vector of a text as a client should return it.
func (f *fake) want(text string) []float32 {
	v, sum := f.raw(text), 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return v
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input, Inputs []string
		Encoding      string `json:"encoding_format"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, "{}", http.StatusTeapot)
		return
	}
	texts := slices.Concat(req.Input, req.Inputs)
	f.mu.Lock()
	f.requests = append(f.requests, texts)
	status, hang := f.status, f.hang
	maps.Copy(w.Header(), f.header)
	f.mu.Unlock()
	if hang != nil && (f.hangs == nil || f.hangs(texts)) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}
	if status == 0 {
		status = f.judge(texts)
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"status %d on purpose"}}`, status)
		return
	}
	f.answer(w, texts, req.Encoding == "base64")
}

func (f *fake) judge(texts []string) int {
	if f.maxItems > 0 && len(texts) > f.maxItems {
		return http.StatusUnprocessableEntity
	}
	for _, t := range texts {
		switch {
		case strings.TrimSpace(t) == "":
			return http.StatusBadRequest
		case f.maxBytes > 0 && len(t) > f.maxBytes:
			return http.StatusRequestEntityTooLarge
		case f.bad != nil && f.bad(t):
			return f.badness
		}
	}
	return http.StatusOK
}

func (f *fake) answer(w io.Writer, texts []string, packed bool) {
	var list []any
	for _, t := range texts {
		list = append(list, f.raw(t))
	}
	tokens := 10 * len(texts)
	if f.silent {
		tokens = 0
	}
	var out any = list
	switch f.shape {
	case remote.OpenAI:
		var data []map[string]any
		for i, t := range texts {
			v := list[i]
			if packed {
				var b []byte
				for _, x := range f.raw(t) {
					b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
				}
				v = base64.StdEncoding.EncodeToString(b)
			}
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
		}
		slices.Reverse(data)
		out = map[string]any{"data": data, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}}
	case remote.TEI:
	case remote.Ollama:
		out = map[string]any{"embeddings": list, "prompt_eval_count": tokens}
	}
	json.NewEncoder(w).Encode(out)
}

// clock is set by the test and by sleeping.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	slept time.Duration
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.slept = c.at.Add(d), c.slept+d
	return ctx.Err()
}

// start serves a fake and returns a client for it. Only sleeping advances the client's clock.
func start(t testing.TB, f *fake, o remote.Options) (*remote.Client, *clock) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return newClient(t, s.URL, f.shape, o)
}

func newClient(t testing.TB, url string, shape remote.Shape, o remote.Options) (*remote.Client, *clock) {
	t.Helper()
	clock := newClock()
	o.Shape, o.URL, o.Now, o.Sleep = shape, url, clock.now, clock.sleep
	o.Model, o.QueryTimeout = cmp.Or(o.Model, "m"), cmp.Or(o.QueryTimeout, time.Minute)
	c, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, clock
}
