package procedures

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
)

// A question for the way to do something is no question for a fact.
func TestAsksForFact(t *testing.T) {
	for question, want := range map[string]bool{
		"when does the certificate expire?": true, "¿Cuándo caduca el certificado?": true, "wie heißt der neue Kollege?": true,
		"Wie erneuere ich das Zertifikat?": false, "how do I restore a backup?": false, "what do I do to restore the orders database?": false,
		"que faire pour renouveler le certificat ?": false, "renew the certificate": false, "whatever, deploy it": false,
	} {
		if got := asksForFact(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

// late is an embedder that has no vector in time for some texts.
type late struct {
	embed.Embedder

	question, trigger bool
}

func (l *late) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if l.question {
		return nil, context.DeadlineExceeded
	}
	return l.Embedder.EmbedQuery(ctx, text)
}

func (l *late) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if l.trigger {
		return nil, context.DeadlineExceeded
	}
	return l.Embedder.EmbedDocuments(ctx, texts)
}

type one struct{ procedure PublishedProcedure }

func (o one) Published(context.Context, ragctx.ContextQuery) ([]PublishedProcedure, error) {
	return []PublishedProcedure{o.procedure}, nil
}

// TestWithoutVectors matches by words alone while vectors are missing, and says so.
func TestWithoutVectors(t *testing.T) {
	e := &late{Embedder: embed.NewHashing(64)}
	p := NewProvider(one{NewPublishedProcedure(ID{Name: "deploy", Version: 1}, "deploy the okapi service", time.Time{})},
		func() embed.Embedder { return e })
	for _, c := range []struct {
		question, trigger bool
		degraded          []string
	}{
		{true, false, []string{"vector"}},
		{false, true, []string{"vector"}},
		{true, true, []string{"vector"}},
		{false, false, nil},
		{false, true, nil}, // the vector of the trigger is kept
	} {
		e.question, e.trigger = c.question, c.trigger
		res, err := p.Query(t.Context(), ragctx.NewQuery("deploy the okapi service").WithDefaults())
		if err != nil || len(res.Items) != 1 || !slices.Equal(res.Degraded, c.degraded) {
			t.Errorf("%+v: %d items, degraded %v, %v", c, len(res.Items), res.Degraded, err)
		}
	}
}
