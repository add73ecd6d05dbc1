package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// planOf returns how SQLite goes about a statement.
func (s *Store) planOf(t *testing.T, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := s.view(t.Context(), func(tx *Tx) error {
		rows, err := tx.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...) //nolint:sqlclosecheck // Scan closes it
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			steps = append(steps, detail)
			return err
		})
	})
	if err != nil {
		t.Fatal(query, err)
	}
	return strings.Join(steps, "\n")
}

// TestIndexesAreUsed asks SQLite how it goes about the statements that a large
// database would make slow.
func TestIndexesAreUsed(t *testing.T) {
	s := openJobs(t)
	for _, c := range []struct {
		name  string
		query func() (string, []any)
		want  []string
	}{
		{
			"documents", func() (string, []any) { return documentsQuery(store.ListOptions{After: "a", Limit: 9}, 1) },
			[]string{"items_current (namespace=? AND kind=? AND key>?)"},
		},
		{
			"documents of a prefix", func() (string, []any) { return documentsQuery(store.ListOptions{Prefix: "a", Limit: 9}, 1) },
			[]string{"items_current (namespace=? AND kind=? AND key>? AND key<?)"},
		},
		{
			"memories of a user", func() (string, []any) { return memoriesQuery(store.MemoryFilter{UserID: "a", Limit: 9}, 1) },
			[]string{"items_user (namespace=? AND kind=? AND user=?)"},
		},
		{
			"documents of a root", func() (string, []any) { return documentsQuery(store.ListOptions{Root: "/r", Prefix: "a", Limit: 9}, 1) },
			[]string{"items_root (namespace=? AND root=? AND key>? AND key<?)"},
		},
		{
			"memories of a session", func() (string, []any) {
				return memoriesQuery(store.MemoryFilter{SessionID: "s", AnyUser: true, Limit: 9}, 1)
			},
			[]string{"items_session (namespace=? AND kind=? AND session=?)"},
		},
		{
			"all memories", func() (string, []any) {
				return memoriesQuery(store.MemoryFilter{AnyUser: true, Order: store.ByID, After: store.MemoryCursor{ID: "a"}, Limit: 9}, 1)
			},
			[]string{"items_current (namespace=? AND kind=? AND key>?)"},
		},
		{
			"what a memory has superseded", func() (string, []any) { return supersededBy, []any{1, "m", 9} },
			[]string{"history_other (namespace=? AND other=?"},
		},
		{
			"where an erased memory is mentioned", func() (string, []any) { return clearMentions, []any{1, "m"} },
			[]string{"history_other (namespace=? AND other=?"},
		},
		{
			"the history of a memory", func() (string, []any) { return wholeHistory, []any{store.KindMemories, 1, "m"} },
			[]string{"items_version (namespace=? AND kind=? AND key=?)", "history_key (namespace=? AND key=?)"},
		},
		{
			"running jobs of a kind", func() (string, []any) {
				return jobsQuery(store.JobFilter{State: store.JobRunning, Kind: "k", Limit: 1})
			},
			[]string{"jobs_active (kind=?)"},
		},
		{
			"queued jobs", func() (string, []any) { return jobsQuery(store.JobFilter{State: store.JobQueued, Limit: 1}) },
			[]string{"USING INDEX jobs_active"},
		},
		{
			"jobs that have not ended", func() (string, []any) { return activeJobs, nil },
			[]string{"USING INDEX jobs_active"},
		},
		{
			"older jobs", func() (string, []any) { return jobsQuery(store.JobFilter{Before: 9, Limit: 9}) },
			[]string{"PRIMARY KEY (rowid<?)"},
		},
		{
			"items of a job", func() (string, []any) { return itemsQuery(store.ItemFilter{Limit: 9}, 1) },
			[]string{"job_items_n (job=? AND n>?)"},
		},
		{
			"failed items of a job", func() (string, []any) { return itemsQuery(store.ItemFilter{State: store.ItemFailed, Limit: 9}, 1) },
			[]string{"job_items_state (job=? AND state=? AND n>?)"},
		},
		{
			"jobs that ended", func() (string, []any) { return endedBefore, []any{1} },
			[]string{"jobs_finished (finished<?)"},
		},
		{
			"the last place", func() (string, []any) { return lastPlace, nil },
			[]string{"jobs_active"},
		},
		{
			"overtaken items", func() (string, []any) { return skipSuperseded, []any{1} },
			[]string{"job_items_state (job=? AND state=?)"},
		},
		{
			"vectors", func() (string, []any) { return vectorsQuery(1, make([]store.VectorKey, 3)) },
			[]string{"vectors_key (embedder=? AND hash=?)"},
		},
		{
			"old answers", func() (string, []any) { return deleteOldResponses, []any{1, 9} },
			[]string{"idempotency_created (created<?)", "PRIMARY KEY (namespace=? AND route=? AND key=?)"},
		},
		{
			"an erased session with its forks", func() (string, []any) {
				user, name := "ada", "s"
				c, _ := erasureScope{Namespace: 1, User: &user, Session: &name, Turns: true}.sessions("name")
				return c.hideSessions()
			},
			[]string{
				"sessions_name (namespace=? AND name=? AND user=?)", "sessions_erased (erased=?)",
				"session_ancestors_name (namespace=? AND name=?)", "sessions_origin (origin=?)",
			},
		},
		{
			"the erased sessions of a user", func() (string, []any) {
				user := "ada"
				c, _ := erasureScope{Namespace: 1, User: &user, Turns: true}.sessions("name")
				return c.hideSessions()
			},
			[]string{"sessions_user (namespace=? AND user=?)", "sessions_erased (erased=?)", "session_ancestors_name (namespace=?)"},
		},
		{
			"messages of a session", func() (string, []any) { return sessionMessages, []any{1} },
			[]string{"session_messages_session (session=?)"},
		},
		{
			"a message of a session", func() (string, []any) { return sessionMessage, []any{1, "m"} },
			[]string{"session_messages_id (session=? AND id=?)"},
		},
		{
			"the newest messages of a section", func() (string, []any) { return newestOfSection, []any{1, "messages", 9} },
			[]string{"session_messages_section (session=? AND section=?)"},
		},
		{
			"the newest sessions of a user", func() (string, []any) {
				return sessionsQuery(store.SessionFilter{User: "ada", Before: 1, Limit: 9}, 1)
			},
			[]string{"sessions_user (namespace=? AND user=? AND rowid<?)"},
		},
		{
			"the newest sessions", func() (string, []any) {
				return sessionsQuery(store.SessionFilter{AnyUser: true, Before: 1, Limit: 9}, 1)
			},
			[]string{"sessions_namespace (namespace=? AND rowid<?)"},
		},
		{
			"the leaves of a session", func() (string, []any) { return sessionLeaves, []any{1} },
			[]string{"session_messages_parent (session=? AND parent=?)"},
		},
		{
			"messages by section", func() (string, []any) { return sessionCounts, []any{1} },
			[]string{"session_messages_section (session=? AND section=?)"},
		},
		{
			"messages before one", func() (string, []any) { return messagesBefore, []any{1, "m"} },
			[]string{"session_messages_session (session=? AND rowid<?)", "session_messages_id (session=? AND id=?)"},
		},
		{
			"a path", func() (string, []any) { return messagesOnThePath, []any{1, "m"} },
			[]string{"m USING INDEX session_messages_id (session=? AND id=?)", "PRIMARY KEY (rowid=?)"},
		},
	} {
		query, args := c.query()
		plan := s.planOf(t, query, args...)
		for _, want := range c.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s: no %s in\n%s", c.name, want, plan)
			}
		}
		for step := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(step, "SCAN items") || strings.HasPrefix(step, "SCAN session") || strings.HasPrefix(step,
				"SCAN jobs") && !strings.Contains(step, "jobs_active") ||
				strings.HasPrefix(step, "CORRELATED") && c.name == "overtaken items" {
				t.Errorf("%s: %s", c.name, step)
			}
		}
	}
}

// TestListDocumentsNarrows compares lists with what goes through all documents.
func TestListDocumentsNarrows(t *testing.T) {
	s := openJobs(t)
	ns, err := s.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	roots := make(map[string]string)
	parts := []string{"a", "b", "é", "é/", "\U0010ffff", "a/", "Z", "\x7f"}
	for i, x := range parts {
		for j, y := range append(parts, "") {
			root := []string{"", "/r", "/s"}[(i+j)%3]
			roots[x+y] = root
			d := passage.PreparedDocument{Document: ragctx.Document{ExternalID: x + y, Text: "x"}}
			d.Hash[0] = byte(i*len(parts) + j)
			if _, err := s.PutDocument(t.Context(), ns, d, root, store.Content{Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.SampledFrom(append([]string{"", "a/a", "none", "éé"}, parts...))
		o := store.ListOptions{
			After: some.Draw(rt, "after"), Prefix: some.Draw(rt, "prefix"), Limit: rapid.IntRange(1, 100).Draw(rt, "limit"),
			Root: rapid.SampledFrom([]string{"", "/r", "/s", "/none"}).Draw(rt, "root"),
		}
		want := []string{}
		for id, root := range roots {
			if id > o.After && strings.HasPrefix(id, o.Prefix) && (o.Root == "" || o.Root == root) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		want = want[:min(len(want), o.Limit)]
		found, err := s.ListDocuments(t.Context(), ns, o)
		if err != nil {
			rt.Fatal(err)
		}
		got := []string{}
		for _, d := range found {
			got = append(got, d.ID)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v lists %q, want %q", o, got, want)
		}
	})
}

// TestReopenItems compares which failed items are done again with the definition:
// those that no later item of the same id has overtaken.
func TestReopenItems(t *testing.T) {
	s := openJobs(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		var items []store.JobItem
		for i := range rapid.IntRange(0, 12).Draw(rt, "items") {
			it := store.JobItem{
				N: i + 1, Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"), Op: store.OpPut,
				State: rapid.SampledFrom([]store.ItemState{store.ItemDone, store.ItemFailed, store.ItemFailed, store.ItemSkipped}).Draw(rt, "state"),
			}
			if it.State == store.ItemFailed && rapid.Bool().Draw(rt, "body") {
				it.Body = []byte("{}")
			}
			items = append(items, it)
		}
		j := s.spooled(t, fmt.Sprint("j", n), items...)
		err := s.write.do(t.Context(), Low, func(ctx context.Context, tx *Tx) error { return reopenItems(ctx, tx, j) })
		if err != nil {
			rt.Fatal(err)
		}
		got, err := s.JobItems(t.Context(), j.N, store.ItemFilter{Limit: 100})
		if err != nil {
			rt.Fatal(err)
		}
		for i, it := range items {
			want := it.State
			if it.Body != nil {
				want = store.ItemPending
				if slices.ContainsFunc(items[i+1:], func(l store.JobItem) bool { return l.Key == it.Key && l.State == store.ItemDone }) {
					want = store.ItemSkipped
				}
			}
			if got[i].State != want {
				rt.Fatalf("item %d of %+v is %s, want %s", i, items, got[i].State, want)
			}
		}
	})
}

// TestPruneManyResponses removes more answers than go in one transaction.
func TestPruneManyResponses(t *testing.T) {
	s := openJobs(t)
	err := s.write.do(t.Context(), Low, func(ctx context.Context, tx *Tx) error {
		for i := range 2*dropBatch + 1 {
			if _, err := tx.ExecContext(ctx, `INSERT INTO idempotency (namespace, route, key, hash, seed, created)
				VALUES ('n', 'r', ?, 'h', 'seed', ?)`, fmt.Sprint(i), s.now().UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PruneResponses(t.Context(), s.now()); err != nil {
		t.Fatal(err)
	}
	if _, known, err := s.Response(t.Context(), store.RequestKey{Namespace: "n", Route: "r", Key: "0"}, s.now()); err != nil || !known {
		t.Errorf("what is not old is gone: %v, %v", known, err)
	}
	if err := s.PruneResponses(t.Context(), s.now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"0", fmt.Sprint(2 * dropBatch)} {
		if _, known, err := s.Response(t.Context(), store.RequestKey{Namespace: "n", Route: "r", Key: k}, s.now()); err != nil || known {
			t.Errorf("what is old is there: %v, %v", known, err)
		}
	}
}

func TestList(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 7: 8, 8: 8, 9: 12, 13: 16, 17: 24, 100: 128, 1024: 1024, 1025: 1025} {
		ids := make([]uint64, n)
		for i := range ids {
			ids[i] = uint64(i) //nolint:gosec // not negative
		}
		in, args := placeholders(ids)
		if len(args) != want || strings.Count(in, "?") != want {
			t.Errorf("%d ids: %d arguments for %q, want %d", n, len(args), in, want)
		}
		for i := range args {
			if args[i] != int64(min(i, n-1)) {
				t.Errorf("%d ids: argument %d is %v", n, i, args[i])
			}
		}
	}
}
