package vector

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Names of the files of an index. A segment number is never reused while the index is open or its
// file exists.
const (
	manifestFile  = "manifest"
	damagedFile   = "damaged"
	segmentSuffix = ".segment"
)

// manifestFormat identifies the format of all files.
const manifestFormat = "flat/2"

// maxManifest is far above the manifest size for any number of rows that fits a machine.
const maxManifest = 1 << 28

func segmentName(number uint64) string { return fmt.Sprintf("%016x%s", number, segmentSuffix) }

// segmentNumber returns the number in the name of a segment file.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}

// manifest describes the stored state: the rows of the segments, without the dead ones, are the
// chunks as of the cursor. The file is one frame of JSON.
type manifest struct {
	Format     string          `json:"format"`
	Identity   string          `json:"identity"`
	Dimensions int             `json:"dimensions"`
	Origin     string          `json:"origin"`
	Cursor     uint64          `json:"cursor"`
	Segments   []manifestEntry `json:"segments"`
}

type manifestEntry struct {
	File string `json:"file"`
	Rows int    `json:"rows"`
	Sum  uint32 `json:"sum"`
	// Dead has one bit per row, in little-endian 64-bit words; absent if no row is dead.
	Dead []byte `json:"dead,omitempty"`
}

func entryOf(h liveSegment) manifestEntry {
	e := manifestEntry{File: h.name, Rows: len(h.ids), Sum: h.sum}
	if h.live < len(h.ids) {
		for _, w := range h.dead {
			e.Dead = binary.LittleEndian.AppendUint64(e.Dead, w)
		}
	}
	return e
}

// deadRows returns the dead rows of an entry.
func (e *manifestEntry) deadRows() (bitset, error) {
	if len(e.Dead) == 0 {
		return nil, nil
	}
	if len(e.Dead) != (e.Rows+63)/64*8 {
		return nil, fmt.Errorf("%s: %d bytes of dead rows for %d rows", e.File, len(e.Dead), e.Rows)
	}
	dead := make(bitset, 0, len(e.Dead)/8)
	for b := e.Dead; len(b) > 0; b = b[8:] {
		dead = append(dead, binary.LittleEndian.Uint64(b))
	}
	if e.Rows%64 != 0 && dead[len(dead)-1]>>(e.Rows%64) != 0 {
		return nil, fmt.Errorf("%s: dead rows beyond its last row", e.File)
	}
	return dead, nil
}

// readManifest reads the manifest of a directory. The error matches [fs.ErrNotExist] if it does not
// exist.
func readManifest(fsys atomicfile.FS, dir string) (*manifest, error) {
	b, err := atomicfile.ReadFile(fsys, filepath.Join(dir, manifestFile), maxManifest)
	if err != nil {
		return nil, err
	}
	payload, rest, err := atomicfile.NextFrame(b)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%s: %w", manifestFile, atomicfile.ErrTorn)
	}
	m := new(manifest)
	if err := json.Unmarshal(payload, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	return m, nil
}

func writeManifest(fsys atomicfile.FS, dir string, m *manifest) error {
	payload, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(fsys, filepath.Join(dir, manifestFile), func(w io.Writer) error {
		_, err := w.Write(atomicfile.AppendFrame(nil, payload))
		return err
	})
}

// usable returns an error if a manifest does not match o.
func (m *manifest) usable(o *Options) error {
	switch {
	case m.Format != manifestFormat:
		return fmt.Errorf("its format is %q, not %q", m.Format, manifestFormat)
	case m.Dimensions != o.Dimensions:
		return fmt.Errorf("it holds vectors of %d components, not %d", m.Dimensions, o.Dimensions)
	case m.Identity != o.Identity:
		return fmt.Errorf("it holds vectors of embedder %q, not %q", m.Identity, o.Identity)
	case o.Knows != nil && !o.Knows(m.Origin):
		return errors.New("it belongs to another store, or to a later state of this store")
	}
	return nil
}

// open opens the segments of a manifest.
func (m *manifest) open(o *Options) (segs []liveSegment, err error) {
	defer func() {
		if err != nil {
			releaseAll(segs)
		}
	}()
	for i := range m.Segments {
		e := &m.Segments[i]
		if _, ok := segmentNumber(e.File); !ok || e.Rows < 1 || e.Rows > maxRows {
			return segs, fmt.Errorf("%s lists %d rows in %q", manifestFile, e.Rows, e.File)
		}
		dead, err := e.deadRows()
		if err != nil {
			return segs, err
		}
		seg, err := openSegment(o.FS, filepath.Join(o.Dir, e.File), o.Identity, o.Dimensions, e.Rows)
		if err != nil {
			return segs, err
		}
		segs = append(segs, liveSegment{seg, dead, e.Rows - dead.count()})
		if seg.sum != e.Sum {
			return segs, fmt.Errorf("%s is not the file of the manifest", e.File)
		}
	}
	return segs, nil
}

// sweep removes the unwanted files of an index and returns the highest segment number found. It
// leaves files with other names alone.
func sweep(fsys atomicfile.FS, dir string, wanted func(name string) bool) (highest uint64, err error) {
	return remove(fsys, dir, segmentNumber, func(name string) bool {
		_, segment := segmentNumber(name)
		ours := segment || name == damagedFile || atomicfile.IsTemporary(name) || isGraph(name)
		return ours && !wanted(name)
	})
}

// remove durably removes the unwanted files of a directory and returns the highest number in the
// file names.
func remove(
	fsys atomicfile.FS, dir string, number func(name string) (uint64, bool), unwanted func(name string) bool,
) (highest uint64, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var errs []error
	removed := false
	for _, e := range entries {
		n, _ := number(e.Name())
		highest = max(highest, n)
		if !unwanted(e.Name()) {
			continue
		}
		removed = true
		if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if removed {
		errs = append(errs, fsys.SyncDir(dir))
	}
	return highest, errors.Join(errs...)
}

// discard removes an index from a directory: first the manifest, without which the other files have
// no effect.
func discard(fsys atomicfile.FS, dir string) error {
	err := fsys.Remove(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err == nil {
		_, err = sweep(fsys, dir, func(string) bool { return false })
	}
	return err
}

// Cursor returns the newest change stored in the files of a directory, or 0 if there are no
// readable files.
func Cursor(dir string) uint64 {
	m, err := readManifest(atomicfile.OS{}, dir)
	if err != nil {
		return 0
	}
	return m.Cursor
}
