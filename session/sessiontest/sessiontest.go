// Package sessiontest is the conformance suite of [session.Storage]. Every implementation runs it
// and is compared with [session.Memory].
package sessiontest

import (
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

// Storage is a storage under test.
type Storage interface {
	session.Storage
	Close() error
}

// Opener opens the storage in dir, which is empty at first. A volatile storage ignores dir.
type Opener func(t testing.TB, dir string, o session.Options) Storage

// Options describe the storage to [Test]. The zero value works.
type Options struct {
	// Volatile means that the storage does not persist anything.
	Volatile bool
}

// Test checks that the storages returned by open fulfil the contract of [session.Storage].
func Test(t *testing.T, open Opener, o Options) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *world)
	}{
		{"Sessions", testSessions},
		{"Unknown", testUnknown},
		{"Scopes", testScopes},
		{"Keys", testKeys},
		{"Append", testAppend},
		{"AppendRefused", testAppendRefused},
		{"Section", testSection},
		{"Branches", testBranches},
		{"Cycles", testCycles},
		{"Fork", testFork},
		{"Labels", testLabels},
		{"Read", testRead},
		{"Update", testUpdate},
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
		{"RequestIDs", testRequestIDs},
		{"Salts", testSalts},
		{"Model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newWorld(t, open, o.Volatile)) })
	}
}

// start is the initial time of a test's clock, which advances by a second on each reading.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is a storage under test with its clock and ids.
type world struct {
	Storage

	t        testing.TB
	open     Opener
	dir      string
	volatile bool
	opts     session.Options
}

// deterministic returns a deterministic clock and deterministic ids.
func deterministic() session.Options {
	var ticks, ids atomic.Int64
	return session.Options{
		Now:   func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) },
		NewID: func() string { return fmt.Sprintf("id%d", ids.Add(1)) },
	}
}

func newWorld(t testing.TB, open Opener, volatile bool) *world {
	w := &world{t: t, open: open, dir: t.TempDir(), volatile: volatile, opts: deterministic()}
	w.Storage = open(t, w.dir, w.opts)
	t.Cleanup(func() { w.must(w.Close()) })
	return w
}

// reopen closes and reopens the storage, unless it is volatile.
func (w *world) reopen() {
	w.t.Helper()
	if w.volatile {
		return
	}
	w.must(w.Close())
	w.Storage = w.open(w.t, w.dir, w.opts)
}

func (w *world) save(k session.Key, s session.Store) (session.Result, error) {
	return session.Save(background(), w, k, s, always, w.opts)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// one is the session of most tests.
var one = session.Key{Namespace: "ns", User: "ada", ID: "s"}

// talk creates the session if needed and appends messages to it, one per word: the section, and the
// text after a colon.
func (w *world) talk(k session.Key, words string) {
	w.t.Helper()
	if ok, err := exists(w, k); err != nil || !ok {
		w.must(errors.Join(err, create(w, k)))
	}
	for word := range strings.FieldsSeq(words) {
		section, text, _ := strings.Cut(word, ":")
		_, err := appendTo(w, k, section, ragctx.TextMessage(ragctx.RoleUser, text))
		w.must(err)
	}
}

// words formats entries in the notation of talk.
func words(entries []session.Entry) string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Section + ":" + e.Message.Content.String()
	}
	return strings.Join(out, " ")
}

// written formats a store, one section per word, with its texts after colons.
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
	got, err := pathTo(w, k, id)
	w.must(err)
	if words(got) != want {
		w.t.Errorf("the path to %q is %q, want %q", id, words(got), want)
	}
}

func (w *world) wantStore(k session.Key, want string) {
	w.t.Helper()
	got, err := load(w, k)
	w.must(err)
	if written(got) != want {
		w.t.Errorf("stored %q, want %q", written(got), want)
	}
}

func (w *world) wantLeaf(k session.Key, want string) {
	w.t.Helper()
	if got, err := leafOf(w, k); err != nil || got != want {
		w.t.Errorf("the leaf is %q, %v; want %q", got, err, want)
	}
}

func (w *world) wantError(err, want error, what string) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// export returns the contents of a session without its id and creation time.
func (w *world) export(k session.Key) session.Archive {
	w.t.Helper()
	a, err := exportOf(w, k)
	w.must(err)
	a.ID, a.CreatedAt = "", time.Time{}
	return a
}

func diff(a, b any) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }
