package engine

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// MaxSnapshots bounds the snapshots that are written or downloaded at a time.
const MaxSnapshots = 2

// Snapshot writes a consistent snapshot of the data directory to a new file, while reads and writes
// continue. [Restore] restores it.
func (e Admin) Snapshot(ctx context.Context, path string, o store.SnapshotOptions) (store.SnapshotInfo, error) {
	if err := requireAdmin(ctx); err != nil {
		return store.SnapshotInfo{}, err
	}
	return store.SaveSnapshot(ctx, e.store, path, o)
}

// Restore creates a data directory from a snapshot after verifying the whole snapshot. A directory
// that is not empty is rejected unless o.Force is set; its contents are then replaced in one step.
// If it is open in another process, the error is a [*LockedError].
func Restore(ctx context.Context, file, dir string, o store.RestoreOptions) (info store.SnapshotInfo, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return info, fmt.Errorf("data directory: %w", err)
	}
	l, err := acquire(dir)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	return restoreDatabase(ctx, file, dir, o)
}

// WriteSnapshot writes the contents of [Admin.Snapshot] to w, which may be slow. The snapshot is
// buffered in the data directory, compressed and encrypted with a key that only this process has,
// so that no file retains content erased in the meantime. More than [MaxSnapshots] at a time are
// [ragctx.ErrLimited].
func (e Admin) WriteSnapshot(
	ctx context.Context, w io.Writer, o store.SnapshotOptions,
) (info store.SnapshotInfo, err error) {
	if err := requireAdmin(ctx); err != nil {
		return info, err
	}
	select {
	case e.snapshotSlots <- struct{}{}:
		defer func() { <-e.snapshotSlots }()
	default:
		return info, fmt.Errorf("%w: %d snapshots are being made or downloaded, which is the limit; try again when one is done",
			ragctx.ErrLimited, MaxSnapshots)
	}
	s, err := newEncryptedFile(e.opts.Dir)
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", store.DiskError(err))
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if info, err = e.store.WriteSnapshot(ctx, s.writer(), o); err != nil {
		return info, err
	}
	_, err = io.Copy(w, s.reader())
	return info, err
}

// encryptedFile is a temporary file encrypted with an in-memory key. It has no name on systems that can
// unlink open files.
type encryptedFile struct {
	file  *os.File
	block cipher.Block
}

func newEncryptedFile(dir string) (*encryptedFile, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, store.SnapshotTempPrefix+"*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // if this fails, close removes it
	return &encryptedFile{f, block}, nil
}

// stream returns the key stream from its beginning. Each key encrypts only one file.
func (s *encryptedFile) stream() cipher.Stream {
	return cipher.NewCTR(s.block, make([]byte, s.block.BlockSize()))
}

func (s *encryptedFile) writer() io.Writer { return cipher.StreamWriter{S: s.stream(), W: s.file} }

// reader reads the file from the beginning.
func (s *encryptedFile) reader() io.Reader {
	return cipher.StreamReader{S: s.stream(), R: io.NewSectionReader(s.file, 0, 1<<63-1)}
}

func (s *encryptedFile) close() error {
	err := s.file.Close()
	if rerr := os.Remove(s.file.Name()); !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}
