//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// step is one write, and how it is looked for afterwards.
type step struct {
	method, path, body string
	// look is what a GET of it must hold, or must not hold if gone is set; "" is not looked at.
	// A path may have {id}, which the answer to the first step named.
	look, has string
	gone      bool
	erases    string // a word that no file holds afterwards
}

// thing is something that is written in steps. Its journal is outside of the server: done
// counts the steps that were acknowledged, cut says that one more was sent.
type thing struct {
	kind  string
	steps []step
	done  int
	cut   bool
	later bool   // what was acknowledged is a job that goes on by itself
	id    string // as the answer to the first step named it
}

// things returns one thing of every kind that can be written, under names that nothing else has.
func things(n string) []*thing {
	put := func(kind string, steps ...step) *thing { return &thing{kind: kind, steps: steps} }
	doc, mem, ses, pro, led := "/v1/documents/"+n, "/v1/memories/"+n, "/v1/sessions/"+n, "/v1/procedures/"+n, "/v1/clusters/"+n
	lead := "Zq" + n + "xw" // begins the words that are looked for
	said := func(i int) string {
		return fmt.Sprintf(`{"messages":[{"id":"%s-m%d","role":"user","content":"%s%d"}]}`, n, i, lead, i)
	}
	return []*thing{
		put("document",
			step{"PUT", doc + "-d", `{"title":"T","tags":["a"],"text":"` + lead + `one ` + strings.Repeat("harbour ", 300) + `"}`, doc + "-d", lead + "one", false, ""},
			step{"PUT", doc + "-d", `{"text":"` + lead + `two"}`, doc + "-d", lead + "two", false, ""},
			step{"DELETE", doc + "-d", "", doc + "-d", lead, true, ""}),
		put("erased document",
			step{"PUT", doc + "-e", `{"text":"` + lead + `gone"}`, doc + "-e", lead + "gone", false, ""},
			step{"DELETE", doc + "-e?erase=true", "", doc + "-e", lead, true, lead + "gone"}),
		put("bulk",
			step{"POST", "/v1/documents:bulk?wait=60s", `{"id":"` + n + `-b1","text":"One."}` + "\n" + `{"id":"` + n + `-b2","text":"` + lead + `bulk"}`, doc + "-b2", lead + "bulk", false, ""}),
		put("turn",
			step{"POST", "/v1/turns", `{"id":"` + n + `-t","session_id":"s","prompt":"` + lead + `asked","response":"yes"}`, "/v1/turns/" + n + "-t", lead + "asked", false, ""},
			step{"POST", "/v1/turns/" + n + "-t:undo", "", "/v1/turns/" + n + "-t", lead + "asked", false, ""}),
		put("memory",
			step{"POST", "/v1/memories", `{"id":"` + n + `-m","content":"` + lead + `first"}`, mem + "-m", lead + "first", false, ""},
			step{"PATCH", mem + "-m", `{"content":"` + lead + `second"}`, mem + "-m", lead + "second", false, ""},
			step{"PUT", mem + "-m/tags", `{"tags":["` + n + `tag"]}`, mem + "-m", n + "tag", false, ""},
			step{"PATCH", mem + "-m/tags", `{"add":["` + n + `more"]}`, mem + "-m", n + "more", false, ""},
			step{"POST", mem + "-m:undo", "", mem + "-m", n + "more", true, ""},
			step{"DELETE", mem + "-m", "", mem + "-m", lead, true, ""}),
		put("erased memory",
			step{"POST", "/v1/memories", `{"id":"` + n + `-f","content":"` + lead + `forget"}`, mem + "-f", lead + "forget", false, ""},
			step{"DELETE", mem + "-f?erase=true", "", mem + "-f", lead, true, lead + "forget"}),
		put("imported memory", step{"POST", "/v1/memories:import", `{"id":"` + n + `-i","content":"` + lead + `import"}`, mem + "-i", lead + "import", false, ""}),
		put("session",
			step{"POST", "/v1/sessions", `{"id":"` + n + `-s","messages":[{"id":"` + n + `-m0","role":"system","content":"` + lead + `0"}]}`, ses + "-s/messages", lead + "0", false, ""},
			step{"POST", ses + "-s/messages", said(1), ses + "-s/messages", lead + "1", false, ""},
			step{"PUT", ses + "-s/messages/" + n + "-m1/label", `{"label":"` + n + `label"}`, ses + "-s/labels", n + "label", false, ""},
			step{"PUT", ses + "-s/sections/notes", said(2), ses + "-s/messages?section=notes", lead + "2", false, ""},
			step{"PATCH", ses + "-s", `{"parameters":{"a":"` + n + `parameter"}}`, ses + "-s", n + "parameter", false, ""},
			step{"POST", ses + "-s:fork", `{"to":"` + n + `-fork"}`, ses + "-fork/messages", lead + "1", false, ""},
			step{"POST", ses + "-s:navigate", `{"message_id":"` + n + `-m0"}`, ses + "-s", `"leaf":"` + n + `-m0"`, false, ""},
			step{"DELETE", ses + "-s/sections/notes", "", ses + "-s", `"name":"notes"`, true, ""},
			step{"DELETE", ses + "-s?erase=true", "", ses + "-s", n, true, lead + "1"}),
		put("procedure",
			step{"PUT", pro + "-p/draft", `{"trigger":"Roll back ` + n + `","steps":["` + lead + `draft"]}`, pro + "-p", lead + "draft", false, ""},
			step{"POST", pro + "-p:publish", "", pro + "-p", `"canonical":1`, false, ""},
			step{"PUT", pro + "-p/draft", `{"trigger":"Roll back ` + n + `","steps":["` + lead + `again"]}`, pro + "-p", lead + "again", false, ""},
			step{"DELETE", pro + "-p/draft", "", pro + "-p", lead + "again", true, ""},
			step{"POST", pro + "-p:unpublish", "", pro + "-p", `"canonical"`, true, ""},
			step{"DELETE", pro + "-p?erase=true", "", pro + "-p", lead, true, lead + "draft"}),
		put("ledger",
			step{"POST", led + "-l/messages", `{"topic":"T","sender":"a","receiver":"broadcast","text":"` + lead + `said"}`, led + "-l/messages", lead + "said", false, ""},
			step{"DELETE", led + "-l?erase=true", "", led + "-l/messages", lead + "said", true, lead + "said"}),
		put("namespace",
			step{"POST", "/v1/namespaces", `{"name":"` + n + `-n","quotas":{"documents":7}}`, "/v1/namespaces/" + n + "-n", `"documents":7`, false, ""},
			step{"PUT", "/v1/namespaces/" + n + "-n/quotas", `{"documents":9}`, "/v1/namespaces/" + n + "-n", `"documents":9`, false, ""},
			step{"PUT", "/v1/rankings/documents?namespace=" + n + "-n", `{"method":"convex","vector_weight":0.4}`, "/v1/rankings/documents?namespace=" + n + "-n", "0.4", false, ""},
			step{"PUT", doc + "-in?namespace=" + n + "-n", `{"text":"` + lead + `within"}`, doc + "-in?namespace=" + n + "-n", lead + "within", false, ""},
			step{"DELETE", "/v1/namespaces/" + n + "-n?erase=true", "", "/v1/namespaces/" + n + "-n", n, true, lead + "within"}),
		put("vector store",
			step{"POST", "/v1/vector_stores", `{"name":"` + lead + `store"}`, "/v1/vector_stores/{id}", lead + "store", false, ""},
			step{"POST", "/v1/vector_stores/{id}", `{"name":"` + lead + `renamed"}`, "/v1/vector_stores/{id}", lead + "renamed", false, ""},
			step{"DELETE", "/v1/vector_stores/{id}", "", "/v1/vector_stores/{id}", lead, true, ""}),
		put("user",
			step{"POST", "/v1/memories", `{"id":"` + n + `-u","user_id":"` + n + `-user","content":"` + lead + `theirs"}`, mem + "-u?user_id=" + n + "-user", lead + "theirs", false, ""},
			step{"DELETE", "/v1/users/" + n + "-user?erase=true", "", mem + "-u?user_id=" + n + "-user", lead, true, lead + "theirs"}),
		put("key",
			step{"POST", "/v1/keys", `{"name":"` + n + `key","role":"read"}`, "/v1/keys", n + "key", false, ""},
			step{"POST", "/v1/keys/{id}:revoke", "", "/v1/keys", n + "key", false, ""}),
	}
}

// unmixed are the operations that write and are not among [things], each with the reason.
var unmixed = map[string]string{
	"add-session-provider": "needs a provider of the operator's", "remove-session-provider": "the same",
	"post-document":   "stores as put-document does",
	"import-messages": "appends as append-messages does", "import-session": "makes what create-session and append make",
	"release-memory": "takes what was learnt from a turn out of quarantine", "discard-memory": "the same",
	"compact-session": "writes a record as an observation does", "undo-session-compaction": "needs such a record",
	"extract-memories": "writes nothing without a turn", "remember-outcome": "writes a memory as remember does", "prune-memories": "deletes memories of others",
	"retry-job": "needs a job that failed", "cancel-job": "needs a job that runs", "roll-back-procedure": "needs two versions",
	"put-embedder": "changes no answer at once", "reembed": "is a job over everything; see TestModel", "doctor": "is a job that reads", "mem0-add": "remember", "mem0-add-v3": "remember",
	"mem0-update": "change-memory", "mem0-delete": "delete-memory", "mem0-delete-all": "prune-memories",
	"mem0-delete-entity": "prune-memories", "mem0-delete-entity-v2": "prune-memories", "mem0-batch-update": "change-memory", "mem0-batch-delete": "delete-memory",
	"openai-upload-file": "stores as put-document does", "openai-delete-file": "delete-document", "openai-add-file": "put-document",
	"openai-change-file": "put-document", "openai-remove-file": "delete-document", "openai-create-batch": "put-document for each file",
	"openai-cancel-batch": "changes nothing",
}

// TestMixedIsEverything finds among the things every operation of the REST API that writes.
func TestMixedIsEverything(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(api.OpenAPI("test"), &doc); err != nil {
		t.Fatal(err)
	}
	done := make(map[string]bool)
	for _, th := range things("n") {
		for _, s := range th.steps {
			path, _, _ := strings.Cut(s.path, "?")
			done[s.method+" "+path] = true
		}
	}
	reads := regexp.MustCompile(`^(assemble|compact|compile|context|embeddings|explain|pack|search|search-memories|assemble-session|compile-session|mem0-search.*|mem0-list.*|openai-search-vector-store|rerank|rerank-v2)$`)
	param := regexp.MustCompile(`\\\{[^}]*\\\}`)
	for path, ops := range doc.Paths {
		is := regexp.MustCompile("^" + param.ReplaceAllString(regexp.QuoteMeta(path), `.+?`) + "$")
		for method, op := range ops {
			if method == "get" || reads.MatchString(op.OperationID) {
				continue
			}
			found := false
			for d := range done {
				m, p, _ := strings.Cut(d, " ")
				found = found || strings.EqualFold(m, method) && is.MatchString(p)
			}
			if _, named := unmixed[op.OperationID]; !found && !named {
				t.Errorf("%s (%s %s) writes and is not among the things", op.OperationID, method, path)
			}
		}
	}
}

// caller sends requests with a key.
type caller struct {
	key string
	do  func(*http.Request) (*http.Response, error)
	url string
}

func (c *caller) send(method, path, body string) (status int, answer string, err error) {
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(path, ":bulk") || strings.Contains(path, ":import") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	if c.key != "" {
		req.Header.Set("X-API-Key", c.key)
	}
	res, err := c.do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// over returns a caller of a server.
func over(url, key string) *caller {
	return &caller{key: key, url: url, do: (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do}
}

// within returns a caller of an engine in this process.
func within(eng *engine.Engine, key string) *caller {
	s := api.New(eng, api.Options{})
	return &caller{key: key, url: "http://127.0.0.1", do: func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
		s.ServeHTTP(w, r)
		return w.Result(), nil
	}}
}

// next takes the next step of a thing. An error says that it was not acknowledged.
func (th *thing) next(c *caller) error {
	s := th.steps[th.done]
	th.cut = true
	status, answer, err := c.send(s.method, strings.ReplaceAll(s.path, "{id}", th.id), s.body)
	if err != nil {
		return err
	}
	if status >= http.StatusMultipleChoices {
		return &refusedError{status, answer}
	}
	var told struct {
		ID    string         `json:"id"`
		State store.JobState `json:"state"`
	}
	_ = json.Unmarshal([]byte(answer), &told) // of others, nothing is asked
	if told.State == store.JobFailed {        // it was accepted, and says that it was not done
		return &refusedError{http.StatusServiceUnavailable, answer}
	}
	if told.State == store.JobQueued || told.State == store.JobRunning { // what cannot go on now does after a restart
		th.later = true
	}
	if th.done == 0 {
		th.id = told.ID
	}
	th.done++
	th.cut = false
	return nil
}

// refusedError is an answer that is an error.
type refusedError struct {
	status int
	body   string
}

// Error implements error.
func (e *refusedError) Error() string { return fmt.Sprintf("%d %s", e.status, e.body) }

// look compares a thing with its journal: it is as after the last step that was acknowledged,
// or after the one that was cut off.
func (th *thing) look(c *caller) error {
	if th.done == 0 && !th.cut {
		return nil
	}
	var first error
	for n := th.done; n <= th.done+1; n++ {
		if n > len(th.steps) || n > th.done && !th.cut {
			break
		}
		err := th.isAfter(c, n)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return fmt.Errorf("%s: %d of %d steps were acknowledged, one more was cut off: %v: %w", th.kind, th.done, len(th.steps), th.cut, first)
}

// isAfter reports why a thing is not as after a number of steps.
func (th *thing) isAfter(c *caller, n int) error {
	if n == 0 { // it is not there, or what its first step makes is not found
		s := th.steps[0]
		if status, body, err := c.send("GET", s.look, ""); err != nil || status < 300 && s.has != "" && strings.Contains(body, s.has) {
			return fmt.Errorf("GET %s: %d %s, %w", s.look, status, body, err)
		}
		return nil
	}
	s := th.steps[n-1]
	if s.has == "" {
		return nil
	}
	path, has := strings.ReplaceAll(s.look, "{id}", th.id), strings.ReplaceAll(s.has, "{id}", th.id)
	status, body, err := c.send("GET", path, "")
	switch there := status < 300 && strings.Contains(body, has); {
	case err != nil:
		return err
	case status >= 500:
		return fmt.Errorf("GET %s: %d %s", path, status, body)
	case there == s.gone:
		return fmt.Errorf("GET %s: %d %.300s; that it has %q is %v", path, status, body, has, there)
	}
	return nil
}

// erased returns the words that no file may hold any more.
func (th *thing) erased() (words []string) {
	for _, s := range th.steps[:th.done] {
		if s.erases != "" {
			words = append(words, s.erases)
		}
	}
	return words
}

// examine opens a copy of a data directory and compares it with the journal of things.
func examine(t *testing.T, from, key string, all []*thing) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	eng, err := engine.Open(context.Background(), engine.Options{Dir: dir})
	if err != nil {
		t.Fatalf("the directory cannot be opened: %v", err)
	}
	defer eng.Close()
	c := within(eng, key)
	for _, th := range all {
		err := th.look(c)
		for end := time.Now().Add(patience); err != nil && (th.cut || th.later) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			err = th.look(c) // it may be going on
		}
		if err != nil {
			t.Error(err)
		}
	}
	if found, err := eng.Admin().Doctor(context.Background(), engine.DoctorOptions{Searching: -1}); err != nil || found.Store.Damaged() {
		t.Errorf("the checkup: %+v, %v", found.Store.Findings, err)
	}
	var words [][]byte
	for _, th := range all {
		for _, w := range th.erased() {
			words = append(words, []byte(strings.ToLower(w)))
		}
	}
	err = filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		b = bytes.ToLower(b)
		for _, w := range words {
			if bytes.Contains(b, w) {
				t.Errorf("%s was erased, and is in %s", w, name)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// firstKey makes the key that all requests then need.
func firstKey(t *testing.T, url string) string {
	t.Helper()
	_, answer, err := over(url, "").send("POST", "/v1/keys", `{"name":"test","role":"admin"}`)
	var made struct {
		Key string `json:"key"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(answer), &made)
	}
	if err != nil || made.Key == "" {
		t.Fatalf("no key: %v, %s", err, answer)
	}
	return made.Key
}

// TestKillMixed kills a server while all kinds of things are written, in any order, and
// compares what is there with a journal of what was acknowledged. Rounds and seed are those of
// TestKill.
func TestKillMixed(t *testing.T) {
	seed := cmp.Or(*killSeed, uint64(rand.Uint32()))
	t.Logf("-kill.seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	rounds := cmp.Or(*killRounds, 4)
	if testing.Short() && *killRounds == 0 {
		rounds = 2
	}
	var dir, key string
	var all []*thing
	acked, cut := 0, 0
	for round := range rounds {
		if round%freshAfter == 0 {
			dir, key, all = t.TempDir(), "", nil
		}
		s := startServer(t, dir)
		if key != "" && rng.IntN(4) == 0 { // as it starts
			time.Sleep(time.Duration(rng.IntN(int(120 * time.Millisecond))))
			s.kill(&killer{T: t, round: round})
			continue
		}
		url, err := s.url()
		if err != nil {
			t.Fatalf("round %d: the server did not start: %v\n%s", round, err, s.stderr.String())
		}
		if key == "" {
			key = firstKey(t, url)
		}
		stop := make(chan struct{})
		written := make([][]*thing, 4)
		var wg sync.WaitGroup
		for w := range written {
			dice := rand.New(rand.NewPCG(rng.Uint64(), uint64(w)))
			wg.Go(func() { written[w] = mix(t, over(url, key), fmt.Sprintf("r%dw%d", round, w), dice, stop) })
		}
		time.Sleep(50*time.Millisecond + time.Duration(rng.IntN(int(900*time.Millisecond))))
		close(stop)
		s.kill(&killer{T: t, round: round})
		wg.Wait()
		for _, some := range written {
			all = append(all, some...)
		}
		for _, th := range all {
			if th.cut {
				cut++
			}
		}
		examine(t, dir, key, all)
		if t.Failed() {
			t.Fatalf("round %d failed", round)
		}
		for _, th := range all {
			acked += th.done
		}
		all = nil // what was seen once is seen again by TestKill
	}
	t.Logf("%d steps acknowledged, %d cut off", acked, cut)
}

// mix writes things until the server is gone.
func mix(t *testing.T, c *caller, name string, dice *rand.Rand, stop <-chan struct{}) (all []*thing) {
	for n := 0; ; n++ {
		some := things(fmt.Sprintf("%sn%d", name, n))
		dice.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		all = append(all, some...)
		for len(some) > 0 {
			i := dice.IntN(len(some))
			if err := some[i].next(c); err != nil {
				select {
				case <-stop:
				default:
					t.Errorf("%s, step %d: %v", some[i].kind, some[i].done, err)
				}
				return all
			}
			if some[i].done == len(some[i].steps) {
				some = append(some[:i], some[i+1:]...)
			}
		}
	}
}
