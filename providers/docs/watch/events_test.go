package watch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ragctx/ragctx/providers/docs"
)

// script is a source with events from the test.
type script struct {
	told chan fsnotify.Event
	errs chan error
	add  func(dir string) error
}

func (s *script) Events() <-chan fsnotify.Event { return s.told }
func (s *script) Errors() <-chan error          { return s.errs }
func (*script) Remove(string) error             { return fsnotify.ErrNonExistentWatch }

func (s *script) Add(dir string) error {
	if s.add != nil {
		return s.add(dir)
	}
	return nil
}

func (s *script) Close() error {
	close(s.told)
	close(s.errs)
	return nil
}

func newScript() *script { return &script{told: make(chan fsnotify.Event), errs: make(chan error)} }

// TestWhatCounts: which events are a reason to look.
func TestWhatCounts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ev     fsnotify.Event
		hidden bool
		only   []string
		want   bool
		stale  bool
	}{
		{name: "a file is written", ev: fsnotify.Event{Name: "/d/a.md", Op: fsnotify.Write}, want: true},
		{name: "a file is gone", ev: fsnotify.Event{Name: "/d/a.md", Op: fsnotify.Remove}, want: true},
		{name: "a directory appears", ev: fsnotify.Event{Name: "/d/new", Op: fsnotify.Create}, want: true},
		{name: "rights", ev: fsnotify.Event{Name: "/d/a.md", Op: fsnotify.Chmod}},
		{name: "rights and content", ev: fsnotify.Event{Name: "/d/a.md", Op: fsnotify.Chmod | fsnotify.Write}, want: true},
		{name: "a temporary file", ev: fsnotify.Event{Name: "/d/a.md~", Op: fsnotify.Create}},
		{name: "a hidden file", ev: fsnotify.Event{Name: "/d/.a.md", Op: fsnotify.Create}},
		{name: "a hidden file that counts", ev: fsnotify.Event{Name: "/d/.a.md", Op: fsnotify.Create}, hidden: true, want: true},
		{name: "what git ignores changes", ev: fsnotify.Event{Name: "/d/.gitignore", Op: fsnotify.Write}, want: true},
		{name: "the one file", ev: fsnotify.Event{Name: "/d/.a", Op: fsnotify.Write}, only: []string{".a"}, want: true},
		{name: "a file beside it", ev: fsnotify.Event{Name: "/d/b", Op: fsnotify.Write}, only: []string{".a"}},
		{name: "a directory is renamed", ev: fsnotify.Event{Name: "/d/sub", Op: fsnotify.Rename}, want: true, stale: true},
		{name: "the root is gone", ev: fsnotify.Event{Name: "/d", Op: fsnotify.Remove}, only: []string{".a"}, want: true, stale: true},
	} {
		s := newScript()
		e, err := listen(Options{watcher: func() (source, error) { return s, nil }, Walk: docs.WalkOptions{Hidden: tt.hidden}})
		if err != nil {
			t.Fatal(err)
		}
		e.begin(tt.only)
		e.add("/d")
		e.add("/d/sub")
		s.told <- tt.ev
		e.close()
		select {
		case <-e.pending():
			if !tt.want {
				t.Errorf("%s: is a reason", tt.name)
			}
		default:
			if tt.want {
				t.Errorf("%s: is no reason", tt.name)
			}
		}
		if e.stale.Load() != tt.stale {
			t.Errorf("%s: stale %v", tt.name, !tt.stale)
		}
	}
}

// TestLostEvents: when the source says that it lost some, everything is looked at.
func TestLostEvents(t *testing.T) {
	s := newScript()
	e, err := listen(Options{watcher: func() (source, error) { return s, nil }})
	if err != nil {
		t.Fatal(err)
	}
	s.errs <- fsnotify.ErrEventOverflow
	<-e.pending()
	e.close()
	if !e.stale.Load() {
		t.Error("the source is used on")
	}
}

// TestLimitsOfTheSystem: without events the folder is looked at at intervals, and
// the log says what helps.
func TestLimitsOfTheSystem(t *testing.T) {
	for _, tt := range []struct {
		err    error
		making bool // the source cannot be made at all
		remedy string
	}{
		{syscall.ENOSPC, false, "max_user_watches"},
		{os.NewSyscallError("inotify_init1", syscall.EMFILE), true, "max_user_instances"},
		{errors.New("no such thing here"), true, "--poll"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("alpha"), 0o600); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var log bytes.Buffer
		o := Options{
			fallback: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil)),
			watcher: func() (source, error) {
				if tt.making {
					return nil, tt.err
				}
				s := newScript()
				s.add = func(string) error { return tt.err }
				return s, nil
			},
		}
		ctx, stop := context.WithCancel(t.Context())
		calls := 0
		err := Paths(ctx, []string{dir}, o, func(context.Context, Change) error {
			if calls++; calls == 2 {
				stop()
				return nil
			}
			return os.WriteFile(filepath.Join(dir, "b.md"), []byte("beta"), 0o600)
		})
		stop()
		mu.Lock()
		if err != nil || !strings.Contains(log.String(), tt.remedy) {
			t.Errorf("%v, log %s", err, log.String())
		}
		mu.Unlock()
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
