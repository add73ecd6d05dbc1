package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
)

// TestEventStream: what a request does is told under its id, and a reader that comes
// back misses nothing.
func TestEventStream(t *testing.T) {
	f := start(t, Options{})
	first := f.eventsFrom(t, "?type=memory_stored&session_id=s")
	remember := func(id, session string) {
		t.Helper()
		a := f.call(t, "POST", "/v1/memories", `{"id":"`+id+`","session_id":"`+session+`","content":"Releases are on Mondays.","importance":0.5}`, "X-Request-ID: r-"+id)
		if a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	remember("1", "s")
	remember("2", "other")
	remember("3", "s")
	one, three := <-first, <-first
	var stored ragctx.MemoryStored
	if err := json.Unmarshal([]byte(one.data), &one.Event); err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(one.Data)
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	if one.name != "memory_stored" || one.id != strconv.FormatUint(one.Seq, 10) || one.RequestID != "r-1" || one.Namespace != "default" ||
		one.SessionID != "s" || stored.MemoryID != "1" || stored.Importance != 0.5 || stored.Tags == nil {
		t.Errorf("%+v", one)
	}
	if !strings.Contains(three.data, `"memory_id":"3"`) {
		t.Errorf("%+v", three)
	}
	again := f.eventsFrom(t, "?type=memory_stored", "Last-Event-ID: "+one.id)
	if two := <-again; !strings.Contains(two.data, `"memory_id":"2"`) {
		t.Errorf("%+v", two)
	}
	lost := f.eventsFrom(t, "?after_sequence=1")
	if ev := <-lost; ev.name != "events_lost" || !strings.Contains(ev.data, `"from":2`) {
		t.Errorf("%+v", ev)
	}
	for target, field := range map[string]string{
		"?type=memory_store": "types[0]", "?after_sequence=x": "after_sequence", "?after_sequence=-1": "after_sequence", "?typ=x": "query.typ",
	} {
		if p := f.call(t, "GET", "/v1/events"+target, "").problem(t); p.Status != 422 || !strings.Contains(p.Errors[0].Location, field) {
			t.Errorf("%s: %+v", target, p)
		}
	}
}

// TestStreamBegin resumes streams that are interrupted before their first event: their first id is
// the position at which they began.
func TestStreamBegin(t *testing.T) {
	f := start(t, Options{})
	for path, write := range map[string][3]string{
		"/v1/events":               {"POST", "/v1/memories", `{"content":"Releases are on Mondays."}`},
		"/v1/clusters/team/stream": {"POST", "/v1/clusters/team/messages", `{"topic":"PLAN","sender":"a","text":"Releases are on Mondays."}`},
	} {
		first := func(prefix, last string) string {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if last != "" {
				req.Header.Set("Last-Event-ID", last)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
				if rest, ok := strings.CutPrefix(sc.Text(), prefix); ok {
					return rest
				}
			}
			t.Fatalf("%s: no line begins with %q", path, prefix)
			return ""
		}
		begin := first("id: ", "")
		if a := f.call(t, write[0], write[1], write[2]); a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if data := first("data: ", begin); !strings.Contains(data, "memory_stored") && !strings.Contains(data, "Mondays") {
			t.Errorf("%s after %s: %s", path, begin, data)
		}
	}
}

// TestEventClient reads through the client, with the grant of whoever asks.
func TestEventClient(t *testing.T) {
	f := start(t, Options{})
	begin, err := f.eng.Events().Last(t.Context(), events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2"} {
		if _, _, err := f.eng.Memories().Put(t.Context(), ragctx.Memory{ID: id, Content: "Something to remember."}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for ev, err := range f.client.FollowEvents(t.Context(), events.Filter{Types: []ragctx.EventType{ragctx.EventMemoryStored}}, &begin) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; ev.Seq != begin+uint64(n) || ev.Type != ragctx.EventMemoryStored {
			t.Errorf("%+v", ev)
		}
		if n == 2 {
			break
		}
	}
	for _, err := range f.client.FollowEvents(t.Context(), events.Filter{Types: []ragctx.EventType{"x"}}, nil) {
		if err == nil || !strings.Contains(err.Error(), "types[0]") {
			t.Errorf("%v", err)
		}
	}
	_, err = f.streamEvents(access.With(t.Context(), access.Grant{Role: access.Read, Namespaces: []string{"a"}}), &eventStream{Namespace: "b"})
	if code, status := ragctx.CodeOf(err); code != "denied" || status != http.StatusForbidden {
		t.Errorf("another namespace: %v", err)
	}
}

// streamed is an event as it comes over the wire.
type streamed struct {
	ragctx.Event

	name, id, data string
}

// eventsFrom opens a stream, which has begun when it returns.
func (f *fixture) eventsFrom(t *testing.T, query string, header ...string) <-chan streamed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // the reader below closes it
	if err != nil {
		t.Fatal(err)
	}
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || ct != "text/event-stream" {
		t.Fatalf("%s, %q", resp.Status, ct)
	}
	out := make(chan streamed, 100)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		defer resp.Body.Close()
		var ev streamed
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			switch name, value, _ := strings.Cut(sc.Text(), ": "); name {
			case "event":
				ev.name = value
			case "id":
				ev.id = value
			case "data":
				ev.data = value
			case "":
				if ev.name != "" {
					out <- ev
				}
				ev = streamed{}
			}
		}
	}()
	return out
}
