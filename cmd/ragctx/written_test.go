package main

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// TestReplacements checks that what replaces a command exists, and that the error about the command
// names it.
func TestReplacements(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(api.OpenAPI("test"), &doc); err != nil {
		t.Fatal(err)
	}
	for gone, now := range replacements {
		var out strings.Builder
		args := strings.Fields(gone)
		if status := run(t.Context(), args, strings.NewReader(""), &out, &out); status != exitUsage || !strings.Contains(out.String(), "; use "+now+"\n") {
			t.Errorf("%s: exit status %d, %s", gone, status, out.String())
		}
		words := strings.Fields(now)
		if words[1] != "api" {
			if cmd, _, err := newRoot(noEnv).Find(words[1:2]); err != nil || cmd.Name() != words[1] {
				t.Errorf("%s: there is no command %s", gone, now)
			}
			continue
		}
		found := false
		for path, methods := range doc.Paths {
			pattern := regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[A-Z]+")
			is, _ := regexp.MatchString("^"+pattern+"$", words[3])
			found = found || is && methods[strings.ToLower(words[2])] != nil
		}
		if !found {
			t.Errorf("%s: there is no route %s %s", gone, words[2], words[3])
		}
	}
}

// TestErrorsAsWritten checks that errors name fields as the command line does.
func TestErrorsAsWritten(t *testing.T) {
	root := newRoot(noEnv)
	problem := func(detail string, faults ...api.Fault) error { return &api.Problem{Detail: detail, Errors: faults} }
	for _, c := range []struct {
		command string
		err     error
		want    string
	}{
		{"query", ragctx.Invalid("context_types", "%q is not a type", "foo"), `--type: "foo" is not a type`},
		{"query", ragctx.Invalid("max_tokens", "is 0"), "--max-tokens: is 0"},
		{
			"query", problem("the request has an invalid value", api.Fault{Location: "body.user_id", Message: "is long"}),
			"the request has an invalid value: --user is long",
		},
		{"query", problem("filter.session_id: is long", api.Fault{Location: "body.filter.session_id", Message: "is long"}), "--in-session: is long"},
		{
			"namespaces create", problem("the request has an invalid value", api.Fault{Location: "body.name", Message: "is short"}),
			"the request has an invalid value: NAME is short",
		},
		{"remember", problem("memory_type: is x", api.Fault{Location: "body.memory_type", Message: "is x"}), "--type: is x"},
		{"remember", ragctx.Invalid("origin", "name: is a text"), "--origin: name: is a text"},
		{"keys create", ragctx.Invalid("role", "is admin; leave user_id out"), "--role: is admin; leave --user out"},
		{"ledger publish", ragctx.Invalid("data", "is not valid JSON"), "--json-data: is not valid JSON"},
		{"status", errors.New("name: is none"), "name: is none"},
	} {
		cmd, _, err := root.Find(strings.Fields(c.command))
		if err != nil {
			t.Fatal(err)
		}
		if got := asWritten(cmd, c.err); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
