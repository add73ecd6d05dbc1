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
	"github.com/ragctx/ragctx/web/internal/html"
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
		html.F(`<form class="ask" id="ask" method="get" action={} hx-get={} hx-trigger="submit, input delay:15ms, again"
			hx-target="#answer" hx-sync="this:replace">{}
			<div class="question"><label><span>Question</span>
			<textarea name="q" rows="2" maxlength={} autofocus={} placeholder="What would the agent ask?">{}</textarea></label>
			<button class="main">Ask</button></div><div class="scope"><label><span>User</span>
			<input name="user" value={} placeholder="no user" maxlength="512" autocomplete="off"></label>
			<fieldset class="types"><legend>Search in</legend>{}</fieldset><label class="check">
			<input type="checkbox" name="compare" value="1" checked={}>
			<span>Compare two settings</span></label></div>{}{}</form>`,
			playgroundPath, playgroundPath+"/answer", v.namespaceField(), maxQuestion, q.text == "", q.text, q.user, typeBoxes(q),
			q.compare, q.settings[0].fields("Setting"), q.settings[1].fields("Second setting")),
		html.F(`<div id="answer" aria-live="off">{}</div>`, answer),
	}, nil
}

func typeBoxes(q question) (boxes html.List) {
	for _, t := range itemTypes {
		boxes = append(boxes, html.F(`<label class="check"><input type="checkbox" name="type" value={} checked={}>
			<span>{}</span></label>`,
			t.value, len(q.types) == 0 || slices.Contains(q.types, t.value), t.name))
	}
	return boxes
}

// fields are the fields of a setting.
func (s setting) fields(name string) html.Part {
	id := s.prefix + "max_tokens"
	return html.F(`<fieldset class="setting" data-second={}><legend class="unseen">{}</legend><div class="budget"><label for={}>
			<span>Budget in tokens</span></label>
			<input type="range" min="0" max="1000" data-slides={} value={} aria-label="Budget, as a slider">
			<input class="tokens" id={} type="number" name={} value={} min="1" max="10000000" required></div>
			<label><span>Items</span><input class="items" type="number" name={} value={} min="1" max="1000" required></label>{}{}{}
			<label><span>As of (UTC)</span><input type="datetime-local" name={} value={}></label></fieldset>`,
		s.prefix != "", name, id, id, slideOf(s.tokens), id, id, s.tokens, s.prefix+"max_results", s.items,
		selection("Depth", s.prefix+"depth", s.depth, depths), selection("Format", s.prefix+"format", s.format, formats),
		selection("Tokenizer", s.prefix+"tokenizer", s.tokenizer, tokenizers), s.prefix+"as_of", s.asOf)
}

// selection is a field with choices.
func selection(label, name, now string, all []choice) html.Part {
	var options html.List
	for _, c := range all {
		options = append(options, html.F(`<option value={} selected={}>{}</option>`, c.value, c.value == now, c.name))
	}
	return html.F(`<label><span>{}</span><select name={}>{}</select></label>`, label, name, options)
}
