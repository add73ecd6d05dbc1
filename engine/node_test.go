package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// TestFollowerOnPostgres changes everything that an engine holds in memory through another one, and then ends
// that one. The clocks of the two may differ.
func TestFollowerOnPostgres(t *testing.T) {
	server := pgtest.Start(t, false)
	for name, skew := range map[string]time.Duration{"same": 0, "ahead": time.Minute, "behind": -time.Minute} {
		t.Run(name, func(t *testing.T) { testFollower(t, server.Database(t, name), skew) })
	}
}

func testFollower(t *testing.T, url string, skew time.Duration) {
	shared := func(o *engine.Options) {
		o.Store, o.Follow = url, true
		o.Now, o.NewID = nil, nil // ids of two processes differ
	}
	leader := open(t, shared, func(o *engine.Options) { o.Advertise = "node1.example.com:2" })
	follower := open(t, shared, func(o *engine.Options) { o.Now = func() time.Time { return time.Now().Add(skew) } })
	if !leader.Node().Leads() || follower.Node().Leads() {
		t.Fatal("the first does not lead, or the second does")
	}
	if _, err := follower.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "x", Text: "x"}, ""); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("the follower writes: %v", err)
	}
	if err := leader.Node().Announce("127.0.0.1:1", ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the leader", func() bool {
		l, err := follower.Node().Leader()
		return err == nil && l.URL == "http://node1.example.com:2" && l.Token != ""
	})

	// What is acknowledged is found at once, also from the cache of answers.
	for _, text := range []string{"Zebras have stripes.", "Zebras have black stripes.", "Zebras have white stripes."} {
		leader.put("a.md", text)
		for range 2 {
			if a := follower.ask(query("zebras")); len(a.Items) != 1 || a.Items[0].Content != text {
				t.Fatalf("the follower answers %v to %q", a.Items, text)
			}
		}
	}
	if err := leader.Documents().Delete(t.Context(), "", "a.md"); err != nil {
		t.Fatal(err)
	}
	if found := follower.found(query("zebras")); len(found) != 0 {
		t.Errorf("a deleted document is found: %v", found)
	}

	key, err := leader.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read})
	if err != nil {
		t.Fatal(err)
	}
	valid := func() bool { _, err := follower.Keys().Authenticate(key.Text); return err == nil }
	eventually(t, "a new key", valid)
	if _, err := leader.Keys().Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a revoked key", func() bool { return !valid() })

	leader.put("b.md", "Okapis live in forests.")
	want := index.Ranking{Method: "keyword"}
	if err := leader.Indexes().SetRanking(t.Context(), "", store.KindDocuments, want); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a ranking", func() bool {
		r, err := follower.Indexes().Ranking(t.Context(), "", store.KindDocuments)
		return err == nil && r == want
	})

	if err := leader.publishSkill("deploy", "deploy the okapi service"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a procedure", func() bool {
		return slices.ContainsFunc(follower.ask(query("deploy the okapi service")).Items, func(it ragctx.ContextItem) bool {
			return it.Type == ragctx.TypeSkill
		})
	})

	j, err := leader.Indexes().Reembed(t.Context(), embed.NewHashing(64))
	if err == nil {
		j, err = leader.Jobs().Await(t.Context(), j.ID)
	}
	if err != nil || j.State != store.JobDone {
		t.Fatalf("%+v, %v", j, err)
	}
	eventually(t, "another embedder", func() bool { return follower.Indexes().Embedder() == embed.NewHashing(64).Identity() })
	if a := follower.ask(query("okapis")); len(a.Degraded) != 0 || len(a.Items) == 0 {
		t.Errorf("after the change of the embedder: %v, %v", a.Items, a.Degraded)
	}

	// A namespace of the same name is another one.
	if _, err := leader.Admin().EraseNamespace(t.Context(), ragctx.DefaultNamespace); err != nil {
		t.Fatal(err)
	}
	leader.put("c.md", "Okapis eat leaves.")
	eventually(t, "an erased namespace", func() bool {
		return slices.Equal(follower.found(query("okapis")), leader.found(query("okapis")))
	})

	// The last writes of the leader, which the follower has not been asked for.
	leader.put("late.md", "Okapis have long tongues.")
	if err := leader.Documents().Delete(t.Context(), "", "c.md"); err != nil {
		t.Fatal(err)
	}
	last := leader.found(query("okapis"))
	if err := leader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := follower.Node().AwaitLead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := follower.found(query("okapis")); !slices.Equal(found, last) {
		t.Errorf("after the take-over %v is found, and before it %v", found, last)
	}
	follower.put("d.md", "Okapis are shy.")
	if found := follower.found(query("okapis")); len(found) != 2 {
		t.Errorf("after the take-over %v is found", found)
	}
	third := open(t, shared)
	if found := third.found(query("okapis")); len(found) != 2 {
		t.Errorf("a third process finds %v", found)
	}
}

// TestUnfinishedSnapshotOnPostgres opens a data directory after a crash during a snapshot: the copy of the database is gone.
func TestUnfinishedSnapshotOnPostgres(t *testing.T) {
	url := pgtest.Start(t, false).Database(t, "unfinished")
	var left string
	open(t, func(o *engine.Options) {
		o.Store, left = url, filepath.Join(o.Dir, store.SnapshotTempPrefix+"1", store.DatabaseName)
		if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, []byte("erased long ago"), 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(filepath.Dir(left)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
}
