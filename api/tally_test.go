package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
)

// TestRequestsAreCounted sends what is answered, refused, unknown and made up.
func TestRequestsAreCounted(t *testing.T) {
	f := start(t, Options{})
	for _, id := range []string{"a.md", "b/c.md", "d%20e.md"} {
		f.call(t, "PUT", "/v1/documents/"+id, `{"text":"Zebras have stripes."}`)
	}
	f.call(t, "GET", "/v1/documents/none.md", "")
	f.call(t, "GET", "/v1/memories/m/history", "")
	for _, path := range []string{"/1st", "/2nd", "/v1/3rd?x=1"} {
		f.call(t, "GET", path, "")
	}
	for _, method := range []string{"BREW", "WHEN", "PROPFIND"} {
		f.call(t, method, "/v1/context", "")
	}
	f.call(t, "GET", "/healthz", "", "Host: example.com")
	s, text := f.scrape(t)
	for id, want := range map[string]float64{
		`{route="/v1/documents/{id}",method="PUT",status="2xx"}`:        3,
		`{route="/v1/documents/{id}",method="GET",status="4xx"}`:        1,
		`{route="/v1/memories/{id}/history",method="GET",status="4xx"}`: 1,
		`{route="none",method="GET",status="4xx"}`:                      4, // the guard's among them
	} {
		if got := s.values["ragctx_http_requests_total"+id]; got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
	made := 0.0
	for id, v := range s.values {
		if strings.HasPrefix(id, "ragctx_http_requests_total") && strings.Contains(id, `method="other"`) {
			made += v
		}
	}
	if got := s.values[`ragctx_http_request_duration_seconds_count{route="/v1/documents/{id}",method="PUT"}`]; got != 3 || made != 3 {
		t.Errorf("%v times, %v with made up methods", got, made)
	}
	for _, sent := range []string{"a.md", "1st", "3rd", "BREW", "example.com"} {
		if strings.Contains(text, sent) {
			t.Errorf("%s, which a client chose, is a label:\n%s", sent, text)
		}
	}
}

// TestAnswersAreCounted asks for what there is and what is not, and with a mistake.
func TestAnswersAreCounted(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Zebras have stripes."}`)
	f.call(t, "POST", "/v1/context", `{"query":"zebras"}`)
	f.call(t, "POST", "/v1/context", `{"query":"zebras"}`) // given again
	f.call(t, "POST", "/v1/context", `{"query":"zebras","max_results":9}`, TimingHeader+": true")
	f.call(t, "POST", "/v1/search", `{"query":"zebras"}`)
	f.call(t, "POST", "/v1/context", `{"query":"zebras","namespace":"nowhere"}`)
	f.call(t, "POST", "/v1/search", `{"query":""}`)
	if _, err := f.eng.Events().Last(t.Context(), events.Filter{}); err != nil {
		t.Fatal(err)
	}
	f.call(t, "POST", "/v1/memories", `{"content":"Ada likes tea."}`)
	s, _ := f.scrape(t)
	for id, want := range map[string]float64{
		`ragctx_answers_total{result="full"}`:                              4,
		`ragctx_answers_total{result="empty"}`:                             1,
		`ragctx_answers_total{result="failed"}`:                            1,
		`ragctx_answers_total{result="degraded"}`:                          0,
		`ragctx_answer_cache_total{result="hit"}`:                          1,
		`ragctx_answer_cache_total{result="miss"}`:                         2,
		`ragctx_answer_stage_duration_seconds_count{stage="engine"}`:       4,
		`ragctx_answer_stage_duration_seconds_count{stage="keyword"}`:      3,
		`ragctx_answer_stage_duration_seconds_count{stage="rerank"}`:       0,
		`ragctx_embedder_calls_total{purpose="queries"}`:                   1, // the question is the same
		`ragctx_embedder_failures_total{purpose="queries"}`:                0,
		`ragctx_embedder_texts_total{purpose="documents"}`:                 2,
		`ragctx_embedder_call_duration_seconds_count{purpose="documents"}`: 2,
		`ragctx_events_total{type="memory_stored"}`:                        1,
		`ragctx_events_total{type="memory_cleared"}`:                       0,
	} {
		if got, ok := s.values[id]; !ok || got != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
}

// TestLogNamesKeys: by their id, never by what is secret of them.
func TestLogNamesKeys(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "GET", "/v1/namespaces", "", "X-Request-ID: without")
	k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "ops", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "GET", "/v1/namespaces", "", "X-Request-ID: with", "Authorization: Bearer "+k.Text); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, "request_id=without") && strings.Contains(line, "key=") {
			t.Error(line)
		}
		if strings.Contains(line, "request_id=with ") && !strings.Contains(line, "key="+k.ID) {
			t.Error(line)
		}
		if strings.Contains(line, k.Text) {
			t.Error("the log has the key")
		}
	}
}
