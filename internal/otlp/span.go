package otlp

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// The types of a request, in the JSON form of OTLP 1.x: identifiers in hexadecimal digits, 64-bit numbers as
// texts, enumerations as numbers.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     status      `json:"status"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String string `json:"stringValue,omitempty"`
		Int    string `json:"intValue,omitempty"`
	}
)

// Kinds of spans, and the status of a failed one.
const (
	kindInternal = 1
	kindServer   = 2
	statusError  = 2
)

// scopeName is the instrumentation scope of all spans.
const scopeName = "github.com/ragctx/ragctx"

func (e *Exporter) request(list []trace.Record) request {
	var spans []span
	for _, r := range list {
		spans = append(spans, e.spans(r)...)
	}
	service := []attribute{text("service.name", "ragctx"), text("service.version", cmp.Or(e.opts.Version, "unknown"))}
	return request{[]resourceSpans{{attributes{service}, []scopeSpans{{scope{scopeName, e.opts.Version}, spans}}}}}
}

// spans returns the span of a query, and below it those of its stages. They have no text of the query.
func (e *Exporter) spans(r trace.Record) []span {
	id, of := e.opts.NewTraceID(), e.opts.NewSpanID()
	root := span{
		TraceID: cmp.Or(r.Parent.TraceID, hex.EncodeToString(id[:])), SpanID: hex.EncodeToString(of[:]), ParentID: r.Parent.SpanID,
		Name: r.Operation, Kind: kindServer, Start: nanos(r.Began), End: nanos(r.Ended),
		Attributes: []attribute{{"ragctx.items", value{Int: strconv.Itoa(r.Items)}}},
	}
	for _, a := range []attribute{
		text("ragctx.namespace", r.Namespace), text("ragctx.request_id", r.RequestID),
		text("ragctx.degraded", strings.Join(r.Degraded, ",")),
	} {
		if a.Value.String != "" {
			root.Attributes = append(root.Attributes, a)
		}
	}
	if r.Err != nil {
		root.Status = status{"the query failed", statusError}
	}
	out := []span{root}
	for _, i := range r.Intervals {
		if i.Stage == trace.Engine {
			continue // the span of the query
		}
		of := e.opts.NewSpanID()
		out = append(out, span{
			TraceID: root.TraceID, SpanID: hex.EncodeToString(of[:]), ParentID: root.SpanID,
			Name: i.Stage.String(), Kind: kindInternal, Start: nanos(i.Began), End: nanos(i.Ended),
		})
	}
	return out
}

func text(key, s string) attribute { return attribute{key, value{String: s}} }

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
