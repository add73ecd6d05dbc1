package watch

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/ragctx/ragctx/providers/docs"
)

// source delivers file system events of directories.
type source interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// system is the source of the operating system.
type system struct{ *fsnotify.Watcher }

func (s system) Events() <-chan fsnotify.Event { return s.Watcher.Events }
func (s system) Errors() <-chan error          { return s.Watcher.Errors }

func newSource() (source, error) {
	w, err := fsnotify.NewWatcher()
	return system{w}, err
}

// events receives the events of a source. Its methods work on nil, which never delivers any.
type events struct {
	source source
	hidden bool // include names that begin with a dot
	pings  chan struct{}
	reader sync.WaitGroup

	// stale says that a registered directory may have been replaced. The source continues to report
	// events of a renamed directory under its old name.
	stale atomic.Bool

	mu   sync.Mutex
	dirs map[string]bool // registered with the source; true if seen since begin
	only []string        // names to report; nil means all
	err  error           // error of a failed registration
}

// listen starts receiving events. The caller must call close.
func listen(o Options) (*events, error) {
	s, err := o.watcher()
	if err != nil {
		return nil, err
	}
	e := &events{source: s, hidden: o.Walk.Hidden, pings: make(chan struct{}, 1), dirs: make(map[string]bool)}
	e.reader.Go(e.read)
	return e, nil
}

func (e *events) close() {
	if e == nil {
		return
	}
	_ = e.source.Close() // no data can be lost
	e.reader.Wait()
}

// pending returns a channel that receives when an event has occurred.
func (e *events) pending() <-chan struct{} {
	if e == nil {
		return nil
	}
	return e.pings
}

func (e *events) ping() {
	select {
	case e.pings <- struct{}{}:
	default: // already pending
	}
}

// read processes the source's events until it is closed.
func (e *events) read() {
	told, errs := e.source.Events(), e.source.Errors()
	for told != nil || errs != nil {
		select {
		case ev, ok := <-told:
			if !ok {
				told = nil
				continue
			}
			e.handle(ev)
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			e.stale.Store(true) // events were lost
			e.ping()
		}
	}
}

// handle processes one event.
func (e *events) handle(ev fsnotify.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known := e.dirs[ev.Name]
	if known && ev.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		e.stale.Store(true)
	}
	if known || e.isRelevant(ev) {
		e.ping()
	}
}

// isRelevant reports whether an event can concern a document.
func (e *events) isRelevant(ev fsnotify.Event) bool {
	name := filepath.Base(ev.Name)
	switch {
	case ev.Op&^fsnotify.Chmod == 0:
		return false
	case e.only != nil:
		return slices.Contains(e.only, name)
	case docs.Temporary(name):
		return false
	default:
		return e.hidden || name == ".gitignore" || !strings.HasPrefix(name, ".")
	}
}

// begin starts a round of registering directories. only lists the names to report; nil means all.
func (e *events) begin(only []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.only, e.err = only, nil
	for dir := range e.dirs {
		e.dirs[dir] = false
	}
}

// add registers a directory with the source.
func (e *events) add(dir string) {
	e.mu.Lock()
	_, known := e.dirs[dir]
	e.dirs[dir] = true // before its first event can arrive
	e.mu.Unlock()
	if known {
		return
	}
	err := e.source.Add(dir)
	if err == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.dirs, dir)
	if exhausted(err) {
		e.err = err
	}
}

// settle ends the round that begin started. It unregisters directories that were not seen. It
// returns an error if directories could not be registered.
func (e *events) settle() error {
	e.mu.Lock()
	var gone []string
	for dir, met := range e.dirs {
		if !met {
			gone = append(gone, dir)
			delete(e.dirs, dir)
		}
	}
	err := e.err
	e.mu.Unlock()
	for _, dir := range gone {
		_ = e.source.Remove(dir) // it may have been deleted
	}
	return err
}

// exhausted reports whether an error is caused by a system limit, and not by one directory.
func exhausted(err error) bool {
	for _, limit := range [...]error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

// remedy returns the remedy for a reached limit.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "raise fs.inotify.max_user_watches (sysctl), or exclude folders"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise fs.inotify.max_user_instances (sysctl) or the limit of open files (ulimit -n), or exclude folders"
	default:
		return "choose the interval with --poll"
	}
}
