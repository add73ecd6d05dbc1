package api

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/trace"
)

// TestTiming asks for the stages of an answer, and sees that nobody else gets them.
func TestTiming(t *testing.T) {
	f := start(t, Options{})
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/a", `{"text": "# Zebras\n\nEverything about zebras."}`), 201)
	const question = `{"query": "zebras"}`
	for _, header := range [][]string{nil, {TimingHeader + ": false"}} {
		if got, there := f.call(t, "POST", "/v1/context", question, header...).header["Server-Timing"]; there {
			t.Errorf("%q: answered with %q", header, got)
		}
	}
	a := f.call(t, "POST", "/v1/context", `{"query": "zebras?"}`, TimingHeader+": true") // another one: no kept answer
	var names []string
	for stage := range strings.SplitSeq(a.header.Get("Server-Timing"), ", ") {
		name, took, _ := strings.Cut(stage, ";dur=")
		if ms, err := strconv.ParseFloat(took, 64); err != nil || ms < 0 || name == "engine" && ms == 0 {
			t.Errorf("%q: %v", stage, err)
		}
		names = append(names, name)
	}
	want := slices.DeleteFunc(trace.Stages(), func(s string) bool { return s == "rerank" })
	if !slices.Equal(names, want) {
		t.Errorf("stages %q, want %q", names, want)
	}
	if p := f.call(t, "POST", "/v1/context", question, TimingHeader+": perhaps").problem(t); p.Status != 422 && p.Status != 400 {
		t.Errorf("a value that means nothing: %+v", p)
	}
}
