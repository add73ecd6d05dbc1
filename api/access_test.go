package api

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// How far an operation reaches, which says who is refused beside those of a lesser role.
type reach int

const (
	anywhere  reach = iota // it is about no namespace
	namespace              // {ns} and {user} in the request say whose it is
	shared                 // it changes what belongs to no user
	everyone               // it is about all users
	jobs                   // it is about a job, whose namespace says who sees it
	changeJob              // and changes it
	whole                  // it is about all namespaces
)

// probe is a request to an operation. {ns} and {user} stand for names.
type probe struct {
	reach  reach
	target string
	body   string
}

const owner = "namespace={ns}&user_id={user}"

const aForm = "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nassistants\r\n" +
	"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nwords\r\n--b--\r\n"

// probes has a request to every operation of the server.
var probes = map[string]probe{
	"healthz": {anywhere, "/healthz", ""}, "readyz": {anywhere, "/readyz", ""},
	"metrics": {whole, "/metrics", ""}, "doctor": {whole, "/v1/doctor", `{}`}, "vector-status": {whole, "/v1/indexes", ""},
	"reembed": {whole, "/v1/reembed", `{"embedder":"static"}`}, "snapshot": {whole, "/v1/snapshot", ""},
	"create-key": {whole, "/v1/keys", `{"name":"probe","role":"read"}`}, "list-keys": {whole, "/v1/keys", ""}, "revoke-key": {whole, "/v1/keys/none:revoke", ""},
	"list-audit":   {namespace, "/v1/audit?namespace={ns}", ""},
	"get-embedder": {anywhere, "/v1/embedder", ""}, "put-embedder": {whole, "/v1/embedder", `{"paused":true}`}, "embeddings": {anywhere, "/v1/embeddings", `{"input":"a"}`},
	"get-namespace": {namespace, "/v1/namespaces/{ns}", ""}, "create-namespace": {whole, "/v1/namespaces", `{"name":"probe"}`},
	"put-quotas": {whole, "/v1/namespaces/none/quotas", `{}`}, "erase-namespace": {whole, "/v1/namespaces/none?erase=true", ""},
	"list-namespaces": {anywhere, "/v1/namespaces", ""}, "mem0-ping": {anywhere, "/mem0/v1/ping", ""},

	"context":          {namespace, "/v1/context", `{"query":"a","namespace":"{ns}","user_id":"{user}"}`},
	"search":           {namespace, "/v1/search", `{"query":"a","namespace":"{ns}","user_id":"{user}"}`},
	"explain":          {namespace, "/v1/explain", `{"query":"a","namespace":"{ns}","user_id":"{user}"}`},
	"assemble":         {namespace, "/v1/assemble", `{"query":"a","namespace":"{ns}","user_id":"{user}","messages":[{"role":"user","content":"a"}]}`},
	"assemble-session": {namespace, "/v1/sessions/s:assemble?" + owner, `{"query":"a"}`},
	"pack":             {namespace, "/v1/packs", `{"namespace":"{ns}","cluster":"c","user_id":"{user}","strategy":{"sources":[{"topic":"T"}]}}`},

	"status": {anywhere, "/v1/status", ""}, "stream-events": {namespace, "/v1/events?namespace={ns}", ""}, "list-providers": {anywhere, "/v1/providers", ""},
	"list-session-providers":  {namespace, "/v1/sessions/s/providers?" + owner, ""},
	"add-session-provider":    {namespace, "/v1/sessions/s/providers/crm?" + owner, ""},
	"remove-session-provider": {namespace, "/v1/sessions/s/providers/crm?" + owner, ""},

	"create-session": {namespace, "/v1/sessions", `{"namespace":"{ns}","user_id":"{user}"}`}, "list-sessions": {namespace, "/v1/sessions?" + owner, ""},
	"get-session": {namespace, "/v1/sessions/k?" + owner, ""}, "change-session": {namespace, "/v1/sessions/k?" + owner, `{"layer":"none"}`},
	"append-session-messages": {namespace, "/v1/sessions/k/messages?" + owner, `{"create":true,"messages":[{"content":"a"}]}`},
	"list-session-messages":   {namespace, "/v1/sessions/k/messages?" + owner, ""}, "get-session-message": {namespace, "/v1/sessions/k/messages/m?" + owner, ""},
	"label-session-message": {namespace, "/v1/sessions/k/messages/m/label?" + owner, `{"label":"a"}`}, "list-session-labels": {namespace, "/v1/sessions/k/labels?" + owner, ""},
	"put-session-section": {namespace, "/v1/sessions/k/sections/a?" + owner, `{"messages":[]}`}, "delete-session-section": {namespace, "/v1/sessions/k/sections/a?" + owner, ""},
	"compile-session": {namespace, "/v1/sessions/k:compile?" + owner, `{}`}, "compact-session": {namespace, "/v1/sessions/k:compact?" + owner, `{}`},
	"undo-session-compaction": {namespace, "/v1/sessions/k:undo-compaction?" + owner, ""}, "list-session-compactions": {namespace, "/v1/sessions/k/compactions?" + owner, ""},
	"list-session-observations": {namespace, "/v1/sessions/k/observations?" + owner, ""}, "fork-session": {namespace, "/v1/sessions/k:fork?" + owner, `{}`},
	"navigate-session": {namespace, "/v1/sessions/k:navigate?" + owner, `{"message_id":""}`}, "export-session": {namespace, "/v1/sessions/k:export?" + owner, ""},
	"import-session": {namespace, "/v1/sessions/k2:import?" + owner, `{"type":"session","version":1,"id":"k2"}` + "\n"},
	"compile":        {anywhere, "/v1/compile", `{"messages":[{"content":"a"}]}`}, "compact": {anywhere, "/v1/compact", `{"messages":[{"content":"a"}]}`},

	"list-documents": {namespace, "/v1/documents?namespace={ns}", ""}, "get-document": {namespace, "/v1/documents/d?namespace={ns}", ""},
	"post-document": {shared, "/v1/documents?namespace={ns}", `{"text":"words"}`},
	"put-document":  {shared, "/v1/documents/d2?namespace={ns}", `{"text":"words"}`}, "delete-document": {shared, "/v1/documents/d2?namespace={ns}", ""},
	"put-documents":   {shared, "/v1/documents:bulk?namespace={ns}", `{"id":"d3","text":"words"}` + "\n"},
	"list-duplicates": {namespace, "/v1/documents:duplicates?namespace={ns}", ""}, "get-item": {namespace, "/v1/items/d@1%230?namespace={ns}", ""},
	"get-ranking": {namespace, "/v1/rankings/documents?namespace={ns}", ""}, "put-ranking": {shared, "/v1/rankings/documents?namespace={ns}", `{}`},

	"list-jobs": {namespace, "/v1/jobs?namespace={ns}", ""}, "get-job": {jobs, "/v1/jobs/{job}", ""},
	"list-job-items": {jobs, "/v1/jobs/{job}/items", ""}, "watch-job": {jobs, "/v1/jobs/{job}/events", ""},
	"cancel-job": {changeJob, "/v1/jobs/{job}:cancel", ""}, "retry-job": {changeJob, "/v1/jobs/{job}:retry", ""},

	"list-clusters": {namespace, "/v1/clusters?namespace={ns}", ""}, "get-cluster": {namespace, "/v1/clusters/c?namespace={ns}", ""},
	"get-cluster-state": {namespace, "/v1/clusters/c/state?namespace={ns}", ""}, "query-messages": {namespace, "/v1/clusters/c/messages?namespace={ns}", ""},
	"export-messages": {namespace, "/v1/clusters/c:export?namespace={ns}", ""}, "stream-messages": {namespace, "/v1/clusters/c/stream?namespace={ns}", ""},
	"append-messages": {shared, "/v1/clusters/c/messages", `{"namespace":"{ns}","messages":[{"topic":"T","sender":"s","text":"t"}]}`},
	"import-messages": {shared, "/v1/clusters/c:import?namespace={ns}", "\n"}, "erase-cluster": {shared, "/v1/clusters/c2?erase=true&namespace={ns}", ""},

	"list-memories": {namespace, "/v1/memories?" + owner, ""}, "get-memory": {namespace, "/v1/memories/m?" + owner, ""},
	"memory-history": {namespace, "/v1/memories/m/history?" + owner, ""}, "export-memories": {namespace, "/v1/memories:export?" + owner, ""},
	"extract-memories": {namespace, "/v1/memories:extract", `{"turn":{"prompt":"I live in Oslo.","response":"ok","namespace":"{ns}","user_id":"{user}"}}`},
	"list-quarantine":  {namespace, "/v1/memories:quarantine?" + owner, ""}, "memory-stats": {namespace, "/v1/memories:stats?" + owner, ""},
	"list-memory-tags": {namespace, "/v1/memories:tags?" + owner, ""}, "get-turn": {namespace, "/v1/turns/t?" + owner, ""},
	"search-memories": {namespace, "/v1/memories:search", `{"query":"a","namespace":"{ns}","user_id":"{user}"}`},
	"remember":        {namespace, "/v1/memories", `{"content":"a","namespace":"{ns}","user_id":"{user}"}`},
	"remember-outcome": {
		namespace, "/v1/memories:outcome",
		`{"prompt":"a","result":"b","namespace":"{ns}","user_id":"{user}"}`,
	},
	"change-memory": {namespace, "/v1/memories/m?" + owner, `{"importance":0.7}`}, "delete-memory": {namespace, "/v1/memories/m?" + owner, ""},
	"change-memory-tags": {namespace, "/v1/memories/m/tags?" + owner, `{"add":["x"]}`}, "put-memory-tags": {namespace, "/v1/memories/m/tags?" + owner, `{"tags":["x"]}`},
	"undo-memory": {namespace, "/v1/memories/m:undo?" + owner, ""}, "release-memory": {namespace, "/v1/memories/m:release?" + owner, ""},
	"discard-memory": {namespace, "/v1/memories/m:discard?" + owner, ""}, "undo-turn": {namespace, "/v1/turns/t:undo?" + owner, ""},
	"import-memories": {anywhere, "/v1/memories:import?namespace={own}", "\n"}, // each line is refused by itself
	"prune-memories":  {namespace, "/v1/memories:prune", `{"namespace":"{ns}","user_id":"{user}","max_items":1,"dry_run":true}`},
	"complete-turn":   {namespace, "/v1/turns", `{"prompt":"a","response":"b","session_id":"s","namespace":"{ns}","user_id":"{user}"}`},
	"erase-session":   {everyone, "/v1/sessions/s?erase=true&namespace={ns}", ""}, "erase-user": {namespace, "/v1/users/{user}?erase=true&namespace={ns}", ""},

	"list-procedures": {namespace, "/v1/procedures?" + owner, ""}, "get-procedure": {namespace, "/v1/procedures/p?" + owner, ""},
	"preview-procedure": {namespace, "/v1/procedures/p/preview?" + owner, ""}, "procedure-history": {namespace, "/v1/procedures/p/history?" + owner, ""},
	"put-draft": {namespace, "/v1/procedures/p/draft?" + owner, `{"trigger":"when a","steps":["b"]}`}, "delete-draft": {namespace, "/v1/procedures/p/draft?" + owner, ""},
	"publish-procedure": {namespace, "/v1/procedures/p:publish?" + owner, ""}, "unpublish-procedure": {namespace, "/v1/procedures/p:unpublish?" + owner, ""},
	"roll-back-procedure": {namespace, "/v1/procedures/p:rollback?" + owner, `{"version":1}`}, "erase-procedure": {namespace, "/v1/procedures/p?erase=true&" + owner, ""},

	"mem0-list": {namespace, "/mem0/v1/memories?project_id={ns}&user_id={user}", ""}, "mem0-delete-all": {namespace, "/mem0/v1/memories?project_id={ns}&user_id={user}", ""},
	"mem0-list-v2":               {namespace, "/mem0/v2/memories?project_id={ns}", `{"filters":{"user_id":"{user}"}}`},
	"mem0-list-v3":               {namespace, "/mem0/v3/memories?project_id={ns}", `{"filters":{"user_id":"{user}"}}`},
	"mem0-add":                   {namespace, "/mem0/v1/memories?project_id={ns}", `{"messages":[{"role":"user","content":"a"}],"user_id":"{user}"}`},
	"mem0-add-v3":                {namespace, "/mem0/v3/memories/add?project_id={ns}", `{"messages":[{"role":"user","content":"a"}],"user_id":"{user}"}`},
	"openai-models":              {anywhere, "/v1/models", ""},
	"openai-model":               {anywhere, "/v1/models/static", ""},
	"rerank":                     {anywhere, "/v1/rerank", `{"query":"a","documents":["a"]}`},
	"rerank-v2":                  {anywhere, "/v2/rerank", `{"query":"a","documents":["a"]}`},
	"openai-upload-file":         {shared, "/v1/files?namespace={ns}", aForm},
	"openai-files":               {namespace, "/v1/files?namespace={ns}", ""},
	"openai-file":                {namespace, "/v1/files/f?namespace={ns}", ""},
	"openai-file-content":        {namespace, "/v1/files/f/content?namespace={ns}", ""},
	"openai-delete-file":         {shared, "/v1/files/f?namespace={ns}", ""},
	"openai-create-vector-store": {shared, "/v1/vector_stores?namespace={ns}", `{"name":"a"}`},
	"openai-vector-stores":       {namespace, "/v1/vector_stores?namespace={ns}", ""},
	"openai-vector-store":        {namespace, "/v1/vector_stores/v?namespace={ns}", ""},
	"openai-change-vector-store": {shared, "/v1/vector_stores/v?namespace={ns}", `{"name":"b"}`},
	"openai-delete-vector-store": {shared, "/v1/vector_stores/v?namespace={ns}", ""},
	"openai-search-vector-store": {namespace, "/v1/vector_stores/v/search?namespace={ns}", `{"query":"a"}`},
	"openai-add-file":            {shared, "/v1/vector_stores/v/files?namespace={ns}", `{"file_id":"f"}`},
	"openai-store-files":         {namespace, "/v1/vector_stores/v/files?namespace={ns}", ""},
	"openai-store-file":          {namespace, "/v1/vector_stores/v/files/f?namespace={ns}", ""},
	"openai-change-file":         {shared, "/v1/vector_stores/v/files/f?namespace={ns}", `{"attributes":{}}`},
	"openai-store-file-content":  {namespace, "/v1/vector_stores/v/files/f/content?namespace={ns}", ""},
	"openai-remove-file":         {shared, "/v1/vector_stores/v/files/f?namespace={ns}", ""},
	"openai-create-batch":        {shared, "/v1/vector_stores/v/file_batches?namespace={ns}", `{"file_ids":["f"]}`},
	"openai-batch":               {namespace, "/v1/vector_stores/v/file_batches/b?namespace={ns}", ""},
	"openai-cancel-batch":        {namespace, "/v1/vector_stores/v/file_batches/b/cancel?namespace={ns}", ""},
	"openai-batch-files":         {namespace, "/v1/vector_stores/v/file_batches/b/files?namespace={ns}", ""},
	"mem0-entities":              {everyone, "/mem0/v1/entities?project_id={ns}", ""},
	"mem0-delete-entity":         {namespace, "/mem0/v1/entities/user/{user}?project_id={ns}", ""},
	"mem0-delete-entity-v2":      {namespace, "/mem0/v2/entities/user/{user}?project_id={ns}", ""},
	"mem0-batch-update":          {namespace, "/mem0/v1/batch?project_id={ns}", `{"memories":[{"memory_id":"m-{user}","metadata":{"a":"b"}}]}`},
	"mem0-batch-delete":          {namespace, "/mem0/v1/batch?project_id={ns}", `{"memories":[{"memory_id":"m-{user}"}]}`},
	"mem0-search":                {namespace, "/mem0/v1/memories/search?project_id={ns}", `{"query":"a","user_id":"{user}"}`},
	"mem0-search-v2": {
		namespace, "/mem0/v2/memories/search?project_id={ns}",
		`{"query":"a","filters":{"user_id":"{user}"}}`,
	},
	"mem0-search-v3": {
		namespace, "/mem0/v3/memories/search?project_id={ns}",
		`{"query":"a","filters":{"user_id":"{user}"}}`,
	},
	"mem0-get": {namespace, "/mem0/v1/memories/m-{user}?project_id={ns}", ""}, "mem0-history": {namespace, "/mem0/v1/memories/m-{user}/history?project_id={ns}", ""},
	"mem0-update": {namespace, "/mem0/v1/memories/m-{user}?project_id={ns}", `{"metadata":{"a":"b"}}`}, "mem0-delete": {namespace, "/mem0/v1/memories/m-{user}?project_id={ns}", ""},
}

// caller is who sends a request, and to whose namespace and user.
type caller struct {
	key      access.Key
	text     string
	ns, user string
}

// wants returns the statuses that an operation may answer a caller with: those given, or
// if there are none, any that is no refusal.
func (c caller) wants(need access.Role, p probe) []int {
	otherNamespace := len(c.key.Namespaces) > 0 && c.ns != c.key.Namespaces[0]
	otherUser := c.key.User != "" && c.user != c.key.User
	aboutUser := strings.Contains(p.target+p.body, "{user}")
	bound := len(c.key.Namespaces) > 0 || c.key.User != ""
	switch {
	case need == access.None:
		return []int{200}
	case c.key.Role < need:
		return []int{403}
	case p.reach == whole && bound, p.reach == shared && c.key.User != "", p.reach == everyone && c.key.User == "" && c.key.Role < access.Admin:
		return []int{403}
	case (p.reach == jobs || p.reach == changeJob) && otherNamespace:
		return []int{404}
	case p.reach == changeJob && c.key.User != "":
		return []int{403}
	case p.reach >= namespace && p.reach <= everyone && otherNamespace:
		return []int{403}
	case p.reach == namespace && otherUser && aboutUser:
		return []int{403, 404}
	}
	return nil
}

// TestEveryRouteEveryRole sends every operation of the OpenAPI document for keys of every
// role: unbound, bound to namespaces, and bound to a user; to their own and to others'.
func TestEveryRouteEveryRole(t *testing.T) {
	f := startPaused(t, Options{})
	jobOf := fillTenants(t, f)
	callers := tenants(t, f)
	revoked := revokedKey(t, f)
	for path, item := range f.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{
			"GET": item.Get, "PUT": item.Put, "POST": item.Post, "PATCH": item.Patch, "DELETE": item.Delete,
		} {
			if op == nil {
				continue
			}
			p, probed := probes[op.OperationID]
			if !probed {
				t.Errorf("%s %s (%s) has no request in this test", method, path, op.OperationID)
				continue
			}
			need := roleOf(op.OperationID)
			if !slices.Contains(operationRoles[need], op.OperationID) {
				t.Errorf("%s %s (%s) is not among the operationRoles", method, path, op.OperationID)
			}
			for _, text := range []string{"", "rgx_00000000_" + strings.Repeat("a", 43), revoked} {
				if got := f.try(t, method, p, caller{text: text, ns: "alpha", user: "ada"}, jobOf); need > access.None && got != 401 {
					t.Errorf("%s without a good key: %d", op.OperationID, got)
				}
			}
			for _, c := range callers {
				want, got := c.wants(need, p), f.try(t, method, p, c, jobOf)
				if want == nil && (got == 422 || got == 400 || got == 401 || got == 403 || got >= 500) || want != nil && !slices.Contains(want, got) {
					t.Errorf("%s by %s for %s of %s: %d, want %v", op.OperationID, c.key.Name, c.user, c.ns, got, want)
				}
			}
		}
	}
	if got := f.try(t, "GET", probe{target: "/openapi.json"}, caller{ns: "alpha"}, nil); got != 401 {
		t.Errorf("the document without a key: %d", got)
	}
}

// revokedKey returns what was an admin's key.
func revokedKey(t *testing.T, f *fixture) string {
	t.Helper()
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "gone", Role: access.Admin})
	if err == nil {
		_, err = f.eng.Keys().Revoke(t.Context(), made.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}

// tenants makes the keys, and says what is tried with each.
func tenants(t *testing.T, f *fixture) (all []caller) {
	t.Helper()
	for _, k := range []access.Key{
		{Name: "reader", Role: access.Read},
		{Name: "writer", Role: access.Write},
		{Name: "admin", Role: access.Admin},
		{Name: "reader of alpha", Role: access.Read, Namespaces: []string{"alpha"}},
		{Name: "writer of alpha", Role: access.Write, Namespaces: []string{"alpha"}},
		{Name: "admin of alpha", Role: access.Admin, Namespaces: []string{"alpha"}},
		{Name: "ada reading", Role: access.Read, User: "ada"},
		{Name: "ada writing", Role: access.Write, User: "ada"},
		{Name: "ada writing in alpha", Role: access.Write, Namespaces: []string{"alpha"}, User: "ada"},
	} {
		made, err := f.eng.Keys().Create(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range []string{"alpha", "beta"} {
			for _, user := range []string{"ada", "bob"} {
				if ns == "alpha" || len(k.Namespaces) > 0 || user == "ada" {
					all = append(all, caller{k, made.Text, ns, user})
				}
			}
		}
	}
	return all
}

// fillTenants stores something of two users in two namespaces. It returns a job of each.
func fillTenants(t *testing.T, f *fixture) map[string]string {
	t.Helper()
	jobOf := make(map[string]string)
	for _, ns := range []string{"alpha", "beta"} {
		if _, err := f.eng.Documents().Put(t.Context(), ns, ragctx.Document{ExternalID: "d", Text: "some words"}, ""); err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{"ada", "bob"} {
			m := ragctx.Memory{ID: "m-" + user, Namespace: ns, UserID: user, Type: ragctx.MemorySemantic, Content: secretOf(ns, user)}
			if _, _, err := f.eng.Memories().Put(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		a := f.call(t, "POST", "/v1/documents:bulk?namespace="+ns, `{"id":"d4","text":"words"}`+"\n", "Content-Type: application/x-ndjson")
		_, id, ok := strings.Cut(a.body, `"id":"`)
		if !ok {
			t.Fatalf("no job: %d %s", a.status, a.body)
		}
		jobOf[ns], _, _ = strings.Cut(id, `"`)
	}
	return jobOf
}

// try sends a probe and returns the status of the answer.
func (f *fixture) try(t *testing.T, method string, p probe, c caller, jobOf map[string]string) int {
	t.Helper()
	own := c.ns
	if len(c.key.Namespaces) > 0 {
		own = c.key.Namespaces[0]
	}
	fill := strings.NewReplacer("{ns}", c.ns, "{own}", own, "{user}", c.user, "{job}", jobOf[c.ns])
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+fill.Replace(p.target), strings.NewReader(fill.Replace(p.body)))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case strings.HasSuffix(p.body, "\n") && p.body != aForm:
		req.Header.Set("Content-Type", "application/x-ndjson")
	case p.body == aForm:
		req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	case p.body != "":
		req.Header.Set("Content-Type", "application/json")
	}
	if c.text != "" {
		req.Header.Set("Authorization", "Bearer "+c.text)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	f.keepsSecrets(t, method, resp, p, c)
	if resp.StatusCode == http.StatusUnauthorized && resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%s: 401 without WWW-Authenticate", p.target)
	}
	return resp.StatusCode
}

// keepsSecrets reads an answer that is no stream, and fails where it has words of a user or
// a namespace that the caller's key does not reach.
func (f *fixture) keepsSecrets(t *testing.T, method string, resp *http.Response, p probe, c caller) {
	t.Helper()
	if strings.Contains(resp.Header.Get("Content-Type"), "event-stream") {
		return
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		t.Errorf("%s %s: %v", method, p.target, err)
	}
	for _, ns := range []string{"alpha", "beta"} {
		for _, user := range []string{"ada", "bob"} {
			reached := c.key.Role > access.None && (len(c.key.Namespaces) == 0 || c.key.Namespaces[0] == ns) && (c.key.User == "" || c.key.User == user)
			if !reached && strings.Contains(string(b), secretOf(ns, user)) {
				t.Errorf("%s %s by %q tells %q", method, p.target, c.key.Name, secretOf(ns, user))
			}
		}
	}
}

// secretOf is what only who reaches a user of a namespace may read.
func secretOf(ns, user string) string { return "a secret of " + user + " in " + ns }

// TestUserWall checks what a key of one user sees of others', by id and in lists.
func TestUserWall(t *testing.T) {
	f := startPaused(t, Options{})
	for user, id := range map[string]string{"ada": "hers", "bob": "his", "": "all"} {
		m := ragctx.Memory{ID: id, UserID: user, Type: ragctx.MemorySemantic, Content: "Words of " + id}
		if _, _, err := f.eng.Memories().Put(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	made, err := f.eng.Keys().Create(t.Context(), access.Key{Name: "ada", Role: access.Write, User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	key := "Authorization: Bearer " + made.Text
	for _, tc := range []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/v1/memories/hers", "", 200},
		{"GET", "/v1/memories/all", "", 200},
		{"GET", "/v1/memories/his", "", 404},
		{"GET", "/v1/memories/none", "", 404},
		{"GET", "/v1/items/his", "", 404},
		{"GET", "/v1/items/his?cluster=c", "", 404},
		{"GET", "/v1/memories/his/history", "", 404},
		{"GET", "/v1/memories/his?user_id=bob", "", 403},
		{"GET", "/v1/memories?all_users=true", "", 403},
		{"GET", "/v1/procedures?all_users=true", "", 403},
		{"GET", "/v1/items/procedure:p@1?user_id=ada", "", 422},
		{"PATCH", "/v1/memories/his", `{"importance":0.9}`, 404},
		{"PATCH", "/v1/memories/all", `{"importance":0.9}`, 403},
		{"PATCH", "/v1/memories/hers", `{"importance":0.9}`, 200},
		{"POST", "/v1/memories/all:undo", "", 403},
		{"POST", "/v1/memories/his:undo", "", 404},
		{"DELETE", "/v1/memories/all?erase=true", "", 403},
		{"DELETE", "/mem0/v1/memories/his", "", 404},
		{"DELETE", "/v1/users/bob?erase=true", "", 403},
		{"POST", "/v1/memories", `{"content":"x","user_id":"bob"}`, 403},
		{"POST", "/v1/memories", `{"id":"all","content":"x"}`, 409},
	} {
		header := []string{key}
		if tc.body != "" {
			header = append(header, "Content-Type: application/json")
		}
		if a := f.call(t, tc.method, tc.target, tc.body, header...); a.status != tc.status {
			t.Errorf("%s %s: %d, want %d: %s", tc.method, tc.target, a.status, tc.status, a.body)
		}
	}
	for _, target := range []string{"/v1/memories", "/v1/memories:export"} {
		if a := f.call(t, "GET", target, "", key); strings.Contains(a.body, "of his") || !strings.Contains(a.body, "of hers") {
			t.Errorf("%s: %s", target, a.body)
		}
	}
	a := f.call(t, "POST", "/v1/context", `{"query":"words"}`, key, "Content-Type: application/json")
	if strings.Contains(a.body, "of his") || !strings.Contains(a.body, "of hers") {
		t.Errorf("context: %s", a.body)
	}
	if m, err := f.eng.Memories().Get(t.Context(), "", "all", "", true); err != nil || m.UserID != "" || m.Importance == 0.9 {
		t.Errorf("what is nobody's is %+v, %v", m, err)
	}
}

// TestKeysOverHTTP makes, lists and revokes keys, and sees when they are asked for.
func TestKeysOverHTTP(t *testing.T) {
	f := startPaused(t, Options{})
	k, err := f.client.CreateKey(t.Context(), access.Key{Name: "ops", Role: access.Admin})
	if err != nil || !strings.HasPrefix(k.Text, k.Prefix+"_") || !access.IsKey(k.Prefix) {
		t.Fatalf("made %+v, %v", k, err)
	}
	if _, err := f.client.Keys(t.Context(), "", 0); err == nil || f.call(t, "GET", "/v1/keys", "").status != 401 {
		t.Errorf("without a key: %v", err)
	}
	with := NewClientWith(f.url, ClientOptions{Key: k.Text})
	defer with.Close()
	soon, err := with.CreateKey(t.Context(), access.Key{Name: "soon", Role: access.Read, Namespaces: []string{"b", "a", "b"}, Expires: time.Now().Add(time.Hour)})
	if err != nil || len(soon.Namespaces) != 2 {
		t.Errorf("made %+v, %v", soon, err)
	}
	list, err := with.Keys(t.Context(), "", 1)
	if err != nil || len(list) != 1 || list[0].ID != k.ID || list[0].LastUsed.IsZero() {
		t.Errorf("first page %+v, %v", list, err)
	}
	if rest, err := with.Keys(t.Context(), k.ID, 0); err != nil || len(rest) != 1 || rest[0].ID != soon.ID {
		t.Errorf("second page %+v, %v", rest, err)
	}
	for _, header := range []string{"X-API-Key: " + k.Text, "Authorization: bearer " + k.Text, "Authorization: Token " + k.Text} {
		if a := f.call(t, "GET", "/v1/keys", "", header); a.status != 200 || strings.Contains(a.body, k.Text[13:]) {
			t.Errorf("%s: %d %s", header[:12], a.status, a.body)
		}
	}
	for _, header := range [][]string{
		{"Authorization: Basic YTpi"},
		{"Authorization: Bearer"},
		{"Authorization: Bearer " + k.Text + "x"},
		{"X-API-Key: "},
		{"Authorization: Bearer " + k.Text, "X-API-Key: " + k.Text},
		{"Authorization: Bearer " + soon.Text[:13] + k.Text[13:]},
	} {
		if a := f.call(t, "GET", "/v1/namespaces", "", header...); a.status != 401 || a.problem(t).Code != "unauthenticated" {
			t.Errorf("%v: %d %s", header, a.status, a.body)
		}
	}
	if gone, err := with.RevokeKey(t.Context(), soon.ID); err != nil || gone.Revoked.IsZero() {
		t.Errorf("revoked %+v, %v", gone, err)
	}
	if a := f.call(t, "GET", "/v1/namespaces", "", "X-API-Key: "+soon.Text); a.status != 401 || !strings.Contains(a.body, "revoked") {
		t.Errorf("a revoked key: %d %s", a.status, a.body)
	}
	if _, err := with.RevokeKey(t.Context(), k.ID); err != nil {
		t.Error(err)
	}
	for header, status := range map[string]int{"Accept: */*": 200, "Authorization: Token m0-abc": 200, "Authorization: Basic YTpi": 200, "Authorization: Bearer " + k.Text: 401} {
		if a := f.call(t, "GET", "/v1/namespaces", "", header); a.status != status {
			t.Errorf("without any keys, %s: %d, want %d", header, a.status, status)
		}
	}
	for _, bad := range []access.Key{
		{Role: access.Read},
		{Name: "x", Role: access.Admin, User: "u"},
		{Name: "x", Role: access.Read, Namespaces: []string{""}},
		{Name: "x", Role: access.Read, Expires: time.Unix(1, 0)},
		{Name: strings.Repeat("x", access.MaxKeyName+1), Role: access.Read},
	} {
		if _, err := f.client.CreateKey(t.Context(), bad); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
