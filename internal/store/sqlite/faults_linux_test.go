//go:build amd64 || arm64

package sqlite_test

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// fault is a way in which the system below SQLite fails.
type fault int

const (
	shortWrite fault = iota // one write takes half of what it is given
	diskFull                // half a write, then no space, until it is cleared
	writeError              // one write fails
	syncError               // one fsync fails
	faultKinds
)

func (f fault) String() string {
	return [...]string{"short write", "disk full", "write error", "fsync error"}[f]
}

// disk stands between SQLite and the system. Its zero value lets everything through.
type disk struct {
	kind  fault
	room  string       // a file: a full disk has space again once it is removed; "" is none
	left  atomic.Int64 // calls until the fault; it comes when this gets to 0
	hit   atomic.Bool
	armed atomic.Bool

	methods sync.Map // SQLite's table of a kind of file to ours
}

// arm makes the n-th call from now on that the fault can be about fail.
func (d *disk) arm(f fault, n int64) {
	d.kind = f
	d.left.Store(n)
	d.hit.Store(false)
	d.armed.Store(true)
}

func (d *disk) clear() { d.armed.Store(false) }

// regained reports whether what took up the space is gone.
func (d *disk) regained() bool {
	if d.room == "" {
		return false
	}
	_, err := os.Stat(d.room)
	if err == nil {
		return false
	}
	d.clear()
	return true
}

// due reports whether this call is to fail.
func (d *disk) due(kinds ...fault) bool {
	if !d.armed.Load() {
		return false
	}
	for _, k := range kinds {
		if k == d.kind && (d.left.Add(-1) == 0 || k == diskFull && d.hit.Load()) {
			d.hit.Store(true)
			return true
		}
	}
	return false
}

// theDisk is that of the process: SQLite's table of system calls is.
var theDisk = sync.OnceValue(func() *disk {
	d := new(disk)
	d.install()
	return d
})

// The types of the functions as SQLite's translation to Go has them. A function
// pointer is the address of a func value's data.
type (
	writeCall = func(tls *libc.TLS, fd int32, buf uintptr, n uint64, at int64) int64
	openCall  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	syncCall  = func(tls *libc.TLS, file uintptr, flags int32) int32
	setCall   = func(tls *libc.TLS, vfs, name, fn uintptr) int32
	getCall   = func(tls *libc.TLS, vfs, name uintptr) uintptr
)

func pointer[F any](f F) uintptr {
	kept.Store(new(F), f) // the address is not seen by the garbage collector
	var i any = f
	return (*[2]uintptr)(unsafe.Pointer(&i))[1]
}

var kept sync.Map

func function[F any](p uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ uintptr }{p}))
}

// at reads or changes memory that the translation manages.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func (d *disk) install() {
	tls := libc.NewTLS()
	vfs := sqlite3.Xsqlite3_vfs_find(tls, 0)
	table := at[sqlite3.Tsqlite3_vfs](vfs)
	name := func(s string) uintptr {
		p, err := libc.CString(s)
		if err != nil {
			panic(err)
		}
		return p
	}
	get, set := function[getCall](table.FxGetSystemCall), function[setCall](table.FxSetSystemCall)

	write := function[writeCall](get(tls, vfs, name("pwrite")))
	set(tls, vfs, name("pwrite"), pointer[writeCall](func(tls *libc.TLS, fd int32, buf uintptr, n uint64, at int64) int64 {
		switch {
		case d.due(shortWrite):
			return write(tls, fd, buf, n/2, at)
		case d.due(writeError):
			return d.fail(tls, syscall.EIO)
		case d.armed.Load() && d.kind == diskFull && d.hit.Load() && !d.regained():
			return d.fail(tls, syscall.ENOSPC)
		case d.due(diskFull):
			return write(tls, fd, buf, n/2, at)
		}
		return write(tls, fd, buf, n, at)
	}))
	open := function[openCall](table.FxOpen)
	table.FxOpen = pointer[openCall](func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		rc := open(tls, vfs, name, file, flags, out)
		if rc == sqlite3.SQLITE_OK {
			d.watch(tls, file)
		}
		return rc
	})
}

// fail returns as a system call does.
func (d *disk) fail(tls *libc.TLS, errno syscall.Errno) int64 {
	*at[int32](libc.X__errno_location(tls)) = int32(errno)
	return -1
}

// watch lets the syncs of an open file go through the disk: SQLite has no table
// entry for fsync.
func (d *disk) watch(tls *libc.TLS, file uintptr) {
	methods := at[uintptr](file)
	if own, ok := d.methods.Load(*methods); ok {
		*methods = own.(uintptr)
		return
	}
	own := *at[sqlite3.Tsqlite3_io_methods](*methods)
	sync := function[syncCall](own.FxSync)
	own.FxSync = pointer[syncCall](func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if d.due(syncError) {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return sync(tls, file, flags)
	})
	// Not Go's memory, for the translation does arithmetic on pointers into it.
	p := libc.Xmalloc(tls, uint64(unsafe.Sizeof(own)))
	*at[sqlite3.Tsqlite3_io_methods](p) = own
	d.methods.Store(*methods, p)
	*methods = p
}
