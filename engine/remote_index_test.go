package engine_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// relay passes connections on to a server while it is up.
type relay struct {
	to string
	ln net.Listener

	mu   sync.Mutex
	up   bool
	open []net.Conn

	hangs sync.RWMutex // held while nothing is passed on
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{to: to, ln: ln, up: true}
	t.Cleanup(func() { _ = ln.Close(); r.set(false) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go r.pass(c)
		}
	}()
	return r
}

// set brings the way to the server up, or takes it down with all connections.
func (r *relay) set(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.up = up; !up {
		for _, c := range r.open {
			_ = c.Close()
		}
		r.open = nil
	}
}

func (r *relay) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer d.Close()
	r.mu.Lock()
	up := r.up
	r.open = append(r.open, c, d)
	r.mu.Unlock()
	if !up {
		return
	}
	go func() { _, _ = io.Copy(hanging{d, &r.hangs}, c) }()
	_, _ = io.Copy(hanging{c, &r.hangs}, d)
}

// hanging is a connection that accepts nothing while a relay hangs.
type hanging struct {
	io.Writer

	hangs *sync.RWMutex
}

func (h hanging) Write(b []byte) (int, error) {
	h.hangs.RLock()
	defer h.hangs.RUnlock()
	return h.Writer.Write(b)
}

// TestHangingIndexOnWeaviate writes while Weaviate hangs.
func TestHangingIndexOnWeaviate(t *testing.T) {
	server, ok := strings.CutPrefix(os.Getenv("RAGCTX_TEST_WEAVIATE"), "weaviate://")
	if !ok {
		t.Skip("no Weaviate server: RAGCTX_TEST_WEAVIATE is not set; tools/cluster/run.sh starts one")
	}
	testHangingOn(t, server+":8080", func(addr string) string {
		return fmt.Sprintf("weaviate://%s/H%dx%d", addr, os.Getpid(), time.Now().UnixNano())
	})
}

// TestHangingIndexOnPostgres writes while PostgreSQL hangs.
func TestHangingIndexOnPostgres(t *testing.T) {
	_, database := pgtest.Extended(t, "vector")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	testHangingOn(t, u.Host, func(addr string) string {
		at := *u
		at.Host = addr
		return at.String()
	})
}

// testHangingOn has the server hang, so that no request to it ends. The first write waits for it for a while, and afterwards
// nothing does: no write, no question and not the end of the engine. Soon after the server answers again, everything is found.
func testHangingOn(t *testing.T, server string, urlAt func(addr string) string) {
	t.Helper()
	const soon, later = 2 * time.Second, 6 * time.Second // on a busy machine
	r := newRelay(t, server)
	at, dir := urlAt(r.ln.Addr().String()), t.TempDir()
	open := func() *engine.Engine {
		e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Index: at, AnswerCache: -1, ProviderTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	within := func(limit time.Duration, what string, do func() error) {
		t.Helper()
		began := time.Now()
		if err := do(); err != nil || time.Since(began) > limit {
			t.Errorf("%s took %v, at most %v was expected: %v", what, time.Since(began), limit, err)
		}
	}
	put := func(limit time.Duration, ns, name string) {
		t.Helper()
		within(limit, "a write to "+ns, func() error {
			_, err := e.Documents().Put(t.Context(), ns, ragctx.Document{ExternalID: name, Text: "The " + name + " eats clams."}, "")
			return err
		})
	}
	ask := func(ns string) (a resolve.Answer, err error) {
		q := ragctx.NewQuery("What eats clams?")
		q.Namespace = ns
		return e.Context(t.Context(), q)
	}
	for _, ns := range []string{"a", "b"} {
		put(patience, ns, "walrus")
	}

	r.hangs.Lock()
	put(later, "a", "otter")
	put(soon, "a", "seal")
	for _, ns := range []string{"b", "c"} { // the index of c was not open
		put(soon, ns, "otter")
	}
	for _, ns := range []string{"a", "b", "c"} {
		within(soon, "a question in "+ns, func() error {
			a, err := ask(ns)
			if errors.Is(err, ragctx.ErrUnavailable) || err == nil && len(a.Degraded) > 0 {
				return nil
			}
			return fmt.Errorf("%v, not degraded", err)
		})
	}
	time.Sleep(8 * time.Second) // the indexes are tried again after 1, 2, 4 and 8 s
	r.hangs.Unlock()
	back := time.Now()
	for _, ns := range []string{"a", "b", "c"} {
		eventually(t, "a whole answer in "+ns, func() bool {
			a, err := ask(ns)
			return err == nil && len(a.Degraded) == 0 && strings.Contains(a.Rendered(), "otter")
		})
	}
	if took := time.Since(back); took > later {
		t.Errorf("answers were whole %v after the server was back", took)
	}

	r.hangs.Lock()
	go func() { _, _ = ask("b") }()
	within(later, "closing", e.Close)
	r.hangs.Unlock()
	e = open()
	defer e.Close()
	put(patience, "b", "seal")
}

// TestCloseIndexOnPostgres closes an engine while it opens an index, which waits for a lock in the database.
func TestCloseIndexOnPostgres(t *testing.T) {
	_, database := pgtest.Extended(t, "vector")
	open := func() *engine.Engine { // with a store that is new, so that it deletes the indexes
		e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), Index: database, ProviderTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	put := func(e *engine.Engine) error {
		_, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "d", Text: "The walrus eats clams."}, "")
		return err
	}
	e := open()
	if err := errors.Join(put(e), e.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), "BEGIN; SELECT FROM ragctx_index.collections FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	e = open()
	done := make(chan error)
	go func() { done <- put(e) }()
	eventually(t, "the index is opened", func() (waits bool) {
		err := c.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").Scan(&waits)
		return err == nil && waits
	})
	began := time.Now()
	if err, took := e.Close(), time.Since(began); err != nil || took > 2*time.Second {
		t.Errorf("closing took %v: %v", took, err)
	}
	<-done
}

// TestIndexOnWeaviate tests indexes in a Weaviate cluster.
func TestIndexOnWeaviate(t *testing.T) {
	server, ok := strings.CutPrefix(os.Getenv("RAGCTX_TEST_WEAVIATE"), "weaviate://")
	if !ok {
		t.Skip("no Weaviate server: RAGCTX_TEST_WEAVIATE is not set; tools/cluster/run.sh starts one")
	}
	for _, stored := range []bool{false, true} {
		testIndexOn(t, server+":8080", "weaviate", stored, func(addr string) string {
			return fmt.Sprintf("weaviate://%s/E%dx%d", addr, os.Getpid(), time.Now().UnixNano())
		})
	}
}

// TestIndexOnPostgres tests indexes in a PostgreSQL database.
func TestIndexOnPostgres(t *testing.T) {
	servers, database := pgtest.Extended(t, "vector")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	for _, stored := range []bool{false, true} {
		nodes := func(name string, readerLeads bool) func(func(string) string) {
			return func(urlAt func(string) string) {
				testNodesOn(t, servers.Database(t, fmt.Sprintf("%s_%v", name, stored)), server, stored, readerLeads, urlAt)
			}
		}
		for schema, test := range map[string]func(urlAt func(string) string){
			"one":   func(urlAt func(string) string) { testIndexOn(t, server, "pgvector", stored, urlAt) },
			"nodes": nodes("nodes", false), "reader": nodes("reader", true),
		} {
			test(func(addr string) string {
				u.Host, u.RawQuery = addr, fmt.Sprintf("sslmode=disable&schema=%s_%v", schema, stored)
				return u.String()
			})
		}
	}
}

// testNodesOn lets a node answer from indexes that another one feeds. It says so while they lack something, also when that node has
// ended; the next node that leads feeds them, whoever uses them. That is the one that has read, or another one.
func testNodesOn(t *testing.T, database, server string, stored, readerLeads bool, urlAt func(addr string) string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	r, waiting := newRelay(t, server), newRelay(t, u.Host) // to the indexes, and to the store for the node that is not to lead
	node := func(addr string, leads bool) *engine.Engine {
		at := *u
		if !leads {
			at.Host = waiting.ln.Addr().String()
		}
		e, err := engine.Open(t.Context(), engine.Options{
			Dir: t.TempDir(), Store: at.String(), Follow: true, Index: urlAt(addr), AckStored: stored, AnswerCache: -1, ProviderTimeout: patience,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	put := func(e *engine.Engine, text string) {
		t.Helper()
		if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: text, Text: text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	// whole asks a node whether it finds a word. An answer that lacks it must be degraded.
	whole := func(e *engine.Engine, word string) bool {
		t.Helper()
		a, err := e.Context(t.Context(), ragctx.NewQuery("What does the "+word+" eat?"))
		if errors.Is(err, ragctx.ErrUnavailable) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Degraded) == 0 && !strings.Contains(a.Rendered(), word) {
			t.Fatalf("an answer without %s is not degraded: %s", word, a.Rendered())
		}
		return len(a.Degraded) == 0
	}
	leader := node(r.ln.Addr().String(), true)
	put(leader, "The walrus eats clams.")
	reader := node(server, readerLeads)
	eventually(t, "the reader answers", func() bool { return whole(reader, "walrus") })
	put(leader, "The otter eats urchins.")
	eventually(t, "the reader finds the next document", func() bool { return whole(reader, "otter") })

	r.set(false)
	put(leader, "The narwhal eats halibut.")
	if whole(reader, "narwhal") {
		t.Error("the index has what its writer could not send")
	}
	next, other := node(server, !readerLeads), reader
	if readerLeads {
		next, other = reader, next
	}
	waiting.set(false)
	_ = leader.Close()
	eventually(t, "the next node leads", next.Node().Leads)
	waiting.set(true)
	eventually(t, "the node that does not lead answers", func() bool { return whole(other, "narwhal") })
}

// testIndexOn writes, asks and deletes with indexes in a server, also while the way to it is cut: writes are acknowledged, and
// answers are degraded, never wrong. Afterwards all is found that was written, and nothing that was deleted. With stored,
// writes do not wait for the indexes.
func testIndexOn(t *testing.T, server, kind string, stored bool, urlAt func(addr string) string) {
	t.Helper()
	r := newRelay(t, server)
	at := urlAt(r.ln.Addr().String())
	dir := t.TempDir()
	open := func() *engine.Engine {
		e, err := engine.Open(t.Context(), engine.Options{Dir: dir, Index: at, AckStored: stored, AnswerCache: -1, ProviderTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	put := func(name, text string) {
		t.Helper()
		if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: name, Text: text}, ""); err != nil {
			t.Fatalf("put %s: %v", name, err)
		}
	}
	ask := func(user, text string) (string, []string) {
		t.Helper()
		q := ragctx.NewQuery(text)
		q.UserID = user
		a, err := e.Context(t.Context(), q)
		if err != nil && !errors.Is(err, ragctx.ErrUnavailable) {
			t.Fatalf("ask %q: %v", text, err)
		}
		if err != nil {
			return "", []string{err.Error()}
		}
		return a.Rendered(), a.Degraded
	}
	// finds asks until an answer is whole, and compares it.
	finds := func(user, text, word string, want bool) {
		t.Helper()
		var got string
		var degraded []string
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			if got, degraded = ask(user, text); len(degraded) == 0 {
				break
			}
		}
		if len(degraded) > 0 || strings.Contains(got, word) != want {
			t.Fatalf("%q finds %q: %v, want %v; degraded %v:\n%s", text, word, !want, want, degraded, got)
		}
	}
	put("walrus.md", "# Walrus\n\nThe walrus eats clams.")
	put("otter.md", "# Otter\n\nThe otter eats urchins.")
	for _, user := range []string{"ada", "bob"} {
		turn := ragctx.Turn{UserID: user, SessionID: user + "1", Prompt: "My walrus is called " + user + "walrus.", Response: "I see."}
		if _, err := e.CompleteTurn(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Sessions().SettleAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds("ada", "What does the walrus eat?", "clams", true)
	finds("ada", "What is my walrus called?", "adawalrus", true)
	finds("ada", "What is my walrus called?", "bobwalrus", false)

	r.set(false)
	put("narwhal.md", "# Narwhal\n\nThe narwhal eats halibut.")
	if err := e.Documents().Delete(t.Context(), "", "otter.md"); err != nil {
		t.Fatal(err)
	}
	if got, degraded := ask("ada", "What does the otter eat?"); strings.Contains(got, "urchins") || len(degraded) == 0 {
		t.Errorf("with the server away: degraded %v\n%s", degraded, got)
	}
	r.set(true)
	finds("ada", "What does the narwhal eat?", "halibut", true)
	finds("ada", "What does the otter eat?", "urchins", false)

	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open()
	defer e.Close()
	finds("bob", "What does the narwhal eat?", "halibut", true)
	finds("bob", "What is my walrus called?", "adawalrus", false)
	for _, i := range e.Metrics().Indexes(t.Context()) {
		if i.Keyword.Kind != kind || !slices.Contains([]string{"documents", "memories"}, i.ID.Kind.String()) {
			t.Errorf("index %+v", i)
		}
	}
}
