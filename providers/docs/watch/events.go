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

// source is what the operating system tells of directories.
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

// events listens to a source. Its methods work on nil, which never tells anything.
type events struct {
	source source
	hidden bool // names that begin with a dot count
	pings  chan struct{}
	reader sync.WaitGroup

	// stale says that directories may not be what they were when the source was told
	// of them: it goes on telling of a directory under its old name.
	stale atomic.Bool

	mu   sync.Mutex
	dirs map[string]bool // that the source was told of; true if they were met since begin
	only []string        // the names that count; nil is all
	err  error           // why the source could not be told of another
}

// listen begins to listen. The caller closes.
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
	_ = e.source.Close() // nothing is lost with it
	e.reader.Wait()
}

// happened receives when something has happened.
func (e *events) happened() <-chan struct{} {
	if e == nil {
		return nil
	}
	return e.pings
}

func (e *events) ping() {
	select {
	case e.pings <- struct{}{}:
	default: // told already
	}
}

// read takes in what the source tells, until it is closed.
func (e *events) read() {
	told, errs := e.source.Events(), e.source.Errors()
	for told != nil || errs != nil {
		select {
		case ev, ok := <-told:
			if !ok {
				told = nil
				continue
			}
			e.told(ev)
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			e.stale.Store(true) // something was lost
			e.ping()
		}
	}
}

// told takes in one event.
func (e *events) told(ev fsnotify.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known := e.dirs[ev.Name]
	if known && ev.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		e.stale.Store(true)
	}
	if known || e.counts(ev) {
		e.ping()
	}
}

// counts reports whether an event can be about a document.
func (e *events) counts(ev fsnotify.Event) bool {
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

// begin begins to tell the source of the directories that there are. only are the
// names that count; nil is all.
func (e *events) begin(only []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.only, e.err = only, nil
	for dir := range e.dirs {
		e.dirs[dir] = false
	}
}

// add tells the source of a directory.
func (e *events) add(dir string) {
	e.mu.Lock()
	_, known := e.dirs[dir]
	e.dirs[dir] = true // before it tells anything
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

// settle ends what begin began: the source forgets directories that were not
// met. It returns why the source could not be told of some of them.
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
		_ = e.source.Remove(dir) // it may have gone by itself
	}
	return err
}

// exhausted reports whether an error is about a limit of the system, and not
// about one directory.
func exhausted(err error) bool {
	for _, limit := range [...]error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

// remedy is what helps against running into a limit.
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
