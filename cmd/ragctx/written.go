package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// replacements are commands of earlier versions, or names that users try, and what does the same.
var replacements = map[string]string{
	"audit":                 "ragctx api GET /v1/audit",
	"stats":                 "ragctx api GET /v1/memories:stats",
	"namespaces show":       "ragctx api GET /v1/namespaces/NAME",
	"namespaces limit":      "ragctx api PUT /v1/namespaces/NAME/quotas",
	"memory stats":          "ragctx api GET /v1/memories:stats",
	"memory tags":           "ragctx api GET /v1/memories:tags",
	"memory extract":        "ragctx api POST /v1/memories:extract",
	"memory add":            "ragctx remember TEXT",
	"keys add":              "ragctx keys create NAME",
	"docs add":              "ragctx ingest PATH",
	"docs put":              "ragctx ingest PATH",
	"providers":             "ragctx api GET /v1/providers",
	"providers list":        "ragctx api GET /v1/providers",
	"sessions providers":    "ragctx api GET /v1/sessions/ID/providers",
	"sessions section":      "ragctx api PUT /v1/sessions/ID/sections/SECTION",
	"sessions fork":         "ragctx api POST /v1/sessions/ID:fork",
	"sessions navigate":     "ragctx api POST /v1/sessions/ID:navigate",
	"sessions label":        "ragctx api PUT /v1/sessions/ID/messages/MESSAGE/label",
	"sessions change":       "ragctx api PATCH /v1/sessions/ID",
	"sessions compactions":  "ragctx api GET /v1/sessions/ID/compactions",
	"sessions observations": "ragctx api GET /v1/sessions/ID/observations",
}

// replacement returns what does the work of a command that parent does not have, or "".
func replacement(parent *cobra.Command, name string) string {
	path := strings.TrimPrefix(parent.CommandPath()+" "+name, parent.Root().Name()+" ")
	return replacements[path]
}

// fieldFlags are the names of flags for fields that have another name.
var fieldFlags = map[string]string{
	"user_id": "user", "agent_id": "agent", "session_id": "session", "filter.session_id": "in-session", "context_types": "type",
	"memory_type": "type", "max_results": "limit", "namespaces": "only", "tags": "tag", "expires": "ttl", "filter": "filter",
}

// location is the part of a request that the location of a fault begins with.
var location = regexp.MustCompile(`^(?:body|query|path|header)\.`)

// asWritten returns the text of an error in which each field has the name that it has in the command line.
func asWritten(cmd *cobra.Command, err error) string {
	text := oneLine(err)
	if cmd.Name() == "api" { // its user writes requests
		return text
	}
	var fields []string
	if p, ok := errors.AsType[*api.Problem](err); ok {
		for _, f := range p.Errors {
			fields = append(fields, f.Location)
		}
	} else if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		fields = append(fields, f.Field)
	}
	for _, field := range fields {
		plain := location.ReplaceAllLiteralString(field, "")
		name := writtenName(cmd, plain)
		if plain != field { // the location of a fault, which no message has by chance
			text = strings.ReplaceAll(text, field+" ", name+" ")
		}
		for _, prefix := range []string{field, plain} {
			text = regexp.MustCompile(`(^|; )`+regexp.QuoteMeta(prefix)+`: `).ReplaceAllString(text, "${1}"+name+": ")
		}
	}
	for field, flag := range fieldFlags { // such a name with an underscore is no word of a sentence
		if strings.Contains(field, "_") && hasFlag(cmd, flag) {
			text = regexp.MustCompile(`\b`+regexp.QuoteMeta(field)+`\b`).ReplaceAllLiteralString(text, "--"+flag)
		}
	}
	return text
}

// hasFlag reports whether cmd has a flag of its own, or the namespace.
func hasFlag(cmd *cobra.Command, flag string) bool {
	return cmd.NonInheritedFlags().Lookup(flag) != nil || flag == "namespace"
}

// writtenName returns the flag or the argument of cmd for a field, or the field if it has neither.
func writtenName(cmd *cobra.Command, field string) string {
	root, _, _ := strings.Cut(field, "[")
	dashed := strings.ReplaceAll(root, "_", "-")
	for _, flag := range []string{fieldFlags[root], "json-" + dashed, dashed} {
		if flag != "" && hasFlag(cmd, flag) {
			return "--" + flag
		}
	}
	argument := strings.ToUpper(dashed)
	if slices.Contains(strings.FieldsFunc(cmd.Use, func(r rune) bool { return strings.ContainsRune(" []|", r) }), argument) {
		return argument
	}
	return field
}
