// Package sessiontest holds the conformance suite of [session.Storage]. Every
// implementation runs it, and is compared with [session.Memory].
package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Storage is what the suite tests.
type Storage interface {
	session.Storage
	Close() error
}

// Opener opens the storage that is kept in dir, which is empty at first. One that keeps
// nothing passes over dir.
type Opener func(t testing.TB, dir string, o session.Options) Storage

// Options tells [Test] about the storage. The zero value works.
type Options struct {
	// Volatile says that the storage keeps nothing.
	Volatile bool
}

// Test checks that the storages that open opens keep the contract of [session.Storage].
func Test(t *testing.T, open Opener, o Options) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *world)
	}{
		{"Sessions", testSessions},
		{"Unknown", testUnknown},
		{"Walls", testWalls},
		{"Keys", testKeys},
		{"Append", testAppend},
		{"Refused", testRefused},
		{"Section", testSection},
		{"Branches", testBranches},
		{"Circles", testCircles},
		{"Fork", testFork},
		{"Labels", testLabels},
		{"Compactions", testCompactions},
		{"Save", testSave},
		{"Replace", testReplace},
		{"SaveLeaf", testSaveLeaf},
		{"SaveRanges", testSaveRanges},
		{"SavePruned", testSavePruned},
		{"SaveRefused", testSaveRefused},
		{"SaveEmpty", testSaveEmpty},
		{"Transfer", testTransfer},
		{"ImportRefused", testImportRefused},
		{"Isolation", testIsolation},
		{"Contents", testContents},
		{"Canceled", testCanceled},
		{"Versions", testVersions},
		{"Info", testInfo},
		{"Parameters", testParameters},
		{"Limits", testLimits},
		{"Writers", testWriters},
		{"Conditions", testConditions},
		{"Once", testOnce},
		{"Salts", testSalts},
		{"Model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newWorld(t, open, o.Volatile)) })
	}
}

// start is what the clock of a test shows at first. It goes on by a second with each look.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is a storage under test with its clock and its ids.
type world struct {
	Storage

	t        testing.TB
	open     Opener
	dir      string
	volatile bool
	opts     session.Options
}

// counted returns a clock and ids that depend only on how often they were asked.
func counted() session.Options {
	var ticks, ids atomic.Int64
	return session.Options{
		Now:   func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) },
		NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) },
	}
}

func newWorld(t testing.TB, open Opener, volatile bool) *world {
	w := &world{t: t, open: open, dir: t.TempDir(), volatile: volatile, opts: counted()}
	w.Storage = open(t, w.dir, w.opts)
	t.Cleanup(func() { w.must(w.Close()) })
	return w
}

// reopen closes the storage and opens it again, where it keeps something.
func (w *world) reopen() {
	w.t.Helper()
	if w.volatile {
		return
	}
	w.must(w.Close())
	w.Storage = w.open(w.t, w.dir, w.opts)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// one is the session of most tests.
var one = session.Key{Namespace: "ns", User: "ada", ID: "s"}

func background() context.Context { return context.Background() }

// talk makes the session and appends messages to it, one per word: the section, and the
// text after a colon.
func (w *world) talk(k session.Key, words string) {
	w.t.Helper()
	if ok, err := w.Has(background(), k); err != nil || !ok {
		w.must(errors.Join(err, w.Create(background(), k)))
	}
	for word := range strings.FieldsSeq(words) {
		section, text, _ := strings.Cut(word, ":")
		_, err := w.Append(background(), k, section, ragctx.TextMessage(ragctx.RoleUser, text))
		w.must(err)
	}
}

// words writes entries as talk reads them.
func words(entries []session.Entry) string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Section + ":" + e.Message.Content.String()
	}
	return strings.Join(out, " ")
}

// written writes a store, one section per word, its texts after colons.
func written(s session.Store) string {
	var out []string
	for _, one := range s.Sections() {
		word := []string{one.Name}
		for _, m := range one.Messages {
			word = append(word, m.Content.String())
		}
		out = append(out, strings.Join(word, ":"))
	}
	return strings.Join(out, " ")
}

func (w *world) wantPath(k session.Key, id, want string) {
	w.t.Helper()
	got, err := w.Path(background(), k, id)
	w.must(err)
	if words(got) != want {
		w.t.Errorf("the path to %q is %q, want %q", id, words(got), want)
	}
}

func (w *world) wantStore(k session.Key, want string) {
	w.t.Helper()
	got, err := w.Load(background(), k)
	w.must(err)
	if written(got) != want {
		w.t.Errorf("stored %q, want %q", written(got), want)
	}
}

func (w *world) wantLeaf(k session.Key, want string) {
	w.t.Helper()
	if got, err := w.Leaf(background(), k); err != nil || got != want {
		w.t.Errorf("the leaf is %q, %v; want %q", got, err, want)
	}
}

func (w *world) wantError(err, want error, what string) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// export returns all that a session has, without what differs by who made it.
func (w *world) export(k session.Key) session.Archive {
	w.t.Helper()
	a, err := w.Export(background(), k)
	w.must(err)
	a.ID, a.CreatedAt = "", time.Time{}
	return a
}

func diff(a, b any) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }
