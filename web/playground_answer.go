package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx/web/internal/html"
)

// Budgets of the slider: it is logarithmic, so that each step is the same share.
const (
	leastBudget = 50
	mostBudget  = 50_000
)

// slideOf returns the place of a budget on the slider, 0 to 1000.
func slideOf(tokens int) int {
	at := math.Log(float64(max(tokens, leastBudget))/leastBudget) / math.Log(mostBudget/leastBudget)
	return int(math.Round(1000 * min(at, 1)))
}

// foundItems has the fields of an answer of /v1/search that the pages show.
type foundItems struct {
	Items       []answerItem
	Degraded    []string
	Unquoted    []string
	Corrections []struct{ Word, As string }
}

// answerOf has the fields of an answer of /v1/context that the playground shows.
type answerOf struct {
	foundItems

	XML, Text   string
	TotalTokens int `json:"total_tokens"`
	Dropped     []struct {
		ID, Provider, Reason string
		Tokens               int
	}
	Shortened []struct {
		ID, Reason, Depth string
		Saved             int `json:"tokens_saved"`
	}
	Note      string
	Providers []struct {
		Name     string
		Returned int     `json:"items_returned"`
		Used     int     `json:"items_used"`
		Took     float64 `json:"took_ms"`
		Error    string
		Note     string
	}
}

// answerItem is an item of an answer or of a search.
type answerItem struct {
	ID         string
	Type       string `json:"context_type"`
	Content    string
	Tokens     int `json:"token_count"`
	Relevance  float64
	Source     string
	Provider   string
	Metadata   map[string]any
	Signals    map[string]float64
	Highlights struct {
		Matches []struct{ Start, End int }
	}
}

// showAnswer answers the question of the form.
func showAnswer(v *visit) (html.Part, error) {
	q, err := readQuestion(v.r)
	if err != nil {
		return nil, err
	}
	if v.partial() {
		v.w.Header().Set("HX-Replace-Url", playgroundPath+"?"+v.r.URL.RawQuery)
	}
	if q.text == "" {
		return v.nothingAsked()
	}
	n := 1
	if q.compare {
		n = 2
	}
	var columns html.List
	for _, s := range q.settings[:n] {
		one, err := v.answered(q, s, q.compare)
		if err != nil {
			return nil, err
		}
		columns = append(columns, one)
	}
	return html.F(`<div class="answers" data-compare={}>{}</div>`, q.compare, columns), nil
}

// nothingAsked explains the page. In a namespace without documents it leads to the page that stores some.
func (v *visit) nothingAsked() (html.Part, error) {
	some, err := get[struct{ Documents []document }](v, "/v1/documents", v.query("limit", "1"))
	if err != nil {
		return nil, err
	}
	return html.List{
		html.F(`<p class="empty">Ask something. The page shows the items that were found and why they rank as they do, the text
			that a model would see, and its cost. Everything follows the form as you change it.</p>`),
		html.If(len(some.Documents) == 0, html.F(`<p class="note">This namespace has no documents yet. Store some on the
			page <a href={}>Documents</a>.</p>`,
			v.link(documentsPath))),
	}, nil
}

// answered shows the answer for one setting.
func (v *visit) answered(q question, s setting, compare bool) (html.Part, error) {
	body := q.body(s)
	body["explain"] = true
	wider := maps.Clone(body)
	wider["max_results"], wider["highlight"] = max(rankedItems, s.items), true
	var found foundItems
	var a answerOf
	var err, failed error
	var both sync.WaitGroup
	both.Go(func() { found, failed = send[foundItems](v, http.MethodPost, "/v1/search", v.query(), wider) })
	a, err = send[answerOf](v, http.MethodPost, "/v1/context", v.query(), body)
	both.Wait()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	name := "Answer"
	if compare {
		name = "Answer with the first setting"
		if s.prefix != "" {
			name = "Answer with the second setting"
		}
	}
	return html.F(`<section class="answer" aria-label={}>{}{}<div class="sides"><div class="ranked"><h2>Ranking</h2>
			<p class="quiet small legend">A bar is the strength of a signal; # is the place by that signal alone, or before
			the reranker. The number at the right is the relevance.</p>{}</div><div class="rendered">
			<h2>What the model sees</h2>{}{}</div></div></section>`,
		name, a.budgetBar(s), a.remarks(), v.ranking(rank(found.Items, a)), a.rendering(s.format), v.codeOf(q, s)), nil
}

// budgetBar shows the share of the budget that each item takes.
func (a answerOf) budgetBar(s setting) html.Part {
	var parts []part
	used := 0
	for i, it := range a.Items {
		used += it.Tokens
		parts = append(parts, part{
			float64(it.Tokens), []string{"even", "odd"}[i%2],
			fmt.Sprintf("%d. %s: %s", i+1, nameOf(it), amount(it.Tokens, "token")),
		})
	}
	frame := a.TotalTokens - used
	if frame > 0 {
		parts = append(parts, part{float64(frame), "frame", "tags and citations: " + amount(frame, "token")})
	}
	label := fmt.Sprintf("%s of %s tokens", grouped(a.TotalTokens), grouped(s.tokens))
	detail := fmt.Sprintf("%s, %s for tags and citations, %s left", amount(len(a.Items), "item"), grouped(max(frame, 0)),
		grouped(s.tokens-a.TotalTokens))
	return html.F(`<div class="spent"><p><strong class="number">{}</strong> <span class="quiet">{}</span></p>{}</div>`,
		label, detail, stack(float64(s.tokens), label+": "+detail, parts...))
}

// remarks are the notes of an answer: empty results, corrections, signals that did not run.
func (a answerOf) remarks() html.Part {
	var list html.List
	add := func(format string, args ...any) {
		list = append(list, html.F(`<p class="remark">{}</p>`, fmt.Sprintf(format, args...)))
	}
	if a.Note != "" {
		add("%s", sentence(a.Note))
	}
	for _, c := range a.Corrections {
		add("No text contains “%s”; “%s” was searched for.", c.Word, c.As)
	}
	for _, phrase := range a.Unquoted {
		add("No text contains the phrase “%s”; its words were searched for.", phrase)
	}
	for _, d := range a.Degraded {
		add("Did not run: %s.", d)
	}
	for _, p := range a.Providers {
		if p.Error != "" {
			add("%s failed: %s", p.Name, sentence(p.Error))
		}
	}
	return list
}

// signal is a signal of the ranking with its names in REST.
type signal struct {
	name  string
	parts []string
}

var signals = []signal{
	{"Words", []string{"keyword"}},
	{"Vectors", []string{"vector"}},
	{"Time", []string{"speaks_of_time", "within_time"}},
	{"Dialogue", []string{"neighbours", "session", "speaker", "user"}},
	{"Rerank", []string{"rerank"}},
	{"Trigger", []string{"trigger_said"}},
}

// of returns the strength of the signal for an item, and whether the item has it.
func (s signal) of(it answerItem) (sum float64, has bool) {
	for _, p := range s.parts {
		x, ok := it.Signals[p]
		sum, has = sum+x, has || ok
	}
	return sum, has
}

// rankedItem is an item with its place and its fate.
type rankedItem struct {
	answerItem

	shown     int // number in the answer; 0 is not shown
	fate      string
	dropped   bool
	elsewhere bool           // the setting does not reach it
	before    map[string]int // place by each signal alone
	reranked  int            // place before the reranker; 0 without one
}

// rank joins the items of a search with their fate in the answer. Items that only the answer has come
// last.
func rank(found []answerItem, a answerOf) []rankedItem {
	shown := make(map[string]int)
	for i, it := range a.Items {
		shown[it.ID] = i + 1
	}
	var all []rankedItem
	for _, it := range found {
		all = append(all, rankedItem{answerItem: it, before: make(map[string]int)})
	}
	listed := len(all)
	for _, it := range a.Items {
		if !slices.ContainsFunc(found, func(f answerItem) bool { return f.ID == it.ID }) {
			all = append(all, rankedItem{answerItem: it, before: make(map[string]int)})
		}
	}
	for i := range all {
		it := &all[i]
		if it.shown = shown[it.ID]; it.shown > 0 {
			it.fate = "shown, " + amount(a.Items[it.shown-1].Tokens, "token")
			if i >= listed && it.Relevance == 0 {
				it.fate = "in every answer for this user, " + amount(a.Items[it.shown-1].Tokens, "token")
			}
		} else {
			it.fate, it.elsewhere = "not among the items of this setting", true
		}
		for _, d := range a.Dropped {
			if d.ID == it.ID {
				it.fate, it.dropped = fmt.Sprintf("%s, %s", cmp.Or(dropReasons[d.Reason], d.Reason), amount(d.Tokens, "token")), true
				it.elsewhere = false
			}
		}
		for _, s := range a.Shortened {
			if s.ID == it.ID {
				it.fate += fmt.Sprintf("; %s, %s saved", cmp.Or(cutReasons[s.Reason], s.Reason), amount(s.Saved, "token"))
			}
		}
	}
	place(all)
	return all
}

// place finds the place of each item by each signal alone, and that before the reranker.
func place(all []rankedItem) {
	for _, s := range signals[:4] {
		order := make([]int, 0, len(all))
		for i := range all {
			if x, has := s.of(all[i].answerItem); has && x > 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int {
			x, _ := s.of(all[i].answerItem)
			y, _ := s.of(all[j].answerItem)
			return cmp.Compare(y, x)
		})
		for at, i := range order {
			all[i].before[s.name] = at + 1
		}
	}
	for i := range all {
		x, has := all[i].Signals["before_rerank"]
		if !has {
			continue
		}
		all[i].reranked = 1
		for j := range all {
			if all[j].Signals["before_rerank"] > x {
				all[i].reranked++
			}
		}
	}
}

// dropReasons and cutReasons explain the reasons of REST.
var (
	dropReasons = map[string]string{
		"budget": "dropped: no form of it fits the rest of the budget", "max_results": "dropped: below the last item",
		"source_cap": "dropped: its source used its share", "duplicate": "dropped: repeats a better item",
		"min_relevance": "dropped: too little relevance", "excluded": "dropped: excluded by the request",
		"type":  "dropped: of another type",
		"empty": "dropped: has no content", "no_id": "dropped: has no id",
	}
	cutReasons = map[string]string{"budget": "shortened to fit the budget", "far_behind": "shortened: far behind the best item"}
)

// nameOf returns the title of an item for people.
func nameOf(it answerItem) string {
	title, _ := it.Metadata["title"].(string)
	heading, _ := it.Metadata["heading"].(string)
	return cmp.Or(heading, title, excerpt(it.Content, 70), it.ID)
}

// ranking lists the items with a bar per signal.
func (v *visit) ranking(all []rankedItem) html.Part {
	if len(all) == 0 {
		return html.F(`<p class="empty">Nothing was found. <a href={}>Why?</a></p>`, playgroundPath+"/why?"+v.r.URL.RawQuery)
	}
	rest := all[len(all):]
	for i := len(all); i > 0 && all[i-1].elsewhere; i-- {
		all, rest = all[:i-1], all[i-1:]
	}
	return html.List{
		html.F(`<ol class="items">{}</ol>`,
			rows(v, all, 0)), html.If(len(rest) > 0, html.F(`<details class="rest"><summary>{}</summary>
			<ol class="items">{}</ol></details>`,
			"Found as well, beyond this setting: "+amount(len(rest), "item"), rows(v, rest, len(all)))),
		html.F(`<p class="small"><a href={}>Why is something missing?</a></p>`, playgroundPath+"/why?"+v.r.URL.RawQuery),
	}
}

// rows are the rows of items. The first has the place after a number.
func rows(v *visit, all []rankedItem, after int) (list html.List) {
	for i, it := range all {
		class := ""
		if it.shown == 0 {
			class = "out"
		}
		list = append(list, html.F(`<li class={}><span class="place number">{}</span>
			<div class="item"><p class="name">{} <span class="quiet small">{}</span></p>
			<p class="fate small" data-dropped={}>{}</p><dl class="signals">{}</dl>
			<details><summary class="small">{}</summary><pre>{}</pre></details></div>
			<span class="relevance number" title="relevance">{}</span></li>`,
			html.When(class != "", class), after+i+1, v.itemLink(it.answerItem), it.Source, it.dropped, it.fate, it.bars(),
			excerpt(it.Content, 110), marked(it.answerItem), decimal(it.Relevance)))
	}
	return list
}

// bars shows each signal of an item, with its place by that signal alone, and for the reranker its place before.
func (it rankedItem) bars() (list html.List) {
	for _, s := range signals {
		x, has := s.of(it.answerItem)
		if !has {
			continue
		}
		at := it.before[s.name]
		if s.name == "Rerank" {
			at = it.reranked
		}
		list = append(list, html.F(`<div><dt>{}</dt><dd>{}<span class="number">{}</span><span class="number quiet">{}</span></dd></div>`,
			s.name, bar(x), decimal(x), html.If(at > 0, html.Text(fmt.Sprintf("#%d", at)))))
	}
	return list
}

// itemLink leads to the document of an item.
func (v *visit) itemLink(it answerItem) html.Part {
	if id, _ := it.Metadata["document"].(string); id != "" && it.Provider == "docs" {
		return html.F(`<a href={}>{}</a>`,
			v.oneDocument(id, "version", versionOf(it.ID), "chunk", ordinal(it.ID))+"#chunk-"+ordinal(it.ID), nameOf(it))
	}
	return html.F(`<span>{}</span>`, nameOf(it))
}

// versionOf returns the version in the id of a passage, such as 3 of docs/a.md@3#4.
func versionOf(item string) string {
	item = item[:max(0, strings.LastIndexByte(item, '#'))]
	return item[strings.LastIndexByte(item, '@')+1:]
}

// excerpt returns the first words of a text, at most limit characters.
func excerpt(text string, limit int) string {
	fields := strings.Join(strings.Fields(text[:min(len(text), 4*limit)]), " ")
	if r := []rune(fields); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return fields
}

// marked returns the text of an item with the words of the question marked.
func marked(it answerItem) (list html.List) {
	at := 0
	for _, m := range it.Highlights.Matches {
		if m.Start < at || m.End > len(it.Content) || m.End < m.Start {
			continue
		}
		list = append(list, html.Text(it.Content[at:m.Start]), html.F(`<mark>{}</mark>`, it.Content[m.Start:m.End]))
		at = m.End
	}
	return append(list, html.Text(it.Content[at:]))
}

// beginnings match the beginning of an item in each format. Content is escaped or indented.
var beginnings = map[string]*regexp.Regexp{
	"xml": regexp.MustCompile(`(?m)^<context `), "documents": regexp.MustCompile(`(?m)^<document index=`),
	"text": regexp.MustCompile(`(?m)^\[\d+\] `), "json": regexp.MustCompile(`\{"source":`),
}

// rendering shows the rendered answer, cut into its items.
func (a answerOf) rendering(format string) html.Part {
	text := cmp.Or(a.XML, a.Text)
	if text == "" {
		return html.F(`<p class="empty">Nothing: the model would see no context.</p>`)
	}
	var cuts [][]int
	if re := beginnings[format]; re != nil {
		cuts = re.FindAllStringIndex(text, -1)
	}
	if len(cuts) != len(a.Items) {
		return html.F(`<pre class="model">{}</pre>`, text)
	}
	list := html.List{html.If(cuts[0][0] > 0, html.F(`<pre class="model">{}</pre>`, text[:cuts[0][0]]))}
	for i, it := range a.Items {
		end := len(text)
		if i+1 < len(cuts) {
			end = cuts[i+1][0]
		}
		list = append(list, html.F(`<figure><figcaption class="small"><span class="number">{}</span>
			<span class="number">{}</span></figcaption>
			<pre class="model">{}</pre></figure>`,
			fmt.Sprintf("%d.", i+1), amount(it.Tokens, "token"), strings.TrimRight(text[cuts[i][0]:end], "\n")))
	}
	return list
}

// showWhy explains step by step what keeps items out of the answer.
func showWhy(v *visit) (html.Part, error) {
	q, err := readQuestion(v.r)
	if err != nil {
		return nil, err
	}
	x, err := send[struct {
		Items    int
		Findings []struct {
			Step, Found, Remedy string
			Problem             bool
		}
	}](v, http.MethodPost, "/v1/explain", v.query(), q.body(q.settings[0]))
	if err != nil {
		return nil, err
	}
	v.title = "Why is something missing?"
	var rows html.List
	for _, f := range x.Findings {
		rows = append(rows, html.F(`<tr data-problem={}><th scope="row">{}</th><td><p>{}{}</p>{}</td></tr>`,
			f.Problem, f.Step, html.If(f.Problem, html.F(`<strong class="fault">Problem: </strong>`)), sentence(f.Found),
			html.If(f.Remedy != "", html.F(`<p class="quiet">{}</p>`, sentence(f.Remedy)))))
	}
	return html.List{
		heading(v.title, html.F(`<a class="button" href={}>Back to the answer</a>`, playgroundPath+"?"+v.r.URL.RawQuery)),
		html.F(`<p>{}</p>`, "“"+q.text+"” has "+amount(x.Items, "item")+" in its answer."),
		html.F(`<table class="findings"><tbody>{}</tbody></table>`, rows),
	}, nil
}
