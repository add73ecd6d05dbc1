package api

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/xmlfmt"
)

var textID = regexp.MustCompile(`(?m)^\[\d+\] .* id=("(?:[^"\\]|\\.)*")`)

// renderedIDs reads the ids of items from a rendered answer.
func renderedIDs(t *testing.T, a resolve.Answer) (ids []string) {
	t.Helper()
	type cited struct {
		ID string `xml:"id,attr"`
	}
	var all []cited
	switch a.Format {
	case xmlfmt.JSON:
		if err := json.Unmarshal([]byte(a.Rendered()), &all); err != nil {
			t.Fatal(err)
		}
	case xmlfmt.Text:
		for _, m := range textID.FindAllStringSubmatch(a.Rendered(), -1) {
			id, err := strconv.Unquote(m[1])
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
	default:
		var root struct {
			Items     []cited `xml:"context"`
			Documents []cited `xml:"documents>document"`
		}
		if err := xml.Unmarshal([]byte("<root>"+a.Rendered()+"</root>"), &root); err != nil {
			t.Fatal(err)
		}
		all = slices.Concat(root.Items, root.Documents)
	}
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestCitationsOpen: whatever is shown, in whichever form, is opened by the id that stands with it.
func TestCitationsOpen(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"docs/heron.md", "a \"b\" <c> & 'd'@1#0.md", "two\nlines\tand\ra return", "\u202etxt.exe\u2066", "日本語/鷺", "hid\u200bden\U000E0041/鷺.md"} {
		if _, err := f.eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: id, Text: fmt.Sprintf("# Heron %q\n\nThe heron rolls back at night.", id)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	f.remembered(t, `{"content":"The heron rolls back on Fridays."}`)
	if _, err := f.eng.CompleteTurn(t.Context(), ragctx.Turn{SessionID: "s", Prompt: "Who rolls back heron?", Response: "Ada does."}); err != nil {
		t.Fatal(err)
	}
	k := engine.ProcedureKey{Name: "roll-back-heron"}
	if _, err := f.eng.Procedures().PutDraft(t.Context(), k, ragctx.ProcedureBody{Trigger: "roll back heron", Steps: []string{"Run it."}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.eng.Procedures().Publish(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	f.say(t, ledger.Message{Namespace: "default", Cluster: "c", Topic: "NOTE", Sender: "ada", Receiver: "broadcast", Text: "The heron was rolled back."})

	kinds := make(map[ragctx.ContextType]bool)
	for _, format := range xmlfmt.Names() {
		for _, blocks := range []bool{false, true} {
			q := ragctx.NewQuery("how do I roll back heron?").WithMaxResults(20).WithParam("cluster", "c")
			q.Format, q.Blocks, q.MinRelevance = format, blocks, new(0.0) // passages, not sentences of them
			a, err := f.client.Context(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			rendered := []resolve.Answer{a}
			if blocks {
				rendered = nil
				for _, b := range a.Blocks {
					if b.Text != "" {
						rendered = append(rendered, resolve.Answer{Format: format, Text: b.Text})
					}
				}
			}
			var ids []string
			for _, r := range rendered {
				ids = append(ids, renderedIDs(t, r)...)
			}
			if len(ids) != len(a.Items) || len(ids) < 8 {
				t.Fatalf("%s: %d ids of %d items:\n%s", format, len(ids), len(a.Items), a.Rendered())
			}
			for i, id := range ids {
				it := into[Item](t, f.call(t, "GET", "/v1/items/"+url.PathEscape(id), ""), 200)
				if it.Type != a.Items[i].Type || id != a.Items[i].ID || it.Type != ragctx.TypeSkill && !strings.Contains(a.Items[i].Content, strings.TrimSpace(it.Text)) {
					t.Errorf("%s: %q of %q opens %+v", format, id, a.Items[i].Content, it)
				}
				kinds[it.Type] = true
			}

			q.Citations = new(false)
			if a, err = f.client.Context(t.Context(), q); err != nil || strings.Contains(a.Rendered(), " id=") || strings.Contains(a.Rendered(), `"id":`) {
				t.Errorf("%s without citations: %v\n%s", format, err, a.Rendered())
			}
		}
	}
	if len(kinds) != 3 {
		t.Errorf("not all kinds are cited: %v", kinds)
	}
}
