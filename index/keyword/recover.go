package keyword

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

const damagedFile = "damaged"

func scorchDir(dir string) string { return filepath.Join(dir, "scorch") }

func trashDir(dir string) string { return scorchDir(dir) + ".discarded" }

func storeExists(dir string) bool {
	_, err := os.Lstat(scorchDir(dir))
	return !errors.Is(err, fs.ErrNotExist)
}

// guard runs f and turns a panic into an error. That includes a fault in a mapped file, caused by
// truncation or a bad disk, which would otherwise end the process.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the index panicked: %v", r)
		}
	}()
	return f()
}

// damaged marks the stored index as unreadable, so that the next Open discards it.
func (ix *Index) damaged(op string, err error) error {
	if ix.dir != "" {
		note := os.WriteFile(filepath.Join(ix.dir, damagedFile), nil, 0o600)
		ix.opts.Logger.Error("keyword index is damaged", slog.String("dir", ix.dir), slog.Any("error", errors.Join(err, note)))
	}
	return fmt.Errorf("keyword: %s: %w; closing and opening the index rebuilds it", op, err)
}

// readStore opens the store in dir and verifies it.
func readStore(dir string, open func(string) (store, error), knows func(string) bool) (store, *snapshot, error) {
	if _, err := os.Lstat(filepath.Join(dir, damagedFile)); err == nil {
		return nil, nil, errors.New("an earlier read failed")
	}
	s, err := open(dir)
	if err != nil {
		return nil, nil, err
	}
	snap, err := s.snapshot()
	if err == nil {
		if err = snap.check(knows); err == nil {
			return s, snap, nil
		}
		snap.release()
	}
	_ = s.close()
	return nil, nil, err
}

// check verifies the stored chunks against the stored metadata.
func (s *snapshot) check(knows func(origin string) bool) error {
	v := newView(nil, s.parts)
	switch m := s.meta; {
	case m == meta{}:
		return errors.New("its metadata cannot be read")
	case m.version != version:
		return fmt.Errorf("it has version %q, not %q", m.version, version)
	case knows != nil && !knows(m.origin):
		return errors.New("it belongs to another store, or to a later state of this one")
	case m.chunks != unknownChunks && (m.chunks != uint64(v.live) || m.length != v.length):
		return fmt.Errorf("it holds %d chunks of length %d, not %d of length %d", v.live, v.length, m.chunks, m.length)
	}
	return nil
}

// The root of a scorch index is a bbolt file. It has no checksums, and a damaged page can send a
// reader into an endless loop. So its checksum is saved next to it while the index is closed.
const (
	rootFile = "root.bolt"
	sealFile = "root.crc"
)

// seal saves the checksum of a closed index.
func seal(dir string) error {
	sum, err := checksum(filepath.Join(scorchDir(dir), rootFile))
	if err != nil {
		return err
	}
	name := filepath.Join(scorchDir(dir), sealFile)
	err = os.WriteFile(name, binary.BigEndian.AppendUint32(nil, sum), 0o600)
	if err != nil {
		_ = os.Remove(name) // a truncated checksum would condemn a sound index
	}
	return err
}

// unseal verifies and removes the checksum that seal saved. Without one, as after a crash, nothing
// is verified.
func unseal(dir string) error {
	name := filepath.Join(scorchDir(dir), sealFile)
	want, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	sum, err := checksum(filepath.Join(scorchDir(dir), rootFile))
	if err != nil {
		return err
	}
	if !bytes.Equal(want, binary.BigEndian.AppendUint32(nil, sum)) {
		return fmt.Errorf("%s: %w", rootFile, errChecksum)
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	syncDir(scorchDir(dir)) // the checksum must not reappear after a power loss
	return nil
}

// syncDir syncs a directory, on systems that support it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func checksum(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.NewIEEE()
	_, err = io.Copy(sum, f)
	return sum.Sum32(), err
}

// dropDamaged removes segment files with a wrong checksum. Scorch trusts the contents of a file
// while loading it and may try to allocate more memory than exists, which guard cannot stop; a
// missing file it merely reports. Half-written files of a crash are removed as well; no state of
// the index refers to them.
func dropDamaged(dir string) error {
	root := filepath.Join(scorchDir(dir), rootFile)
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// Another process that has the index open may be writing a segment.
	lock, err := bbolt.Open(root, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		return err
	}
	defer lock.Close()
	names, err := segmentFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch err := verifySegment(name); {
		case errors.Is(err, errChecksum):
			if err := os.Remove(name); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
	return nil
}

// segmentFiles returns the paths of all segment files, in use or not.
func segmentFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(scorchDir(dir))
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".zap" {
			names = append(names, filepath.Join(scorchDir(dir), e.Name()))
		}
	}
	return names, err
}

var errChecksum = errors.New("checksum does not match")

// verifySegment verifies a segment file against the checksum at its end.
func verifySegment(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < crc32.Size {
		return errChecksum
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.LimitReader(f, info.Size()-crc32.Size)); err != nil {
		return err
	}
	var want [crc32.Size]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		return errChecksum
	}
	return nil
}

// discardStore removes the stored index. It renames the directory first, so that an interrupted
// removal leaves nothing that looks like an index.
func discardStore(dir string) error {
	trash := trashDir(dir)
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	if err := os.Rename(scorchDir(dir), trash); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, damagedFile)); err != nil {
		return err
	}
	return os.RemoveAll(trash)
}

func storeSize(dir string) int64 {
	entries, err := os.ReadDir(scorchDir(dir))
	if err != nil {
		return 0
	}
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
