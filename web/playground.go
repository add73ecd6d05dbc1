package web

import (
	"net/http"

	"github.com/ragctx/ragctx/web/html"
)

// showPlayground asks a question and shows the answer as a model sees it.
func showPlayground(v *visit) (html.Part, error) {
	question := v.param("q")
	var answer html.Part
	if question != "" {
		a, err := send[struct {
			XML  string
			Note string
		}](v, http.MethodPost, "/v1/context", v.query(), map[string]any{"query": question})
		if err != nil {
			return nil, err
		}
		answer = html.List{html.E("pre.panel", html.Text(a.XML)), html.If(a.Note != "", html.E("p.note", html.Text(sentence(a.Note))))}
	}
	return html.List{
		heading("Playground"),
		html.E("form", html.A("method", "get"),
			html.E("label", html.E("span", html.Text("Question")), html.E("input", html.A("name", "q"), html.A("value", question))),
			html.E("button.main", html.Text("Ask"))),
		answer,
	}, nil
}
