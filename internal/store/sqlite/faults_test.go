//go:build linux && (amd64 || arm64)

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store/sqlite"
	"github.com/ragctx/ragctx/internal/store/storetest"
	"github.com/ragctx/ragctx/providers/memory"
)

// account is what the store has acknowledged, by id, and what it may have done
// without saying so.
type account struct {
	acked map[string]string // "" is deleted
	maybe map[string][]string
}

func (l *account) note(id, text string, err error) {
	if err != nil {
		l.maybe[id] = append(l.maybe[id], text)
		return
	}
	l.acked[id], l.maybe[id] = text, nil
}

// allows reports whether text may be what the store has under an id.
func (l *account) allows(id, text string) bool {
	return text == l.acked[id] || slices.Contains(l.maybe[id], text)
}

// TestFaultsBelowSQLite makes each kind of system call fail at many places of a
// run of writes. What was acknowledged is there after the next opening, nothing
// is half there, and reads go on meanwhile.
func TestFaultsBelowSQLite(t *testing.T) {
	d := theDisk()
	defer d.clear()
	for kind := range faultKinds {
		t.Run(kind.String(), func(t *testing.T) {
			hits := 0
			for n := int64(1); n < 200; n += 1 + n/2 {
				if strike(t, d, kind, n) {
					hits++
				}
			}
			if hits == 0 {
				t.Error("the fault never came")
			}
			t.Logf("%d faults", hits)
		})
	}
}

// strike does a run of writes with a fault at the n-th call, and reports whether
// the fault came.
func strike(t *testing.T, d *disk, kind fault, n int64) bool {
	t.Helper()
	f := open(t, filepath.Join(t.TempDir(), "x.db"))
	l := &account{acked: make(map[string]string), maybe: make(map[string][]string)}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
	f.write(t, l, rng, 3)
	d.arm(kind, n)
	errs := f.write(t, l, rng, 16)
	hit := d.hit.Load()
	f.check(t, l, "while the disk fails")
	d.clear()
	for _, err := range errs {
		_, status := ragctx.CodeOf(err)
		if kind == diskFull && !errors.Is(err, ragctx.ErrNoSpace) || kind != diskFull && !errors.Is(err, ragctx.ErrUnavailable) {
			t.Errorf("%v at call %d: status %d, %v", kind, n, status, err)
		}
	}
	again := f.write(t, l, rng, 5)
	if stopped := kind == syncError && len(errs) > 0; stopped != (len(again) > 0) {
		t.Errorf("%v at call %d, after %v: writes once it is over: %v", kind, n, errs, again)
	}
	f.check(t, l, "once it is over")
	if err := f.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	g := open(t, f.path)
	g.check(t, l, "after the next opening")
	if errs := g.write(t, l, rng, 3); len(errs) > 0 {
		t.Errorf("writes after the next opening: %v", errs)
	}
	g.check(t, l, "at last")
	if n := count(t, f.path, `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`); n != 0 {
		t.Errorf("%d faults in the file", n)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	return hit
}

// TestFaultsWhileClosing makes calls fail while the log is copied into the
// database file for the last time.
func TestFaultsWhileClosing(t *testing.T) {
	d := theDisk()
	defer d.clear()
	for kind := range faultKinds {
		for n := int64(1); n < 30; n += 1 + n/2 {
			f := open(t, filepath.Join(t.TempDir(), "x.db"))
			l := &account{acked: make(map[string]string), maybe: make(map[string][]string)}
			rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
			f.write(t, l, rng, 10)
			d.arm(kind, n)
			_ = f.Close() // may or may not say so: the log stays
			d.clear()
			g := open(t, f.path)
			g.check(t, l, fmt.Sprintf("after %v at call %d of closing", kind, n))
			if n := count(t, f.path, `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`); n != 0 {
				t.Errorf("%d faults in the file", n)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// write does random writes and returns the errors of those that failed.
func (f *fixture) write(t *testing.T, l *account, rng *rand.Rand, n int) (errs []error) {
	t.Helper()
	for range n {
		id := fmt.Sprint(rng.IntN(4))
		seed := rng.Uint64()
		var text string
		var err error
		switch rng.IntN(8) {
		case 0:
			_, text, err = f.long(t, t.Context(), "doc "+id, seed, 150)
			id = "doc " + id
		case 1, 2, 3:
			_, text, err = f.long(t, t.Context(), "doc "+id, seed, 3)
			id = "doc " + id
		case 4:
			id = "doc " + id
			if _, err = f.DeleteDocument(t.Context(), f.ns, id); errors.Is(err, ragctx.ErrNotFound) {
				err = nil
			}
		default:
			id = fmt.Sprint("turn ", seed)
			turn := ragctx.Turn{ID: id, SessionID: "s", Prompt: fmt.Sprint(seed), Occurred: t0}
			m, units, _, eerr := memory.Episode(turn)
			if eerr != nil {
				t.Fatal(eerr)
			}
			text = m.Content
			_, _, _, err = f.PutTurn(t.Context(), f.ns, turn, m, f.content(m.Content, units), false)
		}
		l.note(id, text, err)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// check reads everything that the account knows of.
func (f *fixture) check(t *testing.T, l *account, when string) {
	t.Helper()
	ids := make(map[string]bool)
	for id := range l.acked {
		ids[id] = true
	}
	for id := range l.maybe {
		ids[id] = true
	}
	for id := range ids {
		text, err := f.textOf(t.Context(), id)
		if err != nil || !l.allows(id, text) {
			t.Errorf("%s: %q has %d bytes, want %d or one of %d others, %v", when, id, len(text), len(l.acked[id]), len(l.maybe[id]), err)
		}
	}
}

// textOf returns a document's or memory's text; "" if there is none.
func (f *fixture) textOf(ctx context.Context, id string) (string, error) {
	if id[0] == 't' {
		m, err := f.Memory(ctx, f.ns, id, t0)
		if errors.Is(err, ragctx.ErrNotFound) {
			return "", nil
		}
		return m.Content, err
	}
	d, text, err := f.Document(ctx, f.ns, id, 0)
	if errors.Is(err, ragctx.ErrNotFound) {
		return "", nil
	}
	if err == nil && d.Bytes != len(text) {
		return text, fmt.Errorf("%d bytes of %d", len(text), d.Bytes)
	}
	units, uerr := f.DocumentChunks(ctx, f.ns, id, 0)
	for _, u := range units {
		if err == nil && text[u.Start.Byte:u.End.Byte] != u.Text {
			err = fmt.Errorf("unit %d is not of the text", u.Ordinal)
		}
	}
	if err == nil && len(units) != d.Chunks {
		err = fmt.Errorf("%d units of %d", len(units), d.Chunks)
	}
	return text, errors.Join(err, uerr)
}

// TestNothingIsWrittenAfterAFailedSync lets one of several commits fail while all writes are queued. None
// of them is acknowledged from then on, and the log stays unchanged for the next opening.
func TestNothingIsWrittenAfterAFailedSync(t *testing.T) {
	const writers = 12
	d := theDisk()
	defer d.clear()
	for n := range int64(4) {
		f := open(t, filepath.Join(t.TempDir(), "x.db"))
		errs := make([]error, writers)
		var wg sync.WaitGroup
		err := f.Freeze(t.Context(), func() error {
			for i := range writers {
				wg.Go(func() { errs[i] = f.Slowly(context.Background(), fmt.Sprint(i)) })
			}
			for f.Waiting() < writers {
				runtime.Gosched()
			}
			d.arm(syncError, n+1)
			return nil
		})
		wg.Wait()
		d.clear()
		if err != nil {
			t.Fatal(err)
		}
		acked := 0
		for _, err := range errs {
			if err == nil {
				acked++
			} else if !errors.Is(err, ragctx.ErrUnavailable) {
				t.Errorf("sync %d: %v", n+1, err)
			}
		}
		if acked > int(n) {
			t.Errorf("sync %d failed, and %d of the writes, one in a commit, are acknowledged", n+1, acked)
		}
		before := contents(t, f.path)
		f.CutLog()
		if !slices.Equal(contents(t, f.path), before) {
			t.Errorf("sync %d: the log was copied or cut off after it", n+1)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		g := open(t, f.path)
		for i, err := range errs {
			if v, rerr := g.Setting(t.Context(), fmt.Sprint(i)); rerr != nil || err == nil && v == "" {
				t.Errorf("sync %d: write %d was acknowledged and is gone, %v", n+1, i, rerr)
			}
		}
	}
}

// contents returns what a database and its log hold.
func contents(t *testing.T, path string) (all []string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	return all
}

// TestErasureResumesWithSpace fills the disk at several places of an erasure.
// What was noted goes on by itself once there is space; what was not is as before.
func TestErasureResumesWithSpace(t *testing.T) {
	d := theDisk()
	defer d.clear()
	resumed := 0
	for n := int64(1); n < 30; n += 1 + n/2 {
		f := open(t, filepath.Join(t.TempDir(), "x.db"))
		f.doc(t, "a", "a ZqoneXw text", "")
		if err := f.AwaitCollection(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.arm(diskFull, n)
		_, err := f.EraseDocument(t.Context(), f.ns, "a")
		d.clear()
		noted := count(t, f.path, `SELECT count(*) FROM erasures`) > 0
		if err != nil && !errors.Is(err, ragctx.ErrNoSpace) || err == nil && !noted {
			t.Errorf("write %d: %v, noted: %v", n, err, noted)
		}
		if err != nil && noted {
			resumed++
		}
		eventually(t, "the erasure", func() bool { return !f.Erasing() })
		pending, err := f.PendingErasures(t.Context())
		if err != nil || len(pending) > 0 != noted {
			t.Errorf("write %d: noted: %v, pending: %v, %v", n, noted, pending, err)
		}
		if _, _, err := f.Document(t.Context(), f.ns, "a", 0); errors.Is(err, ragctx.ErrNotFound) != noted {
			t.Errorf("write %d: noted: %v, the document: %v", n, noted, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if resumed == 0 {
		t.Error("no erasure had to be resumed")
	}
}

// TestErasureHasTheReserve fills the disk at many places of an erasure in turn. Whichever step
// meets it, the space that is reserved is given free, and the erasure succeeds to its end.
func TestErasureHasTheReserve(t *testing.T) {
	d := theDisk()
	defer func() { d.clear(); d.room = "" }()
	hits := 0
	for n, hit := int64(1), true; hit; n += 1 + n/16 {
		dir := t.TempDir()
		f := openWith(t, filepath.Join(dir, "x.db"), sqlite.Options{Reserve: 1 << 16})
		f.doc(t, "a", "a ZqoneXw text", "")
		f.doc(t, "b", "another text", "")
		if err := f.AwaitCollection(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.room = filepath.Join(dir, "x.db-reserve")
		d.arm(diskFull, n)
		_, err := f.EraseDocument(t.Context(), f.ns, "a")
		var done []int64
		pending, perr := f.PendingErasures(t.Context())
		for _, p := range pending {
			done = append(done, p.ID)
		}
		if err = errors.Join(err, perr); err == nil {
			err = f.SecureErase(t.Context(), done)
		}
		if hit = d.hit.Load(); hit {
			hits++
		}
		d.clear()
		if err != nil || len(done) != 1 {
			t.Errorf("write %d: %v, %d erasures", n, err, len(done))
		}
		for _, text := range contents(t, f.path) {
			if strings.Contains(text, "ZqoneXw") {
				t.Errorf("write %d: what was erased is in a file", n)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if hits < 10 {
		t.Errorf("the disk was full at %d places only", hits)
	}
	t.Logf("%d places", hits)
}

// TestReserveWaitsForErasures writes to a full disk while another operation frees space. The reserve is
// allocated again only after that operation.
func TestReserveWaitsForErasures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	f := openWith(t, path, sqlite.Options{Reserve: 1 << 16})
	p := storetest.Prepare(t, "a", "a text")
	put := func() error {
		_, err := f.PutDocument(t.Context(), f.ns, p, "", f.content(p.Text, p.Chunks))
		return err
	}
	end := f.BeginFreeing()
	f.ReleaseReserve()
	if err := put(); !errors.Is(err, ragctx.ErrNoSpace) {
		t.Errorf("while room is made: %v", err)
	}
	if _, err := os.Stat(path + "-reserve"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve while room is made: %v", err)
	}
	end()
	eventually(t, "a write", func() bool { return put() == nil })
	if st, err := os.Stat(path + "-reserve"); err != nil || st.Size() != 1<<16 {
		t.Errorf("the reserve afterwards: %v, %v", st, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
