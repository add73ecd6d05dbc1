package vector

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/ragctx/ragctx/index"
)

// damage is an error that means the stored data cannot be trusted.
type damage struct{ error }

func (d *damage) Unwrap() error { return d.error }

// guard runs f and turns a fault in a mapped file into damage. A truncated file or a bad disk
// causes such a fault, which would otherwise end the process. Other panics pass through: they come
// from elsewhere, such as from an Accept.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = &damage{fmt.Errorf("reading a mapped file failed: %w", fault)}
		}
	}()
	return f()
}

// failed returns the error of an operation. On damage, it disables the index, so that it answers no
// further queries and the next open starts empty.
func (s *stored) failed(op string, err error) error {
	if _, ok := errors.AsType[*damage](err); !ok {
		return err
	}
	err = fmt.Errorf("vector: %s: %w; close and reopen the index to rebuild it", op, err)
	if s.broken.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error("vector index is damaged", slog.String("dir", s.opts.Dir),
			slog.Any("error", errors.Join(err, s.writeDamageMarker())))
	}
	return err
}

// writeDamageMarker creates the file that makes the next open discard the index.
func (s *stored) writeDamageMarker() error {
	f, err := s.opts.FS.OpenFile(filepath.Join(s.opts.Dir, damagedFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), s.opts.FS.SyncDir(s.opts.Dir))
}

// current implements [exactIndex].
func (s *stored) current() (*storedView, error) {
	if err := s.broken.Load(); err != nil {
		return nil, *err
	}
	v := s.acquire()
	if v == nil {
		return nil, index.ErrClosed
	}
	return v, nil
}
