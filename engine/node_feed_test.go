package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/local"
	"github.com/ragctx/ragctx/index/pgvector"
	"github.com/ragctx/ragctx/internal/logtest"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// sharedIndexes are indexes in files that seem to be in a server.
type sharedIndexes struct {
	index.Opener

	has  func(c index.Collection) (bool, error)
	open func(index.Engine) index.Engine // nil changes nothing
}

var _ index.Shared = sharedIndexes{}

func (s sharedIndexes) Has(_ context.Context, o index.Opening, _ uint64) (bool, error) {
	return s.has(o.Collection)
}

func (s sharedIndexes) Open(ctx context.Context, o index.Opening) (index.Engine, error) {
	e, err := s.Opener.Open(ctx, o)
	if err == nil && s.open != nil {
		e = s.open(e)
	}
	return e, err
}

// linesWith returns how many lines of a log have a text.
func linesWith(log *logtest.Buffer, text string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// TestFeedOnPostgres looks at the rounds in which a node feeds the indexes of all collections.
func TestFeedOnPostgres(t *testing.T) {
	server := pgtest.Start(t, false)
	for name, test := range map[string]func(*testing.T, string){
		"failed": testFeedFailed, "away": testFeedAway, "erased": testFeedErasedFiles, "closed": testFeedClosed,
	} {
		t.Run(name, func(t *testing.T) { test(t, server.Database(t, name)) })
	}
}

// openFed opens a database whose namespaces a, b and c have a document each, with other indexes.
func openFed(t *testing.T, url string, indexes sharedIndexes, log *logtest.Buffer) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), Store: url})
	for _, ns := range []string{"a", "b", "c"} {
		if err == nil {
			_, err = e.Documents().Put(t.Context(), ns, ragctx.Document{ExternalID: "d", Text: "Zebras have stripes."}, "")
		}
	}
	if err == nil {
		err = e.Close()
	}
	if err == nil {
		e, err = engine.Open(t.Context(), engine.Options{
			Dir: t.TempDir(), Store: url, Indexes: indexes, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// testFeedFailed has a collection that cannot be fed. The others are.
func testFeedFailed(t *testing.T, url string) {
	indexes := sharedIndexes{Opener: local.Opener{Dir: t.TempDir()}}
	last := make(chan struct{}, 9)
	namespaces := make(map[int64]bool)
	indexes.has = func(c index.Collection) (bool, error) {
		if namespaces[c.Namespace] = true; len(namespaces) == 3 {
			last <- struct{}{}
			return true, nil
		}
		return false, fmt.Errorf("%w: the table of %d is damaged", ragctx.ErrUnavailable, c.Namespace)
	}
	var log logtest.Buffer
	e := openFed(t, url, indexes, &log)
	within(t, "the last collection is fed", last)
	eventually(t, "the end of the round", func() bool { return linesWith(&log, "is damaged") > 0 })
	if linesWith(&log, "of namespace") != 1 { // of one round
		t.Error(log.String())
	}
	_ = e.Close()
}

// testFeedAway has a server that is away in two rounds: that is logged once, and once when it is back.
func testFeedAway(t *testing.T, url string) {
	indexes := sharedIndexes{Opener: local.Opener{Dir: t.TempDir()}}
	rounds := 0
	indexes.has = func(index.Collection) (bool, error) {
		if rounds++; rounds <= 2 {
			return false, index.ErrAway
		}
		return true, nil
	}
	var log logtest.Buffer
	openFed(t, url, indexes, &log)
	eventually(t, "another round", func() bool { return linesWith(&log, "fed again") > 0 })
	if linesWith(&log, "level=WARN") != 1 || linesWith(&log, index.ErrAway.Error()) != 1 {
		t.Error(log.String())
	}
}

func testFeedErasedFiles(t *testing.T, url string) {
	dir := t.TempDir()
	testFeedErased(t, url, local.Opener{Dir: dir}, func(namespace int64) (int, error) {
		left, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d-*", namespace)))
		return len(left), err
	})
}

// TestErasedIndexOnPostgres erases a namespace whose indexes are in a PostgreSQL database.
func TestErasedIndexOnPostgres(t *testing.T) {
	server, database := pgtest.Extended(t, "vector")
	o, err := pgvector.New(pgvector.Options{URL: database})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	testFeedErased(t, server.Database(t, "erased"), o, func(namespace int64) (n int, err error) {
		c, err := pgx.Connect(t.Context(), database)
		if err != nil {
			return 0, err
		}
		defer c.Close(t.Context())
		err = c.QueryRow(t.Context(), "SELECT count(*) FROM ragctx_index.collections WHERE namespace = $1", namespace).Scan(&n)
		return n, err
	})
}

// testFeedErased erases a namespace while it is about to be fed. Nothing of it is made again.
func testFeedErased(t *testing.T, url string, opener index.Opener, left func(namespace int64) (int, error)) {
	opened := make(chan *engine.Engine, 1)
	fed := make(chan struct{}, 9)
	var erased int64
	indexes := sharedIndexes{Opener: opener}
	indexes.has = func(c index.Collection) (bool, error) {
		switch {
		case erased == 0:
			erased = c.Namespace
			_, err := (<-opened).Admin().EraseNamespace(context.Background(), "a")
			return false, err
		case erased != c.Namespace:
			fed <- struct{}{}
		}
		return erased != c.Namespace, nil
	}
	var log logtest.Buffer
	e := openFed(t, url, indexes, &log)
	opened <- e
	within(t, "the other collections are fed", fed)
	if _, err := e.Documents().Put(t.Context(), "b", ragctx.Document{ExternalID: "e", Text: "Okapis are shy."}, ""); err != nil {
		t.Error(err)
	}
	if n, err := left(erased); err != nil || n > 0 {
		t.Errorf("%d indexes of the namespace are left, %v", n, err)
	}
	if linesWith(&log, "could not be fed") > 0 {
		t.Error(log.String())
	}
}

// testFeedClosed closes an engine while it feeds an index that does not come to an end.
func testFeedClosed(t *testing.T, url string) {
	begun := make(chan struct{}, 9)
	indexes := sharedIndexes{Opener: local.Opener{Dir: t.TempDir()}}
	indexes.has = func(index.Collection) (bool, error) { return false, nil }
	indexes.open = func(e index.Engine) index.Engine { return endlessEngine{e, begun} }
	var log logtest.Buffer
	e := openFed(t, url, indexes, &log)
	within(t, "an index is fed", begun)
	closed := make(chan struct{})
	go func() { _ = e.Close(); close(closed) }()
	within(t, "the engine is closed", closed)
}

// endlessEngine never catches up.
type endlessEngine struct {
	index.Engine

	begun chan<- struct{}
}

func (e endlessEngine) CatchUp(ctx context.Context, _ uint64) error {
	e.begun <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
}
