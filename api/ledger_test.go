package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// team is a cluster whose name has to be escaped.
var team = ledger.Filter{Namespace: "space", Cluster: "a/b c%2F?#"}

func say(topic, text string) ledger.Message {
	return ledger.Message{Namespace: team.Namespace, Cluster: team.Cluster, Topic: topic, Sender: "worker", Text: text}
}

func (f *fixture) say(t *testing.T, messages ...ledger.Message) []ledger.Message {
	t.Helper()
	out, err := f.client.AppendMessages(t.Context(), messages)
	if err != nil || len(out) != len(messages) {
		t.Fatalf("%d of %d messages are appended: %v", len(out), len(messages), err)
	}
	return out
}

func TestLedger(t *testing.T) {
	f := start(t, Options{})
	m := say("PLAN", "one")
	m.Data, m.Metadata = json.RawMessage(`{"a":[1,"x"]}`), json.RawMessage(`true`)
	stored := append(f.say(t, m), f.say(t, say("X", "two"), say("Y", "three"))...)
	if got := stored[0]; got.Text != "one" || string(got.Data) != string(m.Data) || !ledger.ValidID(got.ID) || got.Namespace != "space" || got.Receiver != ledger.Broadcast {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		q    ledger.Query
		want []ledger.Message
	}{
		{ledger.Query{}, stored},
		{ledger.Query{Newest: true, Limit: 2, ThroughSeq: stored[1].Sequence}, []ledger.Message{stored[1], stored[0]}},
		{ledger.Query{Filter: ledger.Filter{Topics: []string{"X", "Y"}}}, stored[1:]},
		{ledger.Query{Filter: ledger.Filter{Sender: "nobody"}}, []ledger.Message{}},
		{ledger.Query{AfterSeq: stored[0].Sequence, ThroughSeq: stored[1].Sequence}, stored[1:2]},
		{ledger.Query{Since: stored[1].Timestamp, Until: stored[1].Timestamp}, stored[1:2]},
		{ledger.Query{After: stored[1].Timestamp}, stored[2:]},
	} {
		c.q.Namespace, c.q.Cluster = team.Namespace, team.Cluster
		got, err := f.client.Messages(t.Context(), c.q)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%+v: %v\n%s", c.q, err, d)
		}
	}
	for _, order := range []string{"asc", "desc"} {
		want := slices.Clone(stored)
		if order == "desc" {
			slices.Reverse(want)
		}
		var got []ledger.Message
		for cursor := ""; len(got) < 9; {
			page := into[messageList](t, f.call(t, "GET", clusterAt(team.Cluster, "/messages?limit=1&order="+order+"&namespace="+team.Namespace+"&cursor="+cursor), ""), 200)
			if got, cursor = append(got, page.Messages...), page.NextCursor; cursor == "" {
				break
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pages, %s:\n%s", order, d)
		}
	}
	info, err := f.client.Cluster(t.Context(), team.Namespace, team.Cluster)
	if err != nil || info.Messages != 3 || info.LastSequence != stored[2].Sequence || info.FirstTimestamp.UnixMilli() != stored[0].Timestamp {
		t.Errorf("%+v, %v", info, err)
	}
	clusters, err := f.client.Clusters(t.Context(), team.Namespace, "", 1)
	if err != nil || len(clusters) != 1 || clusters[0].Cluster != team.Cluster {
		t.Errorf("%+v, %v", clusters, err)
	}
	if _, err := f.client.Cluster(t.Context(), "", team.Cluster); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("another namespace's cluster: %v", err)
	}
	erased, err := f.client.EraseCluster(t.Context(), team.Namespace, team.Cluster)
	if err != nil || erased.Messages != 3 {
		t.Errorf("erased %+v, %v", erased, err)
	}
	if last, err := f.client.LastMessage(t.Context(), team.Namespace, team.Cluster); last != 0 || err != nil {
		t.Errorf("after erasing, the last is %d, %v", last, err)
	}
}

// Clear errors: what is wrong, where, and what to do.
func TestLedgerRefuses(t *testing.T) {
	f := start(t, Options{})
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/clusters/team/messages", `{"topic":"X"}`, 422, "body.sender"},
		{"POST", "/v1/clusters/team/messages", `{"sender":"x"}`, 422, "body.topic"},
		{"POST", "/v1/clusters/team/messages", `{"messages":[{"topic":"X","sender":"a"},{"topic":"X"}]}`, 422, "body.messages[1].sender"},
		{"POST", "/v1/clusters/team/messages", `{"topic":"X","sender":"a","messages":[]}`, 422, "body.messages"},
		{"POST", "/v1/clusters/team/messages", `{"topic":"X","sender":"a","foo":1}`, 422, "body.foo"},
		{"POST", "/v1/clusters/team/messages", `{"topic":"AGENT_OUTPUT_OMITTED","sender":"a"}`, 422, "body.topic"},
		{"POST", "/v1/clusters/team/messages", `{"topic":"X","sender":"a","id":"x"}`, 422, "body.id"},
		{"POST", "/v1/clusters/team/messages", `{"topic":"X","sender":"a","text":"` + strings.Repeat("x", ledger.MaxMessageBytes+1) + `"}`, 413, "body.text"},
		{"POST", "/v1/clusters/" + strings.Repeat("x", 300) + "/messages", `{"topic":"X","sender":"a"}`, 413, "path.cluster"},
		{"GET", "/v1/clusters/team/messages?limit=0", "", 422, "query.limit"},
		{"GET", "/v1/clusters/team/messages?order=up", "", 422, "query.order"},
		{"GET", "/v1/clusters/team/messages?after_sequence=x", "", 422, "after_sequence"},
		{"GET", "/v1/clusters/team/messages?after_sequence=9223372036854775808", "", 422, "after_sequence"},
		{"GET", "/v1/clusters/team/messages?since=yesterday", "", 422, "query.since"},
		{"GET", "/v1/clusters/team/stream?after_sequence=-1", "", 422, "after_sequence"},
		{"GET", "/v1/clusters/%01/stream", "", 422, "path.cluster"},
		{"GET", "/v1/clusters/nobody", "", 404, "nobody"},
		{"DELETE", "/v1/clusters/team", "", 422, "erase"},
		{"POST", "/v1/clusters/team:import", `{}`, 415, "Content-Type"},
	} {
		a := f.call(t, c.method, c.path, c.body)
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s %.60s: %d, want %d with %q\n%s", c.method, c.path, c.body, a.status, c.status, c.want, a.body)
		}
	}
	if n, err := f.client.Messages(t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team"}}); len(n) != 0 || err != nil {
		t.Errorf("%d messages are there, %v", len(n), err)
	}
}

// Sequences beyond 2^53 survive JSON.
func TestSequencesInJSON(t *testing.T) {
	const big = ledger.Sequence(1<<62 + 1)
	b, err := json.Marshal(ledger.Message{Sequence: big})
	if err != nil || !bytes.Contains(b, []byte(`"sequence":"4611686018427387905"`)) {
		t.Errorf("%s, %v", b, err)
	}
	var back ledger.Message
	if err := json.Unmarshal(b, &back); err != nil || back.Sequence != big {
		t.Errorf("%d, %v", back.Sequence, err)
	}
}

// stream reads a stream of server-sent events from where a header says.
func (f *fixture) stream(ctx context.Context, t *testing.T, last string, tell func(id, data string) bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+clusterAt(team.Cluster, "/stream?namespace=space"), nil)
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
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || ct != "text/event-stream" {
		t.Fatalf("%s, %q", resp.Status, ct)
	}
	var id, data string
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "": // of an event, or a comment
			if data == "" { // the beginning names its position
				if !tell("", "") { // it has begun
					return
				}
			} else if !tell(id, data) {
				return
			}
			id, data = "", ""
		}
	}
}

// A stream begins now or after the event that its reader has last seen.
func TestLedgerEvents(t *testing.T) {
	f := start(t, Options{})
	first := f.say(t, say("X", "1"), say("X", "2"), say("X", "3"))
	var got []string
	f.stream(t.Context(), t, first[0].Sequence.String(), func(id, data string) bool {
		if id == "" {
			return true
		}
		var m ledger.Message
		if err := json.Unmarshal([]byte(data), &m); err != nil || m.Sequence.String() != id {
			t.Errorf("event %s: %s, %v", id, data, err)
		}
		if got = append(got, m.Text); len(got) == 2 {
			f.say(t, say("X", "4"))
		}
		return len(got) < 3
	})
	if d := cmp.Diff([]string{"2", "3", "4"}, got); d != "" {
		t.Error(d)
	}
	got = nil
	f.stream(t.Context(), t, "", func(id, data string) bool {
		if id == "" && len(got) == 0 {
			f.say(t, say("X", "5"))
			return true
		}
		got = append(got, data)
		return false
	})
	if len(got) != 1 || !strings.Contains(got[0], `"text":"5"`) {
		t.Errorf("a stream from now has %q", got)
	}
	f.refusedUpgrade(t)
	if err := f.stop(); err != nil { // does not wait for readers
		t.Error(err)
	}
}

// refusedUpgrade checks that a client that offers HTTP/2, as some always do, gets events.
func (f *fixture) refusedUpgrade(t *testing.T) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+clusterAt(team.Cluster, "/stream"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "h2c")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != eventsType {
		t.Errorf("an offer of HTTP/2 is answered by %s of %s", resp.Status, resp.Header.Get("Content-Type"))
	}
}

// WebSocket frames {"type":"message","data":…}.
func TestLedgerWebSocket(t *testing.T) {
	f := start(t, Options{})
	stored := f.say(t, say("X", "1"), say("Y", "2"))
	url := "ws" + strings.TrimPrefix(f.url, "http") + clusterAt(team.Cluster, "/stream?namespace=space&after_sequence=0&topic=X&topic=Z")
	conn, _, err := websocket.Dial(t.Context(), url, nil) //nolint:bodyclose // it is the connection's
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	read := func() messageFrame {
		t.Helper()
		_, b, err := conn.Read(t.Context())
		var frame messageFrame
		if err == nil {
			err = json.Unmarshal(b, &frame)
		}
		if err != nil || frame.Type != "message" {
			t.Fatalf("%s, %v", b, err)
		}
		return frame
	}
	if d := cmp.Diff(stored[0], read().Data); d != "" {
		t.Error(d)
	}
	f.say(t, say("Y", "3"), say("Z", "4"))
	if m := read().Data; m.Text != "4" {
		t.Errorf("%+v", m)
	}
	stopped := make(chan error)
	go func() { stopped <- f.stop() }()
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the end is told as %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	header := http.Header{"Origin": {"https://example.com"}}
	if _, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: header}); err == nil { //nolint:bodyclose // there is none
		t.Errorf("a page of elsewhere got in")
	}
}

// The client resumes what breaks off.
func TestFollowMessages(t *testing.T) {
	f := start(t, Options{})
	f.say(t, say("X", "0"))
	n := 0
	for m, err := range f.client.FollowMessages(t.Context(), team, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Text != fmt.Sprint(n) {
			t.Errorf("message %d is %q", n, m.Text)
		}
		if n++; n == 5 {
			break
		}
		f.say(t, say("X", fmt.Sprint(n)))
	}
	for _, err := range f.client.FollowMessages(t.Context(), ledger.Filter{Cluster: "\x01"}, 0) {
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("following no cluster: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for m, err := range f.client.FollowMessages(ctx, team, 0) {
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

func TestLedgerTransfer(t *testing.T) {
	f := start(t, Options{})
	f.say(t, say("X", "1"), say("Y", "2"))
	var file bytes.Buffer
	if err := f.client.ExportMessages(t.Context(), ledger.Query{Filter: team}, &file); err != nil || strings.Count(file.String(), "\n") != 2 {
		t.Fatalf("%s, %v", file.String(), err)
	}
	exported := file.String()
	done, err := f.client.ImportMessages(t.Context(), "elsewhere", team.Cluster, strings.NewReader(exported+"{\n"))
	if err != nil || done.Imported != 2 || done.Failed != 1 || len(done.Errors) != 1 || done.Errors[0].Line != 3 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = f.client.ImportMessages(t.Context(), "elsewhere", team.Cluster, strings.NewReader(exported)); err != nil || done.Unchanged != 2 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// Of a message that an import has put into several clusters, the item of each is its own copy.
func TestItemsOfCopies(t *testing.T) {
	f := start(t, Options{})
	first := f.say(t, say("X", "staging is down"))[0]
	copied := first
	copied.Cluster, copied.Text = "copies", "staging is up"
	line, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := f.client.ImportMessages(t.Context(), team.Namespace, "copies", bytes.NewReader(line)); err != nil || done.Imported != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	for cluster, want := range map[string]string{"": "down", team.Cluster: "down", "copies": "up"} {
		if it, err := f.client.LedgerItem(t.Context(), team.Namespace, cluster, first.ID); err != nil || it.ID != first.ID || !strings.HasSuffix(it.Text, want) {
			t.Errorf("of the copy in %q: %+v, %v", cluster, it, err)
		}
	}
	item := "/v1/items/" + first.ID
	for query, status := range map[string]int{"cluster=others": 404, "cluster=copies&namespace=elsewhere": 404, "cluster=%01": 422, "cluster=copies&cluster=team": 422} {
		if p := f.call(t, "GET", item+"?"+query, "").problem(t); p.Status != status || status == 422 && p.Errors[0].Location != "query.cluster" {
			t.Errorf("%s: %+v, want %d", query, p, status)
		}
	}
	into[any](t, f.call(t, "PUT", "/v1/documents/a.md", `{"text":"Staging is up."}`), 201)
	f.call(t, "GET", "/v1/items/a.md@1%230?cluster=copies", "").problem(t) // no ledger has it
}

// A message with a key is appended once, however often it is sent.
func TestLedgerIdempotency(t *testing.T) {
	f := start(t, Options{})
	var first answer
	for i := range 3 {
		a := f.call(t, "POST", "/v1/clusters/team/messages", `{"topic":"X","sender":"a"}`, keyHeader+": k")
		if i == 0 {
			first = a
		}
		if a.status != http.StatusCreated || a.body != first.body {
			t.Errorf("%d: %d %s", i, a.status, a.body)
		}
	}
	if found, err := f.client.Messages(t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team"}}); len(found) != 1 || err != nil {
		t.Errorf("%d messages, %v", len(found), err)
	}
}
