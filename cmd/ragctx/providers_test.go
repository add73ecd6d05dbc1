package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragctx/ragctx"
	program "github.com/ragctx/ragctx/providers/remote"
)

// account is a provider that has one thing to say. Its value is its name.
type account string

func (a account) Name() string { return string(a) }

func (a account) Query(context.Context, ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	r.Add(ragctx.ContextItem{ID: "1", Content: "the account of " + string(a), Relevance: 0.9})
	return r, nil
}

const providerSecret = "0123456789abcdef0123"

// serveProviders starts the programs of two providers and writes settings that name
// them: providers FILE.
func serveProviders(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: providers FILE")
	}
	settings := make([]map[string]any, 0, 2)
	for _, name := range []string{"crm", "wiki"} {
		s := httptest.NewServer(program.Handler(account(name), providerSecret))
		ts.Defer(s.Close)
		settings = append(settings, map[string]any{"name": name, "url": s.URL + "/?token=x", "secret_env": "CRM_SECRET"})
	}
	settings[0]["failure_mode"], settings[0]["turn_url"] = "fail_closed", settings[0]["url"]
	settings[1]["scope"] = "session"
	b, err := json.Marshal(map[string]any{"providers": settings})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}
