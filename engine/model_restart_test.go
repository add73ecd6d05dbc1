package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// saved is an older state of the database or a snapshot, and of the model.
type saved struct {
	file   []byte
	path   string
	world  *world
	uses   map[string]int
	active int // the last spaces of world
	taken  int // the operation that saved it
}

func (m *machine) save() *saved {
	return &saved{world: m.world.clone(), uses: maps.Clone(m.uses), active: len(m.active), taken: m.done}
}

// goBack makes a saved state the present one.
func (m *machine) goBack(to *saved) {
	m.note("back to %d spaces", len(to.world.spaces))
	m.world, m.uses = to.world, to.uses
	m.active = slices.Clone(m.world.spaces[len(m.world.spaces)-to.active:])
}

func (m *machine) open() {
	m.Helper()
	var err error
	m.eng, err = engine.Open(m.Context(), m.opts)
	if m.wentBack {
		if lost, ok := errors.AsType[*store.LostError](err); !ok {
			m.Fatalf("an older copy of the database is opened: %v, %v", lost, err)
		}
		o := m.opts
		o.AcceptLoss, m.wentBack = true, false
		m.eng, err = engine.Open(m.Context(), o)
	}
	if err != nil {
		m.Fatal(err)
	}
	if m.nodes {
		o := m.opts
		o.Dir, o.Follow = m.following, true
		if m.follower, err = engine.Open(m.Context(), o); err != nil {
			m.Fatal(err)
		}
	}
}

// asked returns the engine that is asked, once it has the embedder of the one that writes.
func (m *machine) asked() *engine.Engine {
	if m.follower == nil {
		return m.eng
	}
	for m.follower.Indexes().Embedder() != m.eng.Indexes().Embedder() {
		time.Sleep(time.Millisecond)
	}
	return m.follower
}

// reopen ends the engine in some way and opens it again.
func (m *machine) reopen(end func(*machine)) {
	m.Helper()
	end(m)
	m.open()
}

func (m *machine) closeEngine() {
	m.Helper()
	if m.follower != nil {
		if err := m.follower.Close(); err != nil {
			m.Fatal(err)
		}
		m.follower = nil
	}
	if err := m.eng.Close(); err != nil {
		m.Fatal(err)
	}
	m.eng = nil
}

// restart ends the engine, in order or not, lets something happen to its files,
// and opens it again.
func (m *machine) restart() {
	type way struct {
		name string
		run  func(*machine)
		file bool // it is about the database file
	}
	ways := [...]way{
		{"in order", (*machine).closeEngine, false},
		{"in order", (*machine).closeEngine, false},
		{"crash", (*machine).crash, false},
		{"crash", (*machine).crash, false},
		{"crash while the log was written", func(m *machine) { m.crash(); m.tearLog() }, true},
		{"indexes lost", func(m *machine) { m.closeEngine(); m.loseIndexes() }, false},
		{"indexes lost in a crash", func(m *machine) { m.crash(); m.loseIndexes() }, false},
		{"index damaged", func(m *machine) { m.closeEngine(); m.damage() }, false},
		{"index damaged", func(m *machine) { m.closeEngine(); m.damage() }, false},
		{"index file lost in a crash", func(m *machine) { m.crash(); m.loseFile() }, false},
		{"older copy", (*machine).setBack, true},
		{"older copy", (*machine).setBack, true},
	}
	some := ways[:]
	if m.server != nil {
		some = slices.DeleteFunc(slices.Clone(some), func(w way) bool { return w.file })
	}
	w := pick(m, some)
	m.note("restart: %s", w.name)
	m.counts["restart: "+w.name]++
	m.reopen(w.run)
	for range 10 {
		s := m.space()
		if len(s.keys) == 0 {
			continue
		}
		v := pick(m, s.items[pick(m, s.keys)])
		if v.superseded.IsZero() && !v.expired(m.clock.now()) {
			m.wantFound(s, v)
		} else {
			m.wantGone(s, v)
		}
	}
	if m.chance(3) {
		m.wantSound()
	}
	if gone := m.world.relics; len(gone) > 0 && m.chance(3) {
		m.wantEmptied([]relic{pick(m, gone)})
	}
}

// wantSound requires that the database holds everything written into it, byte for byte.
func (m *machine) wantSound() {
	m.Helper()
	found, err := m.eng.Admin().Doctor(m.Context(), engine.DoctorOptions{Searching: -1})
	if err != nil || found.Store.Damaged() {
		m.Fatalf("the checkup finds %+v, %v", found.Store.Findings, err)
	}
}

// crash copies the files as they are at one moment, as a process leaves them that ends without closing
// anything, and continues with the copy.
func (m *machine) crash() {
	for {
		dir := m.TempDir()
		before := m.stat()
		if err := os.CopyFS(dir, os.DirFS(m.opts.Dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.Fatal(err)
		}
		if slices.Equal(before, m.stat()) { // otherwise something was written meanwhile, and it is not one moment
			m.closeEngine()
			m.drop(m.opts.Dir)
			m.opts.Dir = dir
			return
		}
		m.drop(dir)
	}
}

// stat describes every file of the data directory.
func (m *machine) stat() (out []string) {
	for _, f := range filesOf(m.opts.Dir, "") {
		if info, err := os.Stat(filepath.Join(m.opts.Dir, f)); err == nil {
			out = append(out, fmt.Sprint(f, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return out
}

// filesOf lists the files below a folder of a data directory.
func filesOf(dir, below string) (out []string) {
	_ = fs.WalkDir(os.DirFS(dir), filepath.Join(".", below), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return nil // what is removed meanwhile is not there
	})
	return out
}

func (m *machine) drop(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		m.Fatal(err)
	}
}

// tearLog adds the beginning of a transaction that was never finished.
func (m *machine) tearLog() {
	f, err := os.OpenFile(filepath.Join(m.opts.Dir, "ragctx.db-wal"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		m.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(noise(m.rand, 1+m.rand.IntN(10_000))); err != nil {
		m.Fatal(err)
	}
}

func noise(dice *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(dice.Uint32())
	}
	return b
}

// loseIndexes removes all indexes, or those of one collection.
func (m *machine) loseIndexes() {
	dice := m.dice()
	lost := filepath.Join(m.opts.Dir, "index")
	if all, err := os.ReadDir(lost); err == nil && len(all) > 0 && dice.IntN(2) == 0 {
		lost = filepath.Join(lost, all[dice.IntN(len(all))].Name())
	}
	m.note("lost %s", lost)
	m.drop(lost)
}

func (m *machine) loseFile() {
	dice := m.dice()
	if all := filesOf(m.opts.Dir, "index"); len(all) > 0 {
		m.hurt = true
		m.drop(filepath.Join(m.opts.Dir, all[dice.IntN(len(all))]))
	}
}

// damage spoils one file of an index.
func (m *machine) damage() {
	dice := m.dice()
	all := filesOf(m.opts.Dir, "index")
	if len(all) == 0 {
		return
	}
	name := filepath.Join(m.opts.Dir, all[dice.IntN(len(all))])
	b, err := os.ReadFile(name)
	if err != nil {
		m.Fatal(err)
	}
	how := "cut"
	switch n := len(b); {
	case n > 0 && dice.IntN(3) == 0:
		b = b[:dice.IntN(n)]
	case n > 0 && dice.IntN(2) == 0:
		b[dice.IntN(n)] ^= byte(1 + dice.IntN(255))
		how = "a byte changed"
	default:
		b = noise(dice, n)
		how = "noise"
	}
	m.note("damaged %s: %s", name, how)
	m.hurt = true
	if err := os.WriteFile(name, b, 0o600); err != nil {
		m.Fatal(err)
	}
}

// setBack puts an older copy of the database in place of the newest, with the
// indexes as they are. The first time, it makes the copy.
func (m *machine) setBack() {
	m.closeEngine()
	db := filepath.Join(m.opts.Dir, "ragctx.db")
	if m.saved != nil {
		present, err := os.ReadFile(db)
		if err != nil {
			m.Fatal(err)
		}
		m.wentBack = !bytes.Equal(present, m.saved.file)
		if err := os.WriteFile(db, m.saved.file, 0o600); err != nil {
			m.Fatal(err)
		}
		m.goBack(m.saved)
		m.saved = nil
		return
	}
	m.note("copied the database")
	m.saved = m.save()
	var err error
	if m.saved.file, err = os.ReadFile(db); err != nil {
		m.Fatal(err)
	}
}

// snapshot takes one, or restores it into a new directory or into that in use.
func (m *machine) snapshot() {
	if m.snap == nil {
		m.note("snapshot")
		m.snap = m.save()
		m.snap.path = filepath.Join(m.TempDir(), "snapshot")
		if _, err := m.eng.Admin().Snapshot(m.Context(), m.snap.path, store.SnapshotOptions{}); err != nil {
			m.Fatal(err)
		}
		return
	}
	m.closeEngine()
	o := store.RestoreOptions{Force: m.chance(2)}
	m.note("restore, into the directory in use: %v", o.Force)
	if !o.Force {
		m.drop(m.opts.Dir)
		m.opts.Dir = m.TempDir()
		m.newDatabase()
	}
	o.Store = m.opts.Store
	if _, err := engine.Restore(m.Context(), m.snap.path, m.opts.Dir, o); err != nil {
		m.Fatal(err)
	}
	m.goBack(m.snap)
	if m.saved != nil && m.saved.taken > m.snap.taken {
		m.saved = nil // the restore ended its history, so that it would not be an older copy
	}
	m.drop(m.snap.path)
	m.snap = nil
	m.open()
	m.compareAll(m.active)
}
