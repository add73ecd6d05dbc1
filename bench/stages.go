package bench

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// timingHeader asks a server for the durations of its stages. Servers that do not know it ignore
// it.
const timingHeader = "Ragctx-Timing"

// stageHTTP is the part of a request outside the server's engine: HTTP and JSON on both sides, and
// the network.
const stageHTTP = "http"

// Limits of the stages that a server may report.
const (
	maxStages    = 32
	maxStageName = 32
)

// stage is the duration of a part of a request, in milliseconds.
type stage struct {
	name string
	ms   float64
}

// stagesOf reads the stages of a response; took is the latency of the request.
func stagesOf(h http.Header, took time.Duration) (out []stage) {
	for _, line := range h.Values("Server-Timing") {
		for metric := range strings.SplitSeq(line, ",") {
			if s, ok := parseStage(metric); ok && len(out) < maxStages {
				out = append(out, s)
			}
		}
	}
	if i := slices.IndexFunc(out, func(s stage) bool { return s.name == trace.Engine.String() }); i >= 0 {
		out = append(out, stage{stageHTTP, max(0, millis(took)-out[i].ms)})
	}
	return out
}

// fromCache reports whether an answer with these stages came from the answer cache: the engine ran
// and did not assemble.
func fromCache(stages []stage) bool {
	ran := func(name string) bool {
		return slices.ContainsFunc(stages, func(s stage) bool { return s.name == name })
	}
	return ran(trace.Engine.String()) && !ran(trace.Assemble.String())
}

// parseStage reads a metric of a Server-Timing header (W3C): a name and the parameter dur.
func parseStage(metric string) (stage, bool) {
	name, params, _ := strings.Cut(metric, ";")
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxStageName || name == stageHTTP ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		return stage{}, false
	}
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "dur") {
			continue
		}
		ms, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(value), `"`), 64)
		return stage{name, ms}, err == nil && ms >= 0 && ms < 1e9
	}
	return stage{}, false
}

// stageLatencies summarises the stages of samples, in the order in which they run. A stage counts
// only where it ran.
func stageLatencies(samples []sample) (out []stageLatency) {
	times := make(map[string][]float64)
	var names []string
	for _, s := range samples {
		for _, st := range s.stages {
			if _, known := times[st.name]; !known {
				if len(names) == maxStages+1 {
					continue
				}
				names = append(names, st.name)
			}
			times[st.name] = append(times[st.name], st.ms)
		}
	}
	order := trace.Stages()
	place := func(name string) int {
		if name == stageHTTP {
			return 2 * len(order) // after the engine's total
		}
		if i := slices.Index(order, name); i >= 0 {
			return 2 * i
		}
		return 2*len(order) - 3 // an unknown stage comes before the engine's total
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	for _, name := range names {
		out = append(out, stageLatency{name, LatencyOf(times[name])})
	}
	return out
}
