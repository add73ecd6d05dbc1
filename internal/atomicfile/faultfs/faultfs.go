// Package faultfs is a file system in memory for tests of what packages do when
// a disk is full, a write fails, or the power goes. It remembers what was synced:
// [FS.Restart] forgets the rest, as a crash of the machine does.
package faultfs

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// ErrCrashed is what every operation returns between a crash and Restart, and
// for good on files that were open then.
var ErrCrashed = errors.New("faultfs: the machine has crashed")

// Op is a kind of operation.
type Op int

// The kinds of operation. Create opens for writing, Open for reading.
const (
	Any Op = iota
	Create
	Open
	Read
	Write
	Sync
	Close
	Rename
	Remove
	Mkdir
	List
	Stat
	SyncDir
)

// Effect is what a fault does.
type Effect int

const (
	// Fail returns the error and does nothing else.
	Fail Effect = iota
	// Short writes half of the bytes and returns the error. Operations other than
	// Write just fail.
	Short
	// Lose reports success and does nothing. Only changes of names and syncs can
	// be lost; other operations just fail.
	Lose
	// Tear leaves the target of a rename with half of the bytes and returns the
	// error. Operations other than Rename just fail.
	Tear
	// Flip inverts a bit of what is read, without an error. It does nothing to
	// operations other than Read.
	Flip
	// Crash stops the machine before the operation.
	Crash
)

// Fault is one thing that goes wrong.
type Fault struct {
	Op     Op
	N      int // the N-th operation of that kind from now on, from 1
	Effect Effect
	Err    error // syscall.EIO by default
	// Sticky lets all later operations of the kind go wrong in the same way, as a
	// full disk does.
	Sticky bool
}

// node is a file: what it holds, and what it would hold after a crash.
type node struct{ data, synced []byte }

// FS is a [atomicfile.FS]. It is safe for concurrent use.
type FS struct {
	mu         sync.Mutex
	now, kept  map[string]*node // by name: at present, and after a crash
	dirs, stay map[string]bool  // directories, likewise
	fault      Fault
	count      int // operations of the fault's kind since it was injected
	fired      bool
	crashed    bool
	life       int // number of restarts; files of another life are dead
}

var _ atomicfile.FS = (*FS)(nil)

// New returns an empty file system that works.
func New() *FS {
	root := string(filepath.Separator)
	return &FS{
		now: make(map[string]*node), kept: make(map[string]*node),
		dirs: map[string]bool{root: true, ".": true}, stay: map[string]bool{root: true, ".": true},
	}
}

// Inject replaces the fault that is going to happen, and counts from 1 again.
// The zero Fault never happens; under it all operations are counted.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.count, f.fired = fault, 0, false
}

// Count returns how many operations of the fault's kind there were since
// [FS.Inject], and whether the fault has happened.
func (f *FS) Count() (operations int, fired bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, f.fired
}

// Restart is the machine after a crash: what was not synced is gone, files that
// were open are dead, and there is no fault. With a source of chance, each thing
// that was not synced is kept or lost, whole or in part, as that decides.
func (f *FS) Restart(chance *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep := func() bool { return chance != nil && chance.IntN(2) == 0 }
	names := maps.Clone(f.kept)
	maps.Copy(names, f.now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if f.now[name] != f.kept[name] && keep() {
			put(f.kept, name, f.now[name])
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(f.dirs)) {
		f.stay[dir] = f.stay[dir] || keep() && f.stay[filepath.Dir(dir)]
	}
	f.now, f.dirs = make(map[string]*node), make(map[string]bool)
	for dir, stays := range f.stay {
		if stays {
			f.dirs[dir] = true
		}
	}
	f.stay = maps.Clone(f.dirs)
	for _, name := range slices.Sorted(maps.Keys(f.kept)) {
		if f.dirs[filepath.Dir(name)] {
			f.now[name] = f.kept[name].restart(keep(), chance)
		}
	}
	f.kept = maps.Clone(f.now)
	f.fault, f.count, f.fired, f.crashed = Fault{}, 0, false, false
	f.life++
}

// restart returns the file after a crash; some keeps a part of what was not synced.
func (n *node) restart(some bool, chance *rand.Rand) *node {
	data := n.synced
	if some && !slices.Equal(n.data, n.synced) {
		data = n.data[:chance.IntN(len(n.data)+1)]
	}
	return &node{data: slices.Clone(data), synced: slices.Clone(data)}
}

func put(m map[string]*node, name string, n *node) {
	if n == nil {
		delete(m, name)
		return
	}
	m[name] = n
}

// Files returns the names of all files, sorted.
func (f *FS) Files() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.now))
}

// Bytes returns what a file holds; nil if there is none.
func (f *FS) Bytes(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.now[filepath.Clean(name)]; n != nil {
		return slices.Clone(n.data)
	}
	return nil
}

// Edit changes what a file holds behind everybody's back, durably. A file that
// is not there is made.
func (f *FS) Edit(name string, change func([]byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	n := &node{}
	if old := f.now[name]; old != nil {
		n.data = slices.Clone(old.data)
	}
	n.data = change(n.data)
	n.synced = slices.Clone(n.data)
	f.now[name], f.kept[name] = n, n
}

// happens counts an operation and returns the effect of the fault if it strikes,
// together with the error to return. The caller holds mu.
func (f *FS) happens(op Op, name string) (effect Effect, strikes bool, err error) {
	if f.crashed {
		return 0, false, pathError(op, name, ErrCrashed)
	}
	if f.fault.Op != Any && f.fault.Op != op {
		return 0, false, nil
	}
	f.count++
	if f.fault.N == 0 || f.count < f.fault.N || f.count > f.fault.N && !f.fault.Sticky {
		return 0, false, nil
	}
	f.fired = true
	cause := f.fault.Err
	if cause == nil {
		cause = syscall.EIO
	}
	switch effect = f.fault.Effect; {
	case effect == Crash:
		f.crashed = true
		return 0, false, pathError(op, name, ErrCrashed)
	case effect == Flip, effect == Lose && loses(op):
		return effect, true, nil
	}
	return effect, true, pathError(op, name, cause)
}

func loses(op Op) bool {
	switch op {
	case Sync, SyncDir, Rename, Remove:
		return true
	default:
		return false
	}
}

var opNames = [...]string{"do", "create", "open", "read", "write", "sync", "close", "rename", "remove", "mkdir", "readdir", "stat", "syncdir"}

func pathError(op Op, name string, err error) error {
	return &fs.PathError{Op: opNames[op], Path: name, Err: err}
}
