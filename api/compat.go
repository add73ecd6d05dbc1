package api

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/api/internal/compat/mem0"
	"github.com/ragctx/ragctx/api/internal/compat/openai"
	"github.com/ragctx/ragctx/api/internal/compat/rerank"
)

// shape is the API of another program. It can be switched off.
type shape struct {
	name string
	// paths are the beginnings of its routes' paths.
	paths []string
}

var shapes = []shape{
	{"mem0", []string{mem0.Prefix + "/"}},
	{"openai", []string{"/v1/models", "/v1/embeddings", "/v1/files", "/v1/vector_stores"}},
	{"rerank", []string{"/v1/rerank", "/v2/rerank"}},
}

// unserved are the paths of features of other programs that are not served, and the features' names.
var unserved = [...]struct{ path, feature string }{
	{"/v1/chat", "chat completions"},
	{"/v1/completions", "completions"},
	{"/v1/responses", "responses"},
	{"/v1/conversations", "conversations"},
	{"/v1/assistants", "assistants"},
	{"/v1/threads", "threads"},
	{"/v1/uploads", "uploads in parts"},
	{"/v1/batches", "batches"},
	{"/v1/fine_tuning", "fine-tuning jobs"},
	{"/v1/moderations", "moderations"},
	{"/v1/images", "images"},
	{"/v1/audio", "audio files"},
	{mem0.Prefix + "/v1/feedback", "feedback messages"},
	{mem0.Prefix + "/v1/exports", "exports"},
	{mem0.Prefix + "/v1/events", "events"},
	{mem0.Prefix + "/v1/summary", "summaries"},
	{mem0.Prefix + "/api/v1/webhooks", "webhooks"},
	{mem0.Prefix + "/api/v1/orgs", "organisations and projects"},
}

// unservedFeature returns the name of the feature of a path that is not served, or "".
func unservedFeature(path string) string {
	for _, u := range unserved {
		if path == u.path || strings.HasPrefix(path, u.path+"/") {
			return u.feature
		}
	}
	return ""
}

// Shapes returns the names of the APIs of other programs.
func Shapes() []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.name
	}
	return names
}

// ParseShapes parses a setting: true is all shapes, false is none, otherwise it is a list of names.
func ParseShapes(setting string) ([]string, error) {
	switch setting {
	case "true":
		return Shapes(), nil
	case "false":
		return []string{}, nil
	}
	names := []string{}
	for name := range strings.SplitSeq(setting, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); !slices.Contains(Shapes(), name) {
			return nil, fmt.Errorf("has %q; use true, false, or a list of %s", ragctx.Clip(name), strings.Join(Shapes(), ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

// compatRoutes adds the routes of the shapes that are not switched off.
func (s *Server) compatRoutes() {
	add := map[string]func(){
		"mem0": func() {
			s.mountAll(mem0.Routes(s.engine, mem0.Options{
				Stopping: s.stopping, Wait: func() time.Duration { return s.extractionWait }, Seed: seedOf,
			}))
		},
		"openai": func() { s.mountAll(openai.Routes(s.engine)) },
		"rerank": func() { s.mountAll(rerank.Routes(s.engine)) },
	}
	for _, shape := range shapes {
		if s.opts.Compat == nil || slices.Contains(s.opts.Compat, shape.name) {
			add[shape.name]()
		}
	}
}

func (s *Server) mountAll(routes []compat.Route) {
	for _, r := range routes {
		s.mount(r)
	}
}

// foreignProblem is an error in the forms of all shapes: mem0's clients show detail, OpenAI's read error,
// and Cohere's show message.
type foreignProblem struct {
	Problem

	Message string       `json:"message"`
	Error   foreignError `json:"error"`
}

// foreignError is an error as OpenAI's clients read it.
type foreignError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// foreign returns an error as the clients of another API read it, or nil for ragctx's own paths.
func foreign(path string, p *Problem) *foreignProblem {
	of := func(s shape) bool {
		return slices.ContainsFunc(s.paths, func(begin string) bool { return strings.HasPrefix(path, begin) })
	}
	if !slices.ContainsFunc(shapes, of) && unservedFeature(path) == "" {
		return nil
	}
	full := *p
	full.Detail = p.Error() // with the faults, as clients show this text alone
	out := foreignProblem{Problem: full, Message: full.Detail}
	out.Error = foreignError{Message: full.Detail, Type: "invalid_request_error", Code: p.Code}
	if len(p.Errors) > 0 {
		if _, param, has := strings.Cut(p.Errors[0].Location, "."); has {
			out.Error.Param = &param
		}
	}
	if p.Status >= 500 {
		out.Error.Type = "server_error"
	}
	return &out
}
