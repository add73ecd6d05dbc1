// Package ledgertest is the conformance suite of [ledger.Log]. Every implementation runs it and is
// compared with [ledger.MemoryLog], which is simple enough to be obviously right.
package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/ledger"
)

// Log is a log under test.
type Log interface {
	ledger.Log
	ledger.Importer
	Close() error
}

// Opener opens the log stored in dir, which is empty at first. A log without storage ignores dir.
type Opener func(t testing.TB, dir string, o ledger.Options) Log

// Options describes the log to [Test]. The zero value works.
type Options struct {
	// Volatile means that the log does not survive a restart.
	Volatile bool
	// Checks is the number of random operation sequences, unless the flag of package rapid sets it;
	// 0 is rapid's default. Durable logs take longer.
	Checks int
}

// Test checks that the logs returned by open satisfy the contract of [ledger.Log].
func Test(t *testing.T, open Opener, o Options) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *world)
		kept bool // needs a durable log
	}{
		{"Append", testAppend, false},
		{"Times", testTimes, false},
		{"Batch", testBatch, false},
		{"Refused", testRefused, false},
		{"IDs", testIDs, false},
		{"Query", testQuery, false},
		{"Find", testFind, false},
		{"Walls", testWalls, false},
		{"Import", testImport, false},
		{"Transfer", testTransfer, false},
		{"Subscribe", testSubscribe, false},
		{"CutOff", testCutOff, false},
		{"Follow", testFollow, false},
		{"FollowSlow", testFollowSlow, false},
		{"Writers", testWriters, false},
		{"Retention", testRetention, false},
		{"ImportOutputs", testImportOutputs, false},
		{"Usage", testUsage, false},
		{"Closed", testClosed, false},
		{"Model", testModel, false},
		{"Reopen", testReopen, true},
		{"ReopenClock", testReopenClock, true},
	} {
		if c.kept && o.Volatile {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, open)
			w.checks = o.Checks
			c.test(t, w)
		})
	}
}

// fataler is a test or a check of package rapid.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// start is the clock's first time in a test.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is a log under test with its clock and its ids.
type world struct {
	Log

	open  Opener
	dir   string
	opts  ledger.Options
	clock atomic.Int64 // ms

	checks int
}

func newWorld(t *testing.T, open Opener) *world {
	w := &world{open: open, dir: t.TempDir()}
	w.clock.Store(start.UnixMilli())
	w.opts = ledger.Options{
		Now:       func() time.Time { return time.UnixMilli(w.clock.Load()) },
		NewID:     func() string { return fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()) },
		Retention: ledger.Retention{Messages: 64, Bytes: 4096},
	}
	w.Log = open(t, w.dir, w.opts)
	t.Cleanup(func() { w.Close() })
	return w
}

func (w *world) reopen(t testing.TB) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	w.Log = w.open(t, w.dir, w.opts)
}

// filter selects the cluster of most tests.
var filter = ledger.Filter{Namespace: "space", Cluster: "team"}

// msg returns a message of the cluster.
func msg(topic, text string) ledger.Message {
	return ledger.Message{Namespace: "space", Cluster: "team", Topic: topic, Sender: "worker", Text: text}
}

func (w *world) append(t fataler, messages ...ledger.Message) []ledger.Message {
	t.Helper()
	out, err := w.Append(context.Background(), messages)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	if len(out) != len(messages) {
		t.Fatalf("Append of %d messages returned %d", len(messages), len(out))
	}
	return out
}

func (w *world) query(t fataler, q ledger.Query) []ledger.Message {
	t.Helper()
	out, err := w.Query(context.Background(), q)
	if err != nil {
		t.Fatalf("Query(%+v): %v", q, err)
	}
	return out
}

func (w *world) all(t fataler) []ledger.Message {
	t.Helper()
	return w.query(t, ledger.Query{Filter: filter})
}

// texts returns the texts of messages.
func texts(messages []ledger.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, m.Text)
	}
	return out
}

func wantError(t fataler, err, kind error, what string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: error %v, want one that is %v", what, err, kind)
	}
}
