package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/web/internal/html"
)

// codeOf shows a question as code in three languages.
func (v *visit) codeOf(q question, s setting) html.Part {
	body := q.body(s)
	if ns := v.namespace(); ns != "" {
		body["namespace"] = ns
	}
	server := "http://" + v.r.Host
	if v.r.TLS != nil || v.r.Header.Get("X-Forwarded-Proto") == "https" {
		server = "https://" + v.r.Host
	}
	var list html.List
	for _, lang := range []struct{ id, name, code string }{
		{"curl", "curl", curlCode(server, body, v.signed)},
		{"python", "Python", pythonCode(server, body, v.signed)},
		{"go", "Go", goCode(server, body, v.signed)},
	} {
		id := s.prefix + "code-" + lang.id
		list = append(list, html.F(`<details class="code"><summary>{}</summary><button type="button" data-copy={}>Copy</button>
			<pre id={}>{}</pre></details>`,
			lang.name, id, id, lang.code))
	}
	return html.F(`<div class="codes"><h2>As code</h2>{}</div>`, list)
}

// encoded returns a body in JSON with sorted keys. HTML characters stay as they are.
func encoded(body map[string]any) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(body) // strings, numbers and lists: cannot fail
	return strings.TrimSpace(buf.String())
}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func curlCode(server string, body map[string]any, key bool) string {
	header := ""
	if key {
		header = ` -H "Authorization: Bearer $RAGCTX_KEY"`
	}
	return fmt.Sprintf("curl -s %s%s -H 'Content-Type: application/json' -d %s\n", shell(server+"/v1/context"), header,
		shell(encoded(body)))
}

// python returns a value as a literal. JSON of texts, numbers and lists is Python as well.
func python(value any) string {
	if value == true {
		return "True"
	}
	b, _ := json.Marshal(value) // a text, a number or a list: cannot fail
	return string(b)
}

func pythonCode(server string, body map[string]any, key bool) string {
	var b strings.Builder
	b.WriteString("import json\n")
	if key {
		b.WriteString("import os\n")
	}
	b.WriteString("from urllib.request import Request, urlopen\n\nbody = {\n")
	for _, name := range slices.Sorted(maps.Keys(body)) {
		fmt.Fprintf(&b, "    %s: %s,\n", python(name), python(body[name]))
	}
	b.WriteString("}\nheaders = {\"Content-Type\": \"application/json\"}\n")
	if key {
		b.WriteString("headers[\"Authorization\"] = \"Bearer \" + os.environ[\"RAGCTX_KEY\"]\n")
	}
	fmt.Fprintf(&b, "with urlopen(Request(%s, json.dumps(body).encode(), headers)) as answer:\n    context = json.load(answer)\n",
		python(server+"/v1/context"))
	b.WriteString("print(context[\"xml\"] or context[\"text\"])\n")
	return b.String()
}

// goFields are the fields of ragctx.ContextQuery by their names in REST, with the type of the value.
var goFields = map[string]struct{ name, form string }{
	"query": {"Query", "%s"}, "max_tokens": {"MaxTokens", "%s"}, "max_results": {"MaxResults", "%s"}, "namespace": {"Namespace", "%s"},
	"user_id": {"UserID", "%s"}, "tokenizer": {"Tokenizer", "%s"}, "format": {"Format", "%s"},
	"depth": {"Depth", "ragctx.ContextDepth(%s)"},
	"exact": {"Exact", "%s"}, "context_types": {"ContextTypes", "[]ragctx.ContextType{%s}"},
}

func goCode(server string, body map[string]any, key bool) string {
	var fields strings.Builder
	for _, name := range slices.Sorted(maps.Keys(body)) {
		f, known := goFields[name]
		value := ""
		switch x := body[name].(type) {
		case string:
			value = strconv.Quote(x)
		case []string:
			for i, s := range x {
				if i > 0 {
					value += ", "
				}
				value += strconv.Quote(s)
			}
		default:
			value = fmt.Sprint(x)
		}
		if known {
			fmt.Fprintf(&fields, "\t\t%s: "+f.form+",\n", f.name, value)
		}
	}
	imports, time := "", ""
	if at, ok := body["as_of"].(string); ok {
		time = fmt.Sprintf("\tasOf, err := time.Parse(time.RFC3339, %s)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n", strconv.Quote(at))
		fields.WriteString("\t\tAsOf: asOf,\n")
		imports = "\t\"time\"\n"
	}
	options := "api.ClientOptions{}"
	if key {
		options = `api.ClientOptions{Key: os.Getenv("RAGCTX_KEY")}`
		imports = "\t\"os\"\n" + imports
	}
	return "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"log\"\n" + imports +
		"\n\t\"github.com/ragctx/ragctx\"\n\t\"github.com/ragctx/ragctx/api\"\n)\n\nfunc main() {\n" + time +
		"\tclient := api.NewClientWith(" + strconv.Quote(server) + ", " + options + ")\n" +
		"\tanswer, err := client.Context(context.Background(), ragctx.ContextQuery{\n" + fields.String() + "\t})\n" +
		"\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(answer.Rendered())\n}\n"
}
