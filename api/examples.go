package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// examplesText holds requests in an order in which a new server can answer them, and the answers; a
// test verifies them. The first request of an operation is its example.
//
//go:embed examples.json
var examplesText []byte

// example is a request and its answer.
type example struct {
	Operation string `json:"operation"`
	Request   string `json:"request"`        // method and path; $op stands for the id in that operation's answer
	Type      string `json:"type,omitempty"` // media type of the body; default is JSON
	// Body and Answer are JSON, or a JSON string with a text of another type.
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Shown is a handwritten substitute for an endless or unsuitable answer. Varies marks an answer
	// that differs between runs.
	Shown  string `json:"shown,omitempty"`
	Varies bool   `json:"varies,omitempty"`
}

func readExamples() (all []example) {
	if err := json.Unmarshal(examplesText, &all); err != nil {
		panic(err) // a programming error that any test run finds
	}
	return all
}

// exemplify adds examples to the operations of doc.
func exemplify(doc *huma.OpenAPI) {
	ops := make(map[string]*huma.Operation)
	for _, op := range operations(doc) {
		ops[op.OperationID] = op
	}
	ids := make(map[string]string)
	for _, e := range readExamples() {
		e.Request, e.Body = resolved(e.Request, ids), resolvedBody(e.Body, ids)
		if id := idIn(e.Answer); id != "" {
			ids[e.Operation] = id
		}
		if op := ops[e.Operation]; op != nil && op.Extensions["x-codeSamples"] == nil {
			e.put(op)
		}
	}
}

// put makes e the example of op.
func (e example) put(op *huma.Operation) {
	if op.Extensions == nil {
		op.Extensions = make(map[string]any)
	}
	op.Extensions["x-codeSamples"] = []map[string]string{{"lang": "shell", "source": e.curl()}}
	if e.Body != nil {
		op.RequestBody.Content[e.mediaType()].Example = e.Body
	}
	answer := e.Answer
	if e.Shown != "" {
		answer, _ = json.Marshal(e.Shown) // a string: cannot fail
	}
	if r := op.Responses[strconv.Itoa(e.Status)]; r != nil && answer != nil {
		for _, media := range slices.Sorted(maps.Keys(r.Content)) {
			own := *r.Content[media] // shared by other statuses
			own.Example = answer
			r.Content = map[string]*huma.MediaType{media: &own}
		}
	}
}

func (e example) mediaType() string {
	if e.Type == "" {
		return jsonType
	}
	return e.Type
}

// contentType is the media type with the boundary of a form.
func (e example) contentType() string {
	if e.Type == formType {
		return e.Type + "; boundary=b"
	}
	return e.mediaType()
}

// curl returns the request as a curl command.
func (e example) curl() string {
	method, target, _ := strings.Cut(e.Request, " ")
	var b strings.Builder
	b.WriteString("curl -s ")
	if method != "GET" {
		fmt.Fprintf(&b, "-X %s ", method)
	}
	fmt.Fprintf(&b, "'http://127.0.0.1:7700%s'", target)
	if e.Body == nil {
		return b.String()
	}
	fmt.Fprintf(&b, " \\\n  -H 'Content-Type: %s' --data-binary @- <<'END'\n%s\nEND", e.contentType(),
		strings.TrimSuffix(e.body(), "\n"))
	return b.String()
}

// body returns the request body.
func (e example) body() string {
	var text string
	if e.Type != "" && json.Unmarshal(e.Body, &text) == nil {
		return text
	}
	return string(e.Body)
}

// resolved replaces $op references in a request by ids from earlier answers.
func resolved(request string, ids map[string]string) string {
	path, query, _ := strings.Cut(request, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if op, is := strings.CutPrefix(p, "$"); is {
			op, verb, has := strings.Cut(op, ":")
			if parts[i] = ids[op]; has {
				parts[i] += ":" + verb
			}
		}
	}
	if query != "" {
		query = "?" + query
	}
	return strings.Join(parts, "/") + query
}

// resolvedBody replaces the strings $op in a body by ids from earlier answers.
func resolvedBody(body json.RawMessage, ids map[string]string) json.RawMessage {
	for op, id := range ids {
		body = bytes.ReplaceAll(body, []byte(`"$`+op+`"`), []byte(`"`+id+`"`))
	}
	return body
}

// idIn returns the id in an answer, or "".
func idIn(answer json.RawMessage) string {
	var found struct {
		ID      string `json:"id"`
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
	}
	if json.Unmarshal(answer, &found) != nil {
		return ""
	}
	if found.ID == "" && len(found.Results) > 0 {
		return found.Results[0].ID
	}
	return found.ID
}
