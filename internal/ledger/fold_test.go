package ledger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/ledger"
)

func folder(t testing.TB, topics map[string]string) *ledger.Folder {
	t.Helper()
	f, err := ledger.NewFolder(topics)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// said is the n-th message of cluster "c".
func said(n int, topic, text, data string) ledger.Message {
	m := ledger.Message{
		ID: "msg_" + strings.Repeat("0", 31) + string(rune('0'+n)), Sequence: ledger.Sequence(n), Timestamp: 1000 + int64(n), //nolint:gosec // small
		Namespace: "default", Cluster: "c", Topic: topic, Sender: "agent", Receiver: ledger.Broadcast, Text: text,
	}
	if data != "" {
		m.Data = json.RawMessage(data)
	}
	return m
}

func sectionOf(t *testing.T, s ledger.State, name string) string {
	t.Helper()
	raw, err := json.Marshal(s.Sections[name])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The table: what each topic puts into its section.
func TestFold(t *testing.T) {
	long := strings.Repeat("x", 3000)
	tests := []struct {
		name, section, want string
		messages            []ledger.Message
	}{
		{"issue", "task", `{"issueNumber":7,"raw":"# Login\n\nfails","title":"Login"}`, []ledger.Message{
			said(1, "ISSUE_OPENED", "# Login\n\nfails", `{"issue_number":7}`),
		}},
		{"title and number by their other names", "task", `{"issueNumber":"A-1","raw":"text","title":"two words"}`, []ledger.Message{
			said(1, "ISSUE_OPENED", "text", `{"issueNumber":"A-1","title":" two\n words "}`),
		}},
		{"plan", "plan", `{"acceptanceCriteria":["AC1 (MUST): it works","AC2: fast","plain"],"filesAffected":["a.go"],"summary":"the plan","text":"the  plan","updatedAt":1001}`, []ledger.Message{
			said(1, "PLAN_READY", "the  plan", `{"acceptanceCriteria":[{"id":"AC1","priority":"MUST","criterion":"it works"},{"id":"AC2","text":"fast"},"plain",{},null],"filesAffected":["a.go",{}]}`),
		}},
		{"a plan replaces the one before", "plan", `{"summary":"second","text":"second","updatedAt":1002}`, []ledger.Message{
			said(1, "PLAN_READY", "first", `{"filesAffected":["a.go"]}`), said(2, "PLAN_READY", "second", ""),
		}},
		{
			"progress: false, 0 and words for booleans", "progress",
			`{"blockers":["no key"],"canValidate":false,"lastSummary":"half","nextSteps":["test"],"percentComplete":0,"updatedAt":1001}`,
			[]ledger.Message{
				said(1, "WORKER_PROGRESS", "half", `{"completionStatus":{"canValidate":"false","percentComplete":0,"blockers":["no key"],"nextSteps":[{"summary":"test"}]}}`),
			},
		},
		{
			"progress straight in the data", "progress",
			`{"canValidate":true,"lastSummary":"all done","percentComplete":99.5,"updatedAt":1001}`,
			[]ledger.Message{
				said(1, "IMPLEMENTATION_READY", "", `{"canValidate":"true","percentComplete":99.5,"summary":"all done"}`),
			},
		},
		{"no finite percentage", "progress", `{"canValidate":true,"updatedAt":1001}`, []ledger.Message{
			said(1, "WORKER_PROGRESS", "", `{"canValidate":true,"percentComplete":1e999}`),
		}},
		{"progress without status leaves progress", "progress", `{"canValidate":true,"updatedAt":1001}`, []ledger.Message{
			said(1, "WORKER_PROGRESS", "", `{"canValidate":true}`), said(2, "WORKER_PROGRESS", "still at it", `{"note":1}`),
		}},
		{"validation", "validation", `{"approved":false,"criteriaResults":[{"evidence":{"command":"go test","exitCode":1},"id":"AC1","reason":"it fails","status":"FAIL"}],"errors":["a","b"],"updatedAt":1001}`, []ledger.Message{
			said(1, "VALIDATION_RESULT", "", `{"approved":false,"errors":["a","b"],"issues":["c"],"criteriaResults":[{"id":"AC1","status":"FAIL","reason":"it\nfails","evidence":{"command":"go test","exitCode":1,"output":"x"}},null]}`),
		}},
		{"issues where there are no errors", "validation", `{"approved":true,"errors":["s","b","m","e","y"],"updatedAt":1001}`, []ledger.Message{
			said(1, "VALIDATION_RESULT", "", `{"approved":true,"errors":[],"issues":["zero","s",{"bug":"b"},{"message":"m"},{"error":"e"},{"summary":"y"}]}`),
		}},
		{"investigation", "debug", `{"fixPlan":"fix","rootCauses":["race","leak","off by one"],"successCriteria":"green","updatedAt":1001}`, []ledger.Message{
			said(1, "INVESTIGATION_COMPLETE", "fix", `{"successCriteria":"green","rootCauses":["race",{"cause":"leak"},{"description":"off by one"}]}`),
		}},
		{"nothing to say", "validation", `{"updatedAt":1001}`, []ledger.Message{said(1, "VALIDATION_RESULT", "", "null")}},
		{"damaged data", "plan", `{"summary":"p","text":"p","updatedAt":1001}`, []ledger.Message{said(1, "PLAN_READY", "p", `{"x":`)}},
		{"evidence that is empty", "validation", `{"criteriaResults":[{"id":"","status":"PASS"}],"updatedAt":1001}`, []ledger.Message{
			said(1, "VALIDATION_RESULT", "", `{"criteriaResults":[{"id":"","status":"PASS","evidence":{"command":null}}]}`),
		}},
		{
			"over-long text", "task", `{"raw":"` + long[:1997] + `...","title":"` + long[:297] + `..."}`,
			[]ledger.Message{said(1, "ISSUE_OPENED", long, "")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s ledger.State
			for _, m := range tt.messages {
				s = folder(t, nil).Apply(s, m)
			}
			if diff := cmp.Diff(tt.want, sectionOf(t, s, tt.section)); diff != "" {
				t.Error(diff)
			}
			last := tt.messages[len(tt.messages)-1]
			if s.Version != 1 || s.UpdatedAt != last.Timestamp || s.SourceMessageID != last.ID || s.ClusterID != "c" {
				t.Errorf("stamps %+v", s)
			}
		})
	}
}

// Lists keep the last N, items have 200 characters on one line.
func TestFoldKeepsTheLast(t *testing.T) {
	var items []string
	for i := range 30 {
		items = append(items, `"`+string(rune('a'+i%26))+`"`)
	}
	items[29] = `"` + strings.Repeat("é ", 150) + `"`
	s := folder(t, nil).Apply(ledger.State{}, said(1, "PLAN_READY", "", `{"filesAffected":[`+strings.Join(items, ",")+`]}`))
	files := s.Sections["plan"]["filesAffected"].([]any) //nolint:forcetypeassert // a list, or the test fails
	if len(files) != 20 || files[0] != "k" {
		t.Errorf("%d files from %v, want the last 20 of 30", len(files), files[0])
	}
	if got, _ := files[19].(string); len([]rune(got)) != 200 || !strings.HasSuffix(got, "...") {
		t.Errorf("the long item has %d characters: %q", len([]rune(got)), got)
	}
}

// An issue that is opened again replaces the task and keeps the rest.
func TestFoldKeepsOtherSections(t *testing.T) {
	f, s := folder(t, nil), ledger.State{}
	m := said(1, "ISSUE_OPENED", "one", "")
	m.Metadata = json.RawMessage(`{"source":"web"}`)
	for _, m := range []ledger.Message{m, said(2, "PLAN_READY", "plan", ""), said(3, "CHAT", "?", ""), said(4, "ISSUE_OPENED", "two", "")} {
		if m.ID == said(2, "", "", "").ID && s.Sections["task"]["source"] != "web" {
			t.Errorf("task %v", s.Sections["task"])
		}
		s = f.Apply(s, m)
	}
	if got := sectionOf(t, s, "task"); got != `{"raw":"two","title":"two"}` || s.Sections["plan"] == nil {
		t.Errorf("task %s, plan %v", got, s.Sections["plan"])
	}
	other := said(5, "PLAN_READY", "x", "")
	other.Cluster = "d"
	if diff := cmp.Diff(s, f.Apply(s, other)); diff != "" {
		t.Errorf("a message of another cluster: %s", diff)
	}
}

func TestFoldCustomTopics(t *testing.T) {
	f := folder(t, map[string]string{"PLAN_AMENDED": "plan", "DEPLOYED": "deployment"})
	s := f.Apply(ledger.State{}, said(1, "PLAN_AMENDED", "by another name", ""))
	s = f.Apply(s, said(2, "DEPLOYED", "to <staging>", `{"version":"1.2","ok":true,"took":3,"log":["x"],"none":null}`))
	want := `{"summary":"to <staging>","text":"to <staging>","updatedAt":1002,"values":{"ok":true,"took":3,"version":"1.2"}}`
	raw, err := s.MarshalJSON()
	if err != nil || !strings.HasSuffix(string(raw), `"deployment":`+want+"}") {
		t.Errorf("%s, %v", raw, err)
	}
	if got := s.Summary(); got != "Plan: by another name\nDeployment: to <staging>" {
		t.Errorf("summary %q", got)
	}
	for topic, section := range map[string]string{"": "plan", "STATE_SNAPSHOT": "plan", "A": "", "B": "Plan", "C": "version", "D": "1a"} {
		if _, err := ledger.NewFolder(map[string]string{topic: section}); err == nil {
			t.Errorf("topic %q as section %q was accepted", topic, section)
		}
	}
}

// The lines of the summary.
func TestSummary(t *testing.T) {
	f, s := folder(t, nil), ledger.State{}
	for _, m := range []ledger.Message{
		said(1, "ISSUE_OPENED", "Login fails\nsince Monday", ""), said(2, "PLAN_READY", "check the\ntoken", ""),
		said(3, "WORKER_PROGRESS", "", `{"percentComplete":45,"canValidate":false,"nextSteps":["test","ship"]}`),
		said(4, "VALIDATION_RESULT", "", `{"approved":false,"errors":["a","b"]}`), said(5, "INVESTIGATION_COMPLETE", "swap",
			`{"rootCauses":["race"]}`),
	} {
		s = f.Apply(s, m)
	}
	want := "Task: Login fails\nPlan: check the token\nProgress: 45% | canValidate=false | next: test; ship\nValidation: rejected (2 errors)\nDebug: race"
	if diff := cmp.Diff(want, s.Summary()); diff != "" {
		t.Error(diff)
	}
	s = f.Apply(s, said(6, "VALIDATION_RESULT", "", ""))
	if !strings.Contains(s.Summary(), "Validation: pending (0 errors)") {
		t.Error(s.Summary())
	}
}

func FuzzFold(f *testing.F) {
	f.Add("PLAN_READY", "text", []byte(`{"acceptanceCriteria":[{"id":1}],"filesAffected":["a"]}`))
	f.Add("VALIDATION_RESULT", "", []byte(`{"errors":[null,{"bug":""}],"criteriaResults":[{"evidence":{}}]}`))
	f.Add("WORKER_PROGRESS", "\xff", []byte(`{"completionStatus":{"percentComplete":1e400}}`))
	f.Add("OTHER", "x", []byte(`{"a":{},"":""}`))
	f.Fuzz(func(t *testing.T, topic, text string, data []byte) {
		s := folder(t, map[string]string{"OTHER": "other"}).Apply(ledger.State{}, said(1, topic, text, string(data)))
		raw, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back ledger.State
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if again, err := back.MarshalJSON(); err != nil || string(again) != string(raw) || back.Summary() != s.Summary() {
			t.Errorf("read back it is another one:\n%s\n%s, %v", raw, again, err)
		}
		if len(raw) > 128<<10 {
			t.Errorf("the state of one message has %d bytes", len(raw))
		}
	})
}
