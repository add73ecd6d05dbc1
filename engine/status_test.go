package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/resolve"
)

func TestStatus(t *testing.T) {
	var log bytes.Buffer
	f := open(t, func(o *engine.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	})
	for _, ns := range []string{"a", "b"} {
		if _, err := f.Documents().Put(t.Context(), ns, ragctx.Document{ExternalID: "d", Text: "Rollbacks need a ticket."}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{Namespace: "b", UserID: "ada", Content: "Something."}); err != nil {
		t.Fatal(err)
	}
	f.Logger().With("part", "x").Warn("it failed", "error", "disk")
	f.Logger().Info("fine")
	st, err := f.Admin().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Total.Documents != 2 || st.Total.Memories != 1 || len(st.Namespaces) != 2 || st.Namespaces[0] != (engine.NamespaceStatus{Name: "b", Documents: 1, Memories: 1}) {
		t.Errorf("%+v", st)
	}
	if st.Directory.Database == 0 || st.Directory.Other == 0 || len(st.Degraded) != 0 || st.Opened.IsZero() {
		t.Errorf("%+v", st)
	}
	if len(st.RecentErrors) != 1 || st.RecentErrors[0].Message != "it failed" || st.RecentErrors[0].Details != "part=x error=disk" || log.Len() > 0 {
		t.Errorf("%+v, logged %s", st.RecentErrors, &log)
	}
	for i := range 30 {
		f.Logger().Error("again", "letters", strings.Repeat("a", i+1))
	}
	own, err := f.Admin().Status(access.With(t.Context(), access.Grant{Role: access.Admin, Namespaces: []string{"a"}}))
	if err != nil || len(own.Namespaces) != 1 || own.Total.Documents != 1 || own.Total.Memories != 0 || len(own.RecentErrors) != 0 {
		t.Errorf("one namespace: %+v, %v", own, err)
	}
	if st, _ := f.Admin().Status(t.Context()); len(st.RecentErrors) != 20 || strings.Count(log.String(), "again") != 30 {
		t.Errorf("%d are remembered, logged %s", len(st.RecentErrors), &log)
	}
	for i := range 5 {
		f.Logger().Error("it broke", "from", fmt.Sprintf("10.0.0.1:%d", 50000+i), "took", time.Duration(i+1)*time.Millisecond, "why", strings.Repeat("long ", 20))
	}
	st, _ = f.Admin().Status(t.Context())
	if n := st.RecentErrors[0]; n.Count != 5 || !strings.HasPrefix(n.Details, "from=10.0.0.1:50004 took=5ms why=long long") || !strings.HasSuffix(n.Details, "long ") || st.RecentErrors[1].Count != 1 {
		t.Errorf("equal ones are told as %+v, then %+v", n, st.RecentErrors[1])
	}
	if _, err := f.Admin().Status(access.With(t.Context(), access.Grant{Role: access.Write})); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("a writer: %v", err)
	}
}

// cutOff is whatever is asked through a circuit breaker that is open.
type cutOff struct{ until time.Time }

func (b cutOff) Breaker() (httpclient.State, time.Time)     { return httpclient.Open, b.until }
func (b cutOff) TurnBreaker() (httpclient.State, time.Time) { return httpclient.HalfOpen, time.Time{} }

func (cutOff) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, httpclient.ErrOpen
}

func (cutOff) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, httpclient.ErrOpen
}

func (cutOff) String() string { return "gpt at host" }

// cutOffProvider has open circuit breakers for queries and turns.
type cutOffProvider struct {
	cutOff

	name string
	mode ragctx.FailureMode
}

func (p cutOffProvider) Name() string                    { return p.name }
func (p cutOffProvider) FailureMode() ragctx.FailureMode { return p.mode }

func (cutOffProvider) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	return ragctx.ContextResult{}, httpclient.ErrOpen
}

// TestStatusReportsOpenBreakers: open breakers are among the current problems, also for the doctor.
func TestStatusReportsOpenBreakers(t *testing.T) {
	f := open(t, func(o *engine.Options) {
		b := cutOff{until: o.Now().Add(time.Minute)}
		o.Reranker, o.FactExtraction.Model = b, b
		o.Providers = []resolve.Registered{{Provider: cutOffProvider{b, "crm", ragctx.FailClosed}}}
		o.SessionProviders = []resolve.Registered{{Provider: cutOffProvider{cutOff{until: o.Now().Add(-time.Minute)}, "wiki", ragctx.BestEffort}}}
	})
	want := []string{
		"the reranker fails; requests are suspended until ", "the language model gpt at host fails; requests are suspended until ",
		"the provider crm fails; requests are suspended until ", "turn delivery to the provider crm fails and will be tried again",
		"the provider wiki fails and will be tried again on the next use; queries are answered without it", "turn delivery to the provider wiki",
	}
	st, err := f.Admin().Status(t.Context())
	if err != nil || len(st.Degraded) != len(want) {
		t.Fatalf("%q, %v", st.Degraded, err)
	}
	for i, w := range want {
		if !strings.HasPrefix(st.Degraded[i], w) {
			t.Errorf("%q, want %q", st.Degraded[i], w)
		}
	}
	if !strings.HasSuffix(st.Degraded[2], "queries that it is asked fail until it recovers") {
		t.Errorf("a required provider: %q", st.Degraded[2])
	}
	c, err := f.Admin().Doctor(t.Context(), engine.DoctorOptions{Searching: -1})
	if err != nil || !c.Sound() || len(c.Degraded) != len(want) {
		t.Errorf("doctor: %+v, %v", c, err)
	}
}
