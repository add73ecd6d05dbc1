package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	convo "github.com/ragctx/ragctx/session"
)

// tracesIn lists the files of a directory that hold a token, in any case.
func tracesIn(t *testing.T, dir, token string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // indexes tidy up meanwhile
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(token))) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// eraseWorld fills a data directory so that its indexes have files: documents
// d0 to d2 of two versions, each with a token of its own, and turns of users.
type eraseWorld struct {
	dir string
	now time.Time
}

func (w *eraseWorld) open(t *testing.T) *engine.Engine {
	t.Helper()
	return openWith(t, engine.Options{Dir: w.dir, Now: func() time.Time { return w.now }})
}

func (w *eraseWorld) fill(t *testing.T, e *engine.Engine) {
	t.Helper()
	for version := range 2 {
		for i := range 3 {
			token := fmt.Sprintf("Zq%dXwv", i)
			text := fmt.Sprintf("# About %s\n\n%s", token, strings.Repeat(fmt.Sprintf("A paragraph of version %d that speaks of %s and goes on for a while, as paragraphs in pages do.\n\n", version, token), 400))
			if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{
				ExternalID: fmt.Sprint("d", i), Text: text, Tags: []string{strings.ToLower(token)}, Metadata: map[string]any{"bird": token},
			}, ""); err != nil {
				t.Fatal(err)
			}
		}
		w.now = w.now.Add(24 * time.Hour)
	}
	for i := range 12 {
		user := []string{"zoe", "bob"}[i%2]
		if _, err := e.CompleteTurn(t.Context(), ragctx.Turn{
			ID: fmt.Sprint("turn-", i), UserID: user, SessionID: fmt.Sprint("session-", user), Prompt: "the Qx" + user + "Xq question", Occurred: w.now,
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares the results of queries, now and in the past, and the bytes of the files.
func (w *eraseWorld) check(t *testing.T, e *engine.Engine, gone string, left ...string) {
	t.Helper()
	if names := tracesIn(t, w.dir, gone); len(names) > 0 {
		t.Errorf("%s is still in %v", gone, names)
	}
	for _, token := range append([]string{gone}, left...) {
		for _, asOf := range []time.Time{{}, w.now.Add(-time.Minute), w.now.Add(-25 * time.Hour)} {
			q := ragctx.NewQuery("speaks of " + token)
			q.ContextTypes, q.AsOf, q.UserID, q.Now = nil, asOf, "zoe", w.now
			found := false
			for _, it := range searched(t, e, q) {
				found = found || strings.Contains(it.Content, token)
			}
			if want := token != gone && (asOf.IsZero() || !strings.HasPrefix(token, "Qx")); found != want {
				t.Errorf("%s as of %v: found is %t", token, asOf, found)
			}
		}
	}
}

func TestEraseDocument(t *testing.T) {
	w := &eraseWorld{dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	e := w.open(t)
	w.fill(t, e)
	if len(tracesIn(t, w.dir, "Zq1Xwv")) == 0 {
		t.Fatal("the test finds nothing at all")
	}
	got, err := e.Documents().Erase(t.Context(), "", "d1")
	if err != nil || got.Documents != 1 || got.Versions != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	w.check(t, e, "Zq1Xwv", "Zq0Xwv", "Zq2Xwv")
	again, err := e.Documents().Erase(t.Context(), "", "d1")
	if err != nil || again.Documents != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := e.Documents().Erase(t.Context(), "never", "d1"); err != nil {
		t.Errorf("in a namespace that is not there: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = w.open(t)
	defer e.Close()
	w.check(t, e, "Zq1Xwv", "Zq0Xwv", "Zq2Xwv")
}

func TestEraseUser(t *testing.T) {
	w := &eraseWorld{dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	e := w.open(t)
	defer e.Close()
	w.fill(t, e)
	got, err := e.Admin().EraseUser(t.Context(), "", "bob")
	if err != nil || got.Memories != 6 || got.Turns != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	w.check(t, e, "QxbobXq", "QxzoeXq", "Zq0Xwv")
	got, err = e.Sessions().Erase(t.Context(), "", "session-zoe", "zoe", false, convo.Condition{})
	if err != nil || got.Memories != 6 || got.Turns != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	w.check(t, e, "QxzoeXq", "Zq0Xwv")
}

// TestEraseGoesOnAfterACrash erases in the database only, as a process that is
// killed right then; the next opening does the rest.
func TestEraseGoesOnAfterACrash(t *testing.T) {
	w := &eraseWorld{dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	e := w.open(t)
	w.fill(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(w.dir, store.DatabaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := s.Namespace(t.Context(), ragctx.DefaultNamespace, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.EraseDocument(t.Context(), ns, "d1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	e = w.open(t)
	defer e.Close()
	for i := 0; len(tracesIn(t, w.dir, "Zq1Xwv")) > 0; i++ {
		if i > 18_000 {
			t.Fatalf("still in %v", tracesIn(t, w.dir, "Zq1Xwv"))
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.check(t, e, "Zq1Xwv", "Zq0Xwv", "Zq2Xwv")
}

// TestEraseWaitsForALeg erases while the keyword index cannot be opened, although its files hold the
// text. The erasure reports that, and completes once the index is available.
func TestEraseWaitsForALeg(t *testing.T) {
	w := &eraseWorld{dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	e := w.open(t)
	w.fill(t, e)
	if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ // long enough for the leg to write files
		ExternalID: "long", Text: strings.Repeat("A paragraph that has nothing to do with anything and goes on for a while.\n\n", 30_000),
	}, ""); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(w.dir, store.IndexName, "1-documents", "keyword")
	aside := filepath.Join(t.TempDir(), "keyword")
	if err := os.Rename(place, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = w.open(t)
	defer e.Close()
	got, err := e.Documents().Erase(t.Context(), "", "d1")
	if !errors.Is(err, ragctx.ErrUnavailable) || got.Documents != 1 {
		t.Errorf("erased without the leg: %+v, %v", got, err)
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, place); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); len(tracesIn(t, w.dir, "Zq1Xwv")) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still in %v", tracesIn(t, w.dir, "Zq1Xwv"))
		}
	}
	w.check(t, e, "Zq1Xwv", "Zq0Xwv", "Zq2Xwv")
}
