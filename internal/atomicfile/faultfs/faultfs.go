// Package faultfs is an in-memory file system that injects faults: full disks, failed writes and
// power loss. It tracks the synced state: [FS.Restart] discards everything else, as a crash of the
// machine does.
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

// ErrCrashed is the error of every operation between a crash and Restart. Files that were open at
// the crash return it forever.
var ErrCrashed = errors.New("faultfs: the machine has crashed")

// Op is a kind of operation.
type Op int

// The kinds of operation. Create opens a file for writing, Open for reading.
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

// Effect is the effect of a fault.
type Effect int

const (
	// Fail returns the error without doing anything else.
	Fail Effect = iota
	// Short writes half of the bytes and returns the error. Operations other than Write fail.
	Short
	// Lose reports success without doing anything. Only syncs, renames and removals can be lost;
	// other operations fail.
	Lose
	// Tear leaves the target of a rename with half of the bytes and returns the error. Operations
	// other than Rename fail.
	Tear
	// Flip inverts one bit of the bytes read, without an error. It affects only Read.
	Flip
	// Crash stops the machine before the operation.
	Crash
)

// Fault describes one injected fault.
type Fault struct {
	Op     Op
	N      int // the fault affects the N-th operation of the kind, from 1
	Effect Effect
	Err    error // syscall.EIO by default
	// Sticky makes all later operations of the kind fail in the same way, like a full disk.
	Sticky bool
}

// node is a file: its current contents and its contents after a crash.
type node struct{ data, synced []byte }

// FS is an in-memory [atomicfile.FS]. It is safe for concurrent use.
type FS struct {
	mu                 sync.Mutex
	files, syncedFiles map[string]*node // files by name: at present, and after a crash
	dirs, syncedDirs   map[string]bool  // directories, likewise
	fault              Fault
	count              int // matching operations since the fault was injected
	fired              bool
	crashed            bool
	life               int // number of restarts; files opened in an earlier life return ErrCrashed
}

var _ atomicfile.FS = (*FS)(nil)

// New returns an empty file system without faults.
func New() *FS {
	root := string(filepath.Separator)
	return &FS{
		files: make(map[string]*node), syncedFiles: make(map[string]*node),
		dirs: map[string]bool{root: true, ".": true}, syncedDirs: map[string]bool{root: true, ".": true},
	}
}

// Inject replaces the pending fault and resets the count. The zero Fault never happens; with it,
// all operations are counted.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.count, f.fired = fault, 0, false
}

// Count returns the number of matching operations since [FS.Inject], and whether the fault has
// happened.
func (f *FS) Count() (operations int, fired bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, f.fired
}

// Restart simulates a machine's restart after a crash. Unsynced changes are gone, open files are
// dead and the fault is removed. If chance is not nil, it decides for each unsynced change whether
// it is kept, partly kept or lost.
func (f *FS) Restart(chance *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep := func() bool { return chance != nil && chance.IntN(2) == 0 }
	names := maps.Clone(f.syncedFiles)
	maps.Copy(names, f.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if f.files[name] != f.syncedFiles[name] && keep() {
			put(f.syncedFiles, name, f.files[name])
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(f.dirs)) {
		f.syncedDirs[dir] = f.syncedDirs[dir] || keep() && f.syncedDirs[filepath.Dir(dir)]
	}
	f.files, f.dirs = make(map[string]*node), make(map[string]bool)
	for dir, stays := range f.syncedDirs {
		if stays {
			f.dirs[dir] = true
		}
	}
	f.syncedDirs = maps.Clone(f.dirs)
	for _, name := range slices.Sorted(maps.Keys(f.syncedFiles)) {
		if f.dirs[filepath.Dir(name)] {
			f.files[name] = f.syncedFiles[name].restart(keep(), chance)
		}
	}
	f.syncedFiles = maps.Clone(f.files)
	f.fault, f.count, f.fired, f.crashed = Fault{}, 0, false, false
	f.life++
}

// restart returns the file after a crash. If some is true, a random prefix of the unsynced contents
// is kept.
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
	return slices.Sorted(maps.Keys(f.files))
}

// Bytes returns the contents of a file, or nil if it does not exist.
func (f *FS) Bytes(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.files[filepath.Clean(name)]; n != nil {
		return slices.Clone(n.data)
	}
	return nil
}

// Edit changes the contents of a file directly and durably, without counting an operation. It
// creates a missing file.
func (f *FS) Edit(name string, change func([]byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	n := &node{}
	if old := f.files[name]; old != nil {
		n.data = slices.Clone(old.data)
	}
	n.data = change(n.data)
	n.synced = slices.Clone(n.data)
	f.files[name], f.syncedFiles[name] = n, n
}

// happens counts an operation. If the fault applies, it returns the effect and the error to return.
// The caller holds mu.
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

var opNames = [...]string{
	"do", "create", "open", "read", "write", "sync", "close", "rename", "remove", "mkdir", "readdir", "stat", "syncdir",
}

func pathError(op Op, name string, err error) error {
	return &fs.PathError{Op: opNames[op], Path: name, Err: err}
}
