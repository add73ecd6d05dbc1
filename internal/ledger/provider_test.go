package ledger_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

func TestProvider(t *testing.T) {
	log := newLog()
	snap := ledger.NewSnapshotter(log, folder(t, nil), slog.New(slog.DiscardHandler))
	t.Cleanup(snap.Close)
	m := publish(t, log,
		ledger.Message{Topic: "PLAN_READY", Text: "rotate the signing keys"},
		ledger.Message{Topic: "CHAT", Sender: "ann", Text: "the keys are in the vault " + strings.Repeat("x ", 600)},
		ledger.Message{Topic: "CHAT", Text: "lunch?"},
		ledger.Message{Topic: "AGENT_OUTPUT", Text: "keys keys keys"},
		ledger.Message{Topic: "CHAT", Text: "the keys, raw", Metadata: json.RawMessage(`{"contextSafe":false}`)},
		ledger.Message{Topic: "REVIEW", Sender: "bob", Data: json.RawMessage(`{"finding":"expired certificates"}`)},
	)
	p := ledger.NewProvider(log, snap.State)
	const state = "state:c"
	q := func(text string) ragctx.ContextQuery {
		q := ragctx.ContextQuery{Query: text}.WithDefaults()
		return q.WithParam(ledger.ParamCluster, "c")
	}
	filtered := func(f ragctx.Filter) ragctx.ContextQuery { q := q("keys"); q.Filter = f; return q }
	asOf := q("keys")
	asOf.AsOf = m[0].Time()
	exclude := q("keys")
	exclude.Exclude = []string{state, m[1].ID}
	foreign := q("keys")
	foreign.Namespace = "other"
	for name, tt := range map[string]struct {
		q    ragctx.ContextQuery
		want []string
	}{
		"no cluster":          {ragctx.ContextQuery{Query: "keys"}.WithDefaults(), nil},
		"other types":         {q("keys").WithTypes(ragctx.TypeResource), nil},
		"foreign namespace":   {foreign, nil},
		"words":               {q("where is the vault of the keys"), []string{state, m[1].ID, m[0].ID}},
		"words in data":       {q("certificates"), []string{state, m[5].ID}},
		"nothing asked":       {q(""), []string{state, m[5].ID, m[2].ID, m[1].ID, m[0].ID}},
		"at most":             {q("keys").WithMaxResults(2), []string{state, m[1].ID}},
		"as of":               {asOf, []string{m[0].ID}},
		"excluded":            {exclude, []string{m[0].ID}},
		"filtered by sender":  {filtered(ragctx.Filter{Metadata: map[string]string{"sender": "ann"}}), []string{m[1].ID}},
		"filtered by topic":   {filtered(ragctx.Filter{Sources: []string{"ledger:c/PLAN*"}}), []string{m[0].ID}},
		"filtered by time":    {filtered(ragctx.Filter{OccurredAfter: m[1].Time()}), []string{m[1].ID}},
		"filtered by an end":  {filtered(ragctx.Filter{OccurredBefore: m[1].Time()}), []string{m[0].ID}},
		"filtered by a tag":   {filtered(ragctx.Filter{Tags: []string{"x"}}), nil},
		"nothing fits at all": {filtered(ragctx.Filter{OccurredAfter: time.Now().Add(time.Hour)}), nil},
	} {
		res, err := p.Query(t.Context(), tt.q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, it := range res.Items {
			got = append(got, it.ID)
		}
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	res, err := p.Query(t.Context(), q("vault").WithDepth(ragctx.DepthAbstract))
	if err != nil || len(res.Items) != 2 || len(res.Items[1].Content) != 500 || res.Items[1].Depth != ragctx.DepthAbstract {
		t.Errorf("abstract: %+v, %v", res.Items, err)
	}
	res, err = p.Query(t.Context(), q("vault").WithDepth(ragctx.DepthFull))
	if err != nil || len(res.Items[1].Forms.Shorter) != 1 || len(res.Items[1].Content) < 1200 {
		t.Errorf("full: %+v, %v", res.Items, err)
	}
	if res.Items[0].Content != "Plan: rotate the signing keys" {
		t.Errorf("state: %q", res.Items[0].Content)
	}
	if res, _ := p.Query(t.Context(), foreign); res.Note == "" {
		t.Error("an empty answer does not say why")
	}
}

// What may not be shown does not hide what was said before it.
func TestProviderLooksBeyondOutput(t *testing.T) {
	log := newLog()
	snap := ledger.NewSnapshotter(log, folder(t, nil), slog.New(slog.DiscardHandler))
	t.Cleanup(snap.Close)
	said := publish(t, log, ledger.Message{Topic: "CHAT", Text: "the keys are in the vault"})
	for range 6 {
		publish(t, log, slices.Repeat([]ledger.Message{{Topic: "AGENT_OUTPUT", Text: "keys"}}, 500)...)
	}
	p := ledger.NewProvider(log, snap.State)
	res, err := p.Query(t.Context(), ragctx.ContextQuery{Query: "keys"}.WithDefaults().WithParam(ledger.ParamCluster, "c"))
	if err != nil || len(res.Items) != 1 || res.Items[0].ID != said[0].ID {
		t.Errorf("%+v, %v", res, err)
	}
}
