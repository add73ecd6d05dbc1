package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

var errDown = errors.New("the model is down")

// calls is a model that answers each call with what it has counted, or fails.
type calls struct {
	OpenAI

	come []func() (Reply, error)
}

func (c *calls) Call(context.Context, Request) (Reply, error) {
	next := c.come[0]
	c.come = c.come[1:]
	return next()
}

// TestUsageIsToldOnce: what a call cost is told with the next view, and not again for one
// that is to be shorter, or after a call that failed.
func TestUsageIsToldOnce(t *testing.T) {
	var told []int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Used *int `json:"used_tokens"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if body.Used != nil {
			told = append(told, *body.Used)
		}
		if _, err := io.WriteString(w, "{}"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	counts := func(used int) func() (Reply, error) {
		return func() (Reply, error) { return Reply{Message: object{"role": "assistant"}.json(), Used: used}, nil }
	}
	fails := func(err error) func() (Reply, error) { return func() (Reply, error) { return Reply{}, err } }
	m := &calls{come: []func() (Reply, error){counts(900), fails(errTooLong), counts(700), fails(errDown), counts(600), counts(500)}}
	a := &Agent{Session: &Session{Caller: Caller{Client: server.Client()}, URL: server.URL, ID: "s", Format: "openai"}, Model: m, Window: 1000}
	for len(m.come) > 0 {
		if _, err := a.Turn(t.Context(), "go on"); err != nil && !errors.Is(err, errDown) {
			t.Fatal(err)
		}
	}
	if want := []int{0, 900, 0, 700, 0, 600}; !slices.Equal(told, want) {
		t.Errorf("%v were told, want %v", told, want)
	}
}
