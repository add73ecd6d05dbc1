package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
)

const (
	playgroundPath = root + "/playground"
	maxQuestion    = 4000 // characters; the question is a part of the address
	// rankedItems is how many items the ranking shows at least, whether they fit the budget or not.
	rankedItems = 20
)

// choice is a named value of a setting.
type choice struct{ value, name string }

var (
	tokenizers = []choice{
		{"o200k_base", "o200k_base"},
		{"cl100k_base", "cl100k_base"},
		{"claude", "claude"},
		{"gemini", "gemini"},
		{"chars4", "chars4"},
	}
	formats   = []choice{{"xml", "XML"}, {"documents", "documents"}, {"json", "JSON"}, {"text", "text"}}
	depths    = []choice{{"overview", "overview"}, {"abstract", "abstract"}, {"full", "full"}}
	itemTypes = []choice{{"resource", "Documents"}, {"memory", "Memories"}, {"skill", "Procedures"}}
)

// setting is one of the two settings of a question.
type setting struct {
	prefix                   string // of its fields: "" or "b_"
	tokens, items            int
	tokenizer, format, depth string
	asOf                     string // as in the field: 2026-06-01T12:00
	exact                    bool
}

// question is what the form of the playground holds.
type question struct {
	text, user string
	types      []string
	compare    bool
	settings   [2]setting
}

// readQuestion reads the form from the address.
func readQuestion(r *http.Request) (q question, err error) {
	form := r.URL.Query()
	q.text, q.user, q.types, q.compare = strings.TrimSpace(form.Get("q")), form.Get("user"), form["type"], form.Get("compare") != ""
	for i, prefix := range [2]string{"", "b_"} {
		s := setting{
			prefix: prefix, asOf: form.Get(prefix + "as_of"), exact: form.Get(prefix+"exact") != "",
			tokenizer: cmp.Or(form.Get(prefix+"tokenizer"), tokenizers[0].value),
			format:    cmp.Or(form.Get(prefix+"format"), formats[0].value),
			depth:     cmp.Or(form.Get(prefix+"depth"), depths[0].value),
		}
		if s.tokens, err = number(form, prefix+"max_tokens", [2]int{4000, 1000}[i]); err != nil {
			return q, err
		}
		if s.items, err = number(form, prefix+"max_results", 10); err != nil {
			return q, err
		}
		if s.asOf != "" {
			if _, err := time.Parse(fieldTime, s.asOf); err != nil {
				return q, ragctx.Invalid(prefix+"as_of", "is %q; use a date and a time, such as 2026-06-01T12:00", ragctx.Clip(s.asOf))
			}
		}
		q.settings[i] = s
	}
	if len([]rune(q.text)) > maxQuestion {
		return q, ragctx.Invalid("q", "has more than %d characters; call POST /v1/context for longer questions", maxQuestion)
	}
	return q, nil
}

// fieldTime is the form of a time in a field of a browser.
const fieldTime = "2006-01-02T15:04"

func number(form url.Values, name string, usual int) (int, error) {
	text := form.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, ragctx.Invalid(name, "is %q; use a whole number", ragctx.Clip(text))
	}
	return n, nil
}

// body is the request of a setting. Fields with the value of the default are left out.
func (q question) body(s setting) map[string]any {
	b := map[string]any{"query": q.text, "max_tokens": s.tokens}
	for name, value := range map[string]string{
		"user_id": q.user, "tokenizer": without(s.tokenizer, tokenizers), "format": without(s.format, formats),
		"depth": without(s.depth, depths),
	} {
		if value != "" {
			b[name] = value
		}
	}
	if s.items != 10 {
		b["max_results"] = s.items
	}
	if n := len(q.types); n > 0 && n < len(itemTypes) {
		b["context_types"] = q.types
	}
	if at, err := time.Parse(fieldTime, s.asOf); err == nil {
		b["as_of"] = at.Format(time.RFC3339)
	}
	if s.exact {
		b["exact"] = true
	}
	return b
}

// without returns a value unless it is the first choice, which is the default.
func without(value string, all []choice) string {
	if value == all[0].value {
		return ""
	}
	return value
}

func playgroundPage() page {
	return page{path: playgroundPath, name: "Playground", view: showPlayground, also: map[string]view{
		"GET " + playgroundPath + "/answer": showAnswer, "GET " + playgroundPath + "/why": showWhy,
	}}
}

func showPlayground(v *visit) (html.Part, error) {
	q, err := readQuestion(v.r)
	if err != nil {
		return nil, err
	}
	answer, err := showAnswer(v)
	if err != nil {
		return nil, err
	}
	return html.List{
		heading("Playground"),
		html.E("form.ask#ask", html.A("method", "get"), html.A("action", playgroundPath), html.A("hx-get", playgroundPath+"/answer"),
			html.A("hx-trigger", "submit, input delay:15ms, again"), html.A("hx-target", "#answer"), html.A("hx-sync", "this:replace"),
			v.namespaceField(),
			html.E("div.question", html.E("label", html.T("span", "Question"),
				html.E("textarea", html.A("name", "q"), html.A("rows", "2"), html.Int("maxlength", maxQuestion),
					html.Flag("autofocus", q.text == ""),
					html.A("placeholder", "What would the agent ask?"), html.Text(q.text))),
				html.T("button.main", "Ask")),
			html.E("div.scope",
				html.E("label", html.T("span", "User"), html.E("input", html.A("name", "user"), html.A("value", q.user),
					html.A("placeholder", "no user"), html.A("maxlength", "512"), html.A("autocomplete", "off"))),
				html.E("fieldset.types", html.T("legend", "Search in"), typeBoxes(q)),
				html.E("label.check", html.E("input", html.A("type", "checkbox"), html.A("name", "compare"), html.A("value", "1"),
					html.Flag("checked", q.compare)), html.T("span", "Compare two settings")),
			),
			q.settings[0].fields("Setting"), q.settings[1].fields("Second setting"),
		),
		html.E("div#answer", html.A("aria-live", "off"), answer),
	}, nil
}

func typeBoxes(q question) (boxes html.List) {
	for _, t := range itemTypes {
		boxes = append(boxes, html.E("label.check", html.E("input", html.A("type", "checkbox"), html.A("name", "type"),
			html.A("value", t.value),
			html.Flag("checked", len(q.types) == 0 || slices.Contains(q.types, t.value))), html.T("span", t.name)))
	}
	return boxes
}

// fields are the fields of a setting.
func (s setting) fields(name string) html.Part {
	id := s.prefix + "max_tokens"
	return html.E("fieldset.setting", html.If(s.prefix != "", html.A("data-second", "")), html.T("legend.unseen", name),
		html.E("div.budget", html.E("label", html.A("for", id), html.T("span", "Budget in tokens")),
			html.E("input", html.A("type", "range"), html.A("min", "0"), html.A("max", "1000"), html.A("data-slides", id),
				html.A("value", strconv.Itoa(slideOf(s.tokens))), html.A("aria-label", "Budget, as a slider")),
			html.E("input.tokens#"+id, html.A("type", "number"), html.A("name", id), html.Int("value", s.tokens), html.A("min", "1"),
				html.A("max", "10000000"),
				html.A("required", ""))),
		html.E("label", html.T("span", "Items"), html.E("input.items", html.A("type", "number"), html.A("name", s.prefix+"max_results"),
			html.Int("value", s.items), html.A("min", "1"), html.A("max", "1000"), html.A("required", ""))),
		selection("Depth", s.prefix+"depth", s.depth, depths), selection("Format", s.prefix+"format", s.format, formats),
		selection("Tokenizer", s.prefix+"tokenizer", s.tokenizer, tokenizers),
		html.E("label", html.T("span", "As of (UTC)"), html.E("input", html.A("type", "datetime-local"), html.A("name", s.prefix+"as_of"),
			html.A("value", s.asOf))),
	)
}

// selection is a field with choices.
func selection(label, name, now string, all []choice) html.Part {
	var options html.List
	for _, c := range all {
		options = append(options, html.E("option", html.A("value", c.value), html.Flag("selected", c.value == now), html.Text(c.name)))
	}
	return html.E("label", html.T("span", label), html.E("select", html.A("name", name), options))
}
