package api

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/trace"
)

// noRoute is the route of requests that match none, or were refused before routing.
const noRoute = "none"

// countedMethods are the methods with series of their own; others count as "other", so that clients
// cannot create series.
var countedMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// endpoint is an echo route pattern with a method.
type endpoint struct{ path, method string }

// echoParam matches a parameter in an echo pattern.
var echoParam = regexp.MustCompile(`(^|[^\\]):(\w+)`)

// route returns the documented form of the pattern.
func (e endpoint) route() string { return cmp.Or(documented(e.path), noRoute) }

// documented converts an echo pattern into the form of the OpenAPI document.
func documented(path string) string { return published(echoParam.ReplaceAllString(path, "$1{$2}")) }

// requestTally counts requests. The number of routes bounds its size.
type requestTally struct {
	mu   sync.RWMutex
	done map[endpoint]*requestCounts
}

// requestCounts are the counts of an endpoint.
type requestCounts struct {
	took    trace.Histogram
	mu      sync.Mutex
	classes [6]uint64 // by the first digit of the status; 0 without a status
}

func (t *requestTally) add(c echo.Context, took time.Duration) {
	e := endpoint{c.Path(), c.Request().Method}
	if !slices.Contains(countedMethods, e.method) {
		e.method = "other"
	}
	n := t.of(e)
	n.took.Add(took)
	class := c.Response().Status / 100
	if class < 1 || class >= len(n.classes) {
		class = 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.classes[class]++
}

func (t *requestTally) of(e endpoint) *requestCounts {
	t.mu.RLock()
	n := t.done[e]
	t.mu.RUnlock()
	if n != nil {
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n = t.done[e]; n == nil {
		n = new(requestCounts)
		if t.done == nil {
			t.done = make(map[endpoint]*requestCounts)
		}
		t.done[e] = n
	}
	return n
}

// write writes the counts by route and method.
func (t *requestTally) write(e *exposition) {
	t.mu.RLock()
	done := maps.Clone(t.done)
	t.mu.RUnlock()
	var counts []series
	var took []durations
	for _, at := range slices.SortedFunc(maps.Keys(done), func(a, b endpoint) int {
		return cmp.Or(cmp.Compare(a.route(), b.route()), cmp.Compare(a.method, b.method))
	}) {
		n, l := done[at], labels{"route", at.route(), "method", at.method}
		n.mu.Lock()
		classes := n.classes
		n.mu.Unlock()
		for class, count := range classes {
			if count > 0 {
				counts = append(counts, series{append(slices.Clip(l), "status", strconv.Itoa(class)+"xx"), float64(count)})
			}
		}
		took = append(took, durations{l, n.took.Durations()})
	}
	e.counter("ragctx_http_requests_total", "Answered requests, by class of status; unknown routes have the "+
		"route none.", counts...)
	e.histogram("ragctx_http_request_duration_seconds", "Time from the request's header to the end of the "+
		"answer; a stream ends when its client disconnects.", took...)
}
