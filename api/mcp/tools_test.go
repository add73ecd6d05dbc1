package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
	mcpserver "github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TestToolsAreChosen: only the named tools are listed, explained and callable.
func TestToolsAreChosen(t *testing.T) {
	s := stdio(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{Tools: []string{"fetch", "context"}}))
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "context fetch" {
		t.Errorf("%s are listed", got)
	}
	if text := s.InitializeResult().Instructions; !strings.Contains(text, `"fetch"`) || strings.Contains(text, "memory_add") || strings.Contains(text, "codesearch") {
		t.Errorf("the instructions are %q", text)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_add", Arguments: map[string]any{"content": "x"}}); err == nil {
		t.Error("a tool that is not offered was called")
	}
	if err := mcpserver.CheckTools(mcpserver.ToolNames()); err != nil {
		t.Error(err)
	}
	if err := mcpserver.CheckTools([]string{"context", "recall"}); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), `"recall" is no tool; use context, search`) {
		t.Error(err)
	}
}

// jobAfter is an engine whose job has ended after some calls.
type jobAfter struct {
	mcpserver.Engine

	calls, ends int
}

// Job implements [mcpserver.Engine].
func (j *jobAfter) Job(_ context.Context, id string) (engine.Job, error) {
	j.calls++
	job := engine.Job{Job: store.Job{ID: id, State: store.JobRunning}}
	if j.calls > j.ends {
		job.State, job.Counts = store.JobDone, store.JobCounts{Created: 2, Skipped: 30}
	}
	return job, nil
}

// JobItems implements [mcpserver.Engine].
func (*jobAfter) JobItems(_ context.Context, _ string, f store.ItemFilter) (items []store.JobItem, _ error) {
	for i := range min(f.Limit, 30) {
		if f.State == store.ItemSkipped {
			items = append(items, store.JobItem{Key: fmt.Sprintf("docs/file-%d.bin", i), Error: "is binary, with a byte that is no text"})
		}
	}
	return items, nil
}

// TestIngestWaits: a job of paths that ends soon is answered with its result, within max_tokens; another one
// with its id after a few seconds.
func TestIngestWaits(t *testing.T) {
	type answer struct {
		JobID    string                          `json:"job_id"`
		State    store.JobState                  `json:"state"`
		Counts   *store.JobCounts                `json:"counts"`
		Problems []struct{ Item, Reason string } `json:"problems"`
	}
	eng := open(t)
	ingest := func(ends int, args map[string]any) (answer, time.Duration) {
		s := stdio(t, mcpserver.New(&jobAfter{Engine: mcpserver.Local(eng), ends: ends}, mcpserver.Options{
			Ingest: func(context.Context, string, []string) (engine.Job, error) {
				return engine.Job{Job: store.Job{ID: "j1", State: store.JobQueued}}, nil
			},
		}))
		start := time.Now()
		return call[answer](t, s, "ingest", args), time.Since(start)
	}
	soon, _ := ingest(3, map[string]any{"paths": []string{"docs"}, "max_tokens": 2000})
	if soon.JobID != "j1" || soon.State != store.JobDone || soon.Counts == nil || soon.Counts.Created != 2 || len(soon.Problems) != 10 {
		t.Errorf("%+v", soon)
	}
	if small, _ := ingest(0, map[string]any{"paths": []string{"docs"}}); small.State != store.JobDone || len(small.Problems) == 0 || len(small.Problems) >= 10 {
		t.Errorf("%+v within 200 tokens", small)
	}
	late, took := ingest(1<<30, map[string]any{"paths": []string{"docs"}})
	if late.JobID != "j1" || late.State != store.JobRunning || late.Counts != nil || took < time.Second || took > 30*time.Second {
		t.Errorf("%+v after %v", late, took)
	}
}

// TestNothingStored checks that the answers of an empty namespace, and of a path without documents, name the remedy.
func TestNothingStored(t *testing.T) {
	type answer struct{ Note string }
	paths := mcpserver.Options{Ingest: func(context.Context, string, []string) (engine.Job, error) { return engine.Job{}, nil }}
	for want, o := range map[string]mcpserver.Options{
		`no document is stored; call "ingest" with paths, such as ["."]`: paths,
		`no document is stored; call "ingest" with texts`:                {},
		"no document is stored":                                          {Tools: []string{"context", "codesearch"}},
	} {
		s := stdio(t, mcpserver.New(mcpserver.Local(open(t)), o))
		for _, tool := range []string{"context", "codesearch"} {
			if got := call[answer](t, s, tool, map[string]any{"query": "how is it deployed"}); !strings.HasSuffix(got.Note, want) {
				t.Errorf("%s: %q, want %q", tool, got.Note, want)
			}
		}
	}
	eng := open(t)
	put(t, eng, "", "app/src/deploy.go", "package deploy\n\n// Deploy deploys with a kangaroo.\nfunc Deploy() {}\n")
	put(t, eng, "", "app/docs/deploy.md", "# Deploy\n\nDeploy deploys with a kangaroo.\n")
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	got := call[answer](t, s, "codesearch", map[string]any{"query": "how is it deployed", "path": "src/"})
	if got.Note != `path: no id begins with "src/"; ids are like "app/docs/deploy.md"` {
		t.Errorf("%q", got.Note)
	}
	code := call[struct{ Results []struct{ Path string } }](t, s, "codesearch", map[string]any{"query": "how is it deployed with a kangaroo"})
	if len(code.Results) != 2 || code.Results[0].Path != "app/src/deploy.go" {
		t.Errorf("codesearch finds %+v", code)
	}
	if got := call[answer](t, s, "context", map[string]any{"query": "zzzqqqxx", "min_relevance": .9}); strings.Contains(got.Note, "stored") {
		t.Errorf("%q", got.Note)
	}
}
