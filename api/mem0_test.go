package api

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat/mem0"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/llm"
)

// mem0Memory and mem0Added are parts of answers.
type (
	mem0Memory struct {
		ID        string
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	mem0Added struct {
		Status  string
		Results []struct{ ID, Memory, Event string }
	}
)

// TestMem0 plays the conversations of testdata/mem0 on a server each. A request is
// "METHOD PATH", in an answer of an error followed by the faulty field, and by "ids" where
// of a list of memories the ids are enough; the answer to it follows under its status.
func TestMem0(t *testing.T) {
	files, err := filepath.Glob("testdata/mem0/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			talk, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := player{f: start(t, Options{}), known: make(map[string]string)}
			for i := 0; i+1 < len(talk.Files); i += 2 {
				p.play(t, talk.Files[i], talk.Files[i+1])
			}
		})
	}
}

// player knows what the names that begin with $ stand for.
type player struct {
	f     *fixture
	known map[string]string
}

func (p *player) play(t *testing.T, request, want txtar.File) {
	t.Helper()
	words := strings.Fields(p.filled(request.Name))
	a := p.f.call(t, words[0], words[1], p.filled(string(request.Data)))
	if strconv.Itoa(a.status) != want.Name {
		t.Fatalf("%s: status %d: %s", request.Name, a.status, a.body)
	}
	if a.status >= 400 {
		var problem Problem
		if err := json.Unmarshal([]byte(a.body), &problem); err != nil || a.header.Get("Content-Type") != jsonType && strings.HasPrefix(words[1], mem0.Prefix) {
			t.Fatalf("%s: %v, %s: %s", request.Name, err, a.header.Get("Content-Type"), a.body)
		}
		if len(words) > 2 && problem.Errors[0].Location != words[2] {
			t.Errorf("%s: %+v", request.Name, problem.Errors)
		}
		return
	}
	if len(want.Data) == 0 {
		return
	}
	var got, expected any
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want.Data, &expected); err != nil {
		t.Fatalf("%s: %v", want.Data, err)
	}
	if len(words) > 2 { // ids
		list := []any{}
		if page, ok := got.(map[string]any); ok {
			got = page["results"]
		}
		for _, m := range got.([]any) {
			list = append(list, m.(map[string]any)["id"])
		}
		got = list
	}
	if !p.same(expected, got) {
		t.Errorf("%s:\n%swant\n%s", request.Name, a.body, want.Data)
	}
}

func (p *player) filled(s string) string {
	for name, value := range p.known {
		s = strings.ReplaceAll(s, name, value)
	}
	return s
}

func (p *player) same(want, got any) bool {
	switch want := want.(type) {
	case string:
		if !strings.HasPrefix(want, "$") {
			return want == got
		}
		if _, known := p.known[want]; !known {
			p.known[want] = fmt.Sprint(got)
		}
		return got != nil && p.known[want] == fmt.Sprint(got)
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(want) {
			return false
		}
		for k, v := range want {
			if member, ok := g[k]; !ok || !p.same(v, member) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return false
		}
		for i, v := range want {
			if !p.same(v, g[i]) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(want, got)
	}
}

// TestMem0Pending checks that an answer does not wait for ever, nor for the turns of other users. The
// turns of one user are learnt in order.
func TestMem0Pending(t *testing.T) {
	asked, answered := make(chan struct{}, 10), make(chan struct{})
	model := llm.GeneratorFunc(func(ctx context.Context, r llm.Request) (llm.Response, error) {
		if strings.Contains(r.Messages[0].Text, "tea") {
			asked <- struct{}{}
			<-answered
		}
		return llm.Response{Text: `{"items":[]}`}, nil
	})
	f := startWith(t, engine.Options{PauseJobs: true, FactExtraction: engine.FactExtraction{Model: model}}, Options{}, func(s *Server) { s.extractionWait = 20 * time.Millisecond })
	add := func(user, text string) mem0Added {
		t.Helper()
		a := f.call(t, "POST", "/mem0/v1/memories/", fmt.Sprintf(`{"user_id":%q,"run_id":%q,"async_mode":false,"messages":[{"role":"user","content":%q}]}`, user, user, text))
		var got mem0Added
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%d: %s", a.status, a.body)
		}
		return got
	}
	if got := add("ada", "I prefer tea."); got.Status != "PENDING" || len(got.Results) != 1 {
		t.Errorf("%+v", got)
	}
	<-asked
	f.extractionWait = time.Minute
	if got := add("ben", "I prefer coffee."); got.Status != "" || len(got.Results) != 1 || got.Results[0].Event != "ADD" {
		t.Errorf("%+v", got)
	}
	close(answered)
	if err := f.eng.Sessions().Settle(t.Context(), "", "ada"); err != nil {
		t.Error(err)
	}
}

// TestMem0KeyOfAUser: a request that names no owner means the user of its key.
func TestMem0KeyOfAUser(t *testing.T) {
	f := start(t, Options{})
	k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "ada", Role: access.Write, Namespaces: []string{"team"}, User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	key, body := "X-API-Key: "+k.Text, "Content-Type: application/json"
	for _, ask := range []struct{ method, path, with, other string }{
		{"POST", "/mem0/v1/memories/", `{"messages":"Ada drinks tea.","infer":false}`, `{"messages":"Bob drinks tea.","infer":false,"user_id":"bob"}`},
		{"GET", "/mem0/v1/memories/", "", ""},
		{"POST", "/mem0/v2/memories/", `{}`, `{"user_id":"bob"}`},
		{"POST", "/mem0/v3/memories/", `{"filters":{"created_at":{"gte":"2020-01-01"}}}`, `{"filters":{"user_id":"bob"}}`},
		{"POST", "/mem0/v1/memories/search/", `{"query":"tea"}`, `{"query":"tea","user_id":"bob"}`},
		{"POST", "/mem0/v3/memories/search/", `{"query":"tea"}`, `{"query":"tea","filters":{"user_id":"bob"}}`},
	} {
		a := f.call(t, ask.method, ask.path, ask.with, key, body)
		if a.status != 200 || !strings.Contains(a.body, "Ada drinks tea.") {
			t.Errorf("%s %s %s: %d %s", ask.method, ask.path, ask.with, a.status, a.body)
		}
		if ask.method == "GET" {
			ask.path += "?user_id=bob"
		}
		if a := f.call(t, ask.method, ask.path, ask.other, key, body); a.status != 403 {
			t.Errorf("%s %s %s: %d %s", ask.method, ask.path, ask.other, a.status, a.body)
		}
	}
}

// TestMem0Created: a fact about the future was created when it was said.
func TestMem0Created(t *testing.T) {
	f := start(t, Options{})
	said := `{"messages":[{"role":"user","content":"My birthday is on March 3rd."},{"role":"assistant","content":"Noted."}],` +
		`"user_id":"ada","timestamp":1767261600,"async_mode":false}` // 2026-01-01 10:00
	added := into[mem0Added](t, f.call(t, "POST", "/mem0/v1/memories/", said), 200)
	if len(added.Results) != 1 || !strings.Contains(added.Results[0].Memory, "birthday") {
		t.Fatalf("%+v", added)
	}
	fact := added.Results[0].ID
	m := into[mem0Memory](t, f.call(t, "GET", "/mem0/v1/memories/"+fact+"/", ""), 200)
	own := into[ragctx.Memory](t, f.call(t, "GET", "/v1/memories/"+fact+"?user_id=ada", ""), 200)
	if want := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC); !m.CreatedAt.Equal(want) || !own.Occurred.After(want) {
		t.Errorf("created %v, of an event at %v", m.CreatedAt, own.Occurred)
	}
	changed := into[mem0Memory](t, f.call(t, "PUT", "/mem0/v1/memories/"+fact+"/", `{"metadata":{"a":"b"}}`), 200)
	if !changed.CreatedAt.Equal(m.CreatedAt) {
		t.Errorf("a change moves the creation to %v", changed.CreatedAt)
	}
	later := `{"messages":"Ada's birthday cake has nuts.","user_id":"ada","timestamp":1767600000,"infer":false}` // 2026-01-05
	cake := into[mem0Added](t, f.call(t, "POST", "/mem0/v1/memories/", later), 200).Results[0].ID
	for bounds, want := range map[string][]string{
		`{"gte":"2025-01-01"}`: {cake, fact}, `{"lte":"2026-01-01"}`: {fact}, `{"lt":"2026-01-01"}`: {}, `{"gte":"2026-01-02"}`: {cake},
		`{"gt":"2026-01-01T10:00:00Z"}`: {cake}, `{"gte":"2026-01-01T10:00:00Z","lte":"2026-01-05"}`: {cake, fact},
	} {
		filters := `"filters":{"AND":[{"user_id":"ada"},{"created_at":` + bounds + `}]}`
		list := into[[]mem0Memory](t, f.call(t, "POST", "/mem0/v2/memories/", `{`+filters+`}`), 200)
		found := into[[]mem0Memory](t, f.call(t, "POST", "/mem0/v2/memories/search/", `{"query":"birthday",`+filters+`}`), 200)
		ids := func(all []mem0Memory) []string {
			out := []string{}
			for _, m := range all {
				out = append(out, m.ID)
			}
			return out
		}
		if got := ids(list); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", bounds, got, want)
		}
		got := ids(found)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s finds %v, want %v", bounds, got, want)
		}
	}
}
