package api

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// TestAudit: what changes something is noted with who asked, without contents, and names
// of what was erased go.
func TestAudit(t *testing.T) {
	f := startWith(t, engine.Options{PauseJobs: true, KeepAudit: 10}, Options{})
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "w", Role: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	key, body := "X-API-Key: "+made.Text, "Content-Type: application/json"
	f.call(t, "PUT", "/v1/documents/gone?namespace=team", `{"text":"the contents"}`, key, body, "X-Request-Id: req-1")
	f.call(t, "POST", "/v1/memories", `{"content":"the contents","namespace":"team"}`, key, body)
	f.call(t, "POST", "/v1/memories", `{"content":"the contents"}`, key, body, "Idempotency-Key: a")
	f.call(t, "PUT", "/v1/documents/kept", `{"text":3}`, key, body)
	f.call(t, "GET", "/v1/documents/gone?namespace=team", "", key)
	f.call(t, "PUT", "/v1/documents/x?namespace=team", `{"text":"x"}`, "X-API-Key: "+reader.Text, body)
	f.call(t, "PUT", "/v1/documents/x", `{"text":"x"}`, body) // by nobody
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	want := []store.AuditEntry{
		{Key: reader.ID, KeyName: "r", Operation: "put-document", Namespace: "team", Target: "x", Status: 403},
		{Key: made.ID, KeyName: "w", Operation: "put-document", Namespace: "default", Target: "kept", Status: 422},
		{Key: made.ID, KeyName: "w", Operation: "remember", Namespace: "default", Status: 201},
		{Key: made.ID, KeyName: "w", Operation: "remember", Namespace: "team", Status: 201},
		{Key: made.ID, KeyName: "w", Operation: "put-document", Namespace: "team", Target: "gone", Status: 201},
	}
	check := func(want []store.AuditEntry) {
		t.Helper()
		got, err := admin.AuditLog(t.Context(), store.AuditFilter{})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d entries, want %d: %+v, %v", len(got), len(want), got, err)
		}
		for i, e := range got {
			if e.At.IsZero() || e.Request == "" || i > 0 && e.Seq >= got[i-1].Seq {
				t.Errorf("entry %+v", e)
			}
			if e.Operation == "remember" && e.Status < 300 {
				if e.Target == "" {
					t.Errorf("%+v does not say what was made", e)
				}
				e.Target = ""
			}
			e.Seq, e.At, e.Request = 0, want[i].At, ""
			if e != want[i] {
				t.Errorf("entry %d is %+v, want %+v", i, e, want[i])
			}
		}
	}
	check(want)
	f.call(t, "DELETE", "/v1/documents/gone?namespace=team&erase=true", "", key)
	want[4].Target = ""
	check(append([]store.AuditEntry{{Key: made.ID, KeyName: "w", Operation: "delete-document", Namespace: "team", Status: 204}}, want...))
	some, err := admin.AuditLog(t.Context(), store.AuditFilter{Key: reader.ID})
	if err != nil || len(some) != 1 {
		t.Errorf("of one key: %+v, %v", some, err)
	}
	first, err := admin.AuditLog(t.Context(), store.AuditFilter{Limit: 2})
	if err != nil || len(first) != 2 {
		t.Fatalf("a page: %+v, %v", first, err)
	}
	if rest, err := admin.AuditLog(t.Context(), store.AuditFilter{Before: first[1].Seq}); err != nil || len(rest) != 4 {
		t.Errorf("the next page: %+v, %v", rest, err)
	}
	if a := f.call(t, "GET", "/v1/audit", "", "X-API-Key: "+adminKey(t, f)); strings.Contains(a.body, "contents") {
		t.Errorf("the log has contents: %s", a.body)
	}
}

func adminKey(t *testing.T, f *fixture) string {
	t.Helper()
	k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "a", Role: access.Admin})
	if err != nil {
		t.Fatal(err)
	}
	return k.Text
}

// TestRefusedErasuresLeaveTheLog: only what was erased loses its name.
func TestRefusedErasuresLeaveTheLog(t *testing.T) {
	f := startPaused(t, Options{})
	reader, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	if _, err := admin.PutDocument(t.Context(), "", ragctx.Document{ExternalID: "plan", Text: "the contents"}, ""); err != nil {
		t.Fatal(err)
	}
	if a := f.call(t, "DELETE", "/v1/documents/plan?erase=true", "", "X-API-Key: "+reader.Text); a.status != 403 {
		t.Errorf("a reader erases: %d", a.status)
	}
	if a := f.call(t, "PUT", "/v1/documents/plan?erase=true", `{"text":"x"}`, "X-API-Key: "+adminKey(t, f), "Content-Type: application/json"); a.status != 422 {
		t.Errorf("a parameter that there is not: %d", a.status)
	}
	log, err := admin.AuditLog(t.Context(), store.AuditFilter{})
	if err != nil || len(log) != 3 {
		t.Fatalf("%+v, %v", log, err)
	}
	for _, e := range log {
		if e.Target != "plan" {
			t.Errorf("%+v has lost its name", e)
		}
	}
}

// TestRefusalsPushNothingOut: what costs its caller nothing leaves the log of what was
// done as it was.
func TestRefusalsPushNothingOut(t *testing.T) {
	const keep = 4
	f := startWith(t, engine.Options{PauseJobs: true, KeepAudit: keep}, Options{})
	reader, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	put := func(id string) {
		t.Helper()
		if _, err := admin.PutDocument(t.Context(), "", ragctx.Document{ExternalID: id, Text: id}, ""); err != nil {
			t.Fatal(err)
		}
	}
	log := func() (done, refused []string) {
		t.Helper()
		entries, err := admin.AuditLog(t.Context(), store.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Status < 400 {
				done = append(done, e.Target)
			} else {
				refused = append(refused, e.Target)
			}
		}
		return done, refused
	}
	put("first")
	for i := range 3 * keep {
		f.call(t, "DELETE", fmt.Sprintf("/v1/documents/d%d", i), "", "X-API-Key: "+reader.Text)
	}
	if done, refused := log(); !slices.Equal(done, []string{"first"}) || len(refused) != keep || refused[0] != fmt.Sprint("d", 3*keep-1) {
		t.Errorf("done %q, refused %q", done, refused)
	}
	for _, id := range []string{"2", "3", "4", "5"} {
		put(id)
	}
	if done, refused := log(); !slices.Equal(done, []string{"5", "4", "3", "2"}) || len(refused) != keep {
		t.Errorf("done %q, refused %q", done, refused)
	}
}

// TestAuditNamesWhatWasMade also where the path of a request has no id.
func TestAuditNamesWhatWasMade(t *testing.T) {
	f := startPaused(t, Options{})
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	key, body := "X-API-Key: "+adminKey(t, f), "Content-Type: application/json"
	made := map[string]string{}
	for op, c := range map[string]struct{ path, body string }{
		"create-key":       {"/v1/keys", `{"name":"ops","role":"read"}`},
		"remember":         {"/v1/memories", `{"content":"Tea at four."}`},
		"remember-outcome": {"/v1/memories:outcome", `{"prompt":"make tea","result":"tea"}`},
		"complete-turn":    {"/v1/turns", `{"prompt":"tea?","response":"yes"}`},
		"create-namespace": {"/v1/namespaces", `{"name":"team"}`},
	} {
		a := f.call(t, "POST", c.path, c.body, key, body)
		var out struct{ ID, Name string }
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status >= 300 {
			t.Fatalf("%s: %d %s", op, a.status, a.body)
		}
		made[op] = out.ID
		if out.ID == "" {
			made[op] = out.Name
		}
	}
	log, err := admin.AuditLog(t.Context(), store.AuditFilter{})
	if err != nil || len(log) != len(made) {
		t.Fatalf("%+v, %v", log, err)
	}
	for _, e := range log {
		if e.Target != made[e.Operation] || e.Target == "" || e.KeyName != "a" {
			t.Errorf("%+v, want %q", e, made[e.Operation])
		}
	}
}

// TestErasureForgetsIDs of all that it erases, and of nothing that has the same id.
func TestErasureForgetsIDs(t *testing.T) {
	f := startPaused(t, Options{})
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	key, body := "X-API-Key: "+adminKey(t, f), "Content-Type: application/json"
	for _, id := range []string{"adas", "same"} {
		f.call(t, "POST", "/v1/memories", `{"id":"`+id+`","content":"Tea for `+id+`.","user_id":"ada"}`, key, body)
	}
	f.call(t, "POST", "/v1/memories", `{"id":"bobs","content":"Coffee.","user_id":"bob"}`, key, body)
	f.call(t, "POST", "/v1/turns", `{"id":"t1","prompt":"tea?","response":"yes","user_id":"ada","session_id":"s"}`, key, body)
	f.call(t, "PUT", "/v1/documents/same", `{"text":"Same."}`, key, body)
	f.call(t, "PUT", "/v1/documents/ada", `{"text":"Ada."}`, key, body)
	f.call(t, "DELETE", "/v1/memories/adas?user_id=ada", "", key)
	targets := func() string {
		t.Helper()
		log, err := admin.AuditLog(t.Context(), store.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range log {
			out = append(out, e.Operation+"="+e.Target)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if a := f.call(t, "DELETE", "/v1/users/ada?erase=true", "", key); a.status >= 300 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const want = "complete-turn= delete-memory= erase-user= put-document=ada put-document=same remember= remember= remember=bobs"
	if got := targets(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestAuditOfUnreadBodies: what is refused before its body is read is in the namespace of
// its key, if that has only one, and not in the default one.
func TestAuditOfUnreadBodies(t *testing.T) {
	f := startPaused(t, Options{})
	admin := NewClientWith(f.url, ClientOptions{Key: adminKey(t, f)})
	defer admin.Close()
	for _, namespaces := range [][]string{{"team"}, {"team", "home"}, nil} {
		k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "r", Role: access.Read, Namespaces: namespaces})
		if err != nil {
			t.Fatal(err)
		}
		f.call(t, "POST", "/v1/memories", `{"content":"x","namespace":"team"}`, "X-API-Key: "+k.Text, "Content-Type: application/json")
	}
	log, err := admin.AuditLog(t.Context(), store.AuditFilter{})
	if err != nil || len(log) != 3 || log[0].Namespace != "" || log[1].Namespace != "" || log[2].Namespace != "team" {
		t.Errorf("%+v, %v", log, err)
	}
}

// TestErasureForgetsNames: the ids and names of what is erased go from reports of jobs and the
// audit log, in every file of the data directory. Long ids are shortened in the audit log.
func TestErasureForgetsNames(t *testing.T) {
	f := startWith(t, engine.Options{}, Options{})
	key, body := "X-API-Key: "+adminKey(t, f), "Content-Type: application/json"
	const mark = "zqnamexw"
	long := mark + strings.Repeat("-long", 20)
	ok := func(a answer) {
		t.Helper()
		if a.status >= 300 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	ok(f.call(t, "PUT", "/v1/documents/"+long, `{"text":"One text."}`, key, body))
	ok(f.call(t, "POST", "/v1/documents:bulk?wait=60s", `{"id":"`+mark+`-1","text":"Another text."}`+"\n"+`{"id":"`+mark+`-2","text":3}`+"\n"+`{"id":"other","text":"Stays."}`, key, asLines))
	ok(f.call(t, "PUT", "/v1/procedures/"+mark+"-p/draft?user_id=ada", `{"trigger":"Roll back","steps":["one"]}`, key, body))
	for _, what := range []string{"documents/" + long, "documents/" + mark + "-1", "documents/" + mark + "-2", "users/ada"} {
		ok(f.call(t, "DELETE", "/v1/"+what+"?erase=true", "", key))
	}
	jobs := into[jobPage](t, f.call(t, "GET", "/v1/jobs", "", key), 200)
	items := into[jobItemPage](t, f.call(t, "GET", "/v1/jobs/"+jobs.Jobs[0].ID+"/items", "", key), 200)
	if len(items.Items) != 3 || items.Items[0].State != store.ItemDone || items.Items[2].Key != "other" {
		t.Errorf("%+v", items)
	}
	if a := f.call(t, "GET", "/v1/audit", "", key); strings.Contains(a.body, mark) || !strings.Contains(a.body, "put-draft") {
		t.Errorf("the audit log: %s", a.body)
	}
	// The entries of the erasures themselves came after them.
	ok(f.call(t, "DELETE", "/v1/documents/other?erase=true", "", key))
	err := filepath.WalkDir(f.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(strings.ToLower(string(b)), mark) {
			t.Errorf("%s has a name that is erased", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
