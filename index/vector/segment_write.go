package vector

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// rowRef identifies a row to write to a segment file.
type rowRef struct {
	id  uint64
	src int32
	row int32
}

// rowSource returns the row of a rowRef. It verifies stored rows.
type rowSource func(ref rowRef) ([]int16, error)

// sortedRows returns the live rows of a snapshot by ascending id.
func (s *snapshot) sortedRows(stride int) ([]rowRef, rowSource) {
	refs := make([]rowRef, 0, s.rows)
	for i, b := range s.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			refs = append(refs, rowRef{b.ids[row], int32(i), int32(row)}) //nolint:gosec // an arena has far fewer than 2^31 blocks
		}
	}
	slices.SortFunc(refs, byID)
	return refs, func(ref rowRef) ([]int16, error) {
		return s.blocks[ref.src].row(int(ref.row), stride), nil
	}
}

func byID(a, b rowRef) int {
	switch {
	case a.id < b.id:
		return -1
	case a.id > b.id:
		return 1
	}
	return 0
}

// mergedRows returns the live rows of segments by ascending id.
func mergedRows(from []liveSegment) ([]rowRef, rowSource) {
	var refs []rowRef
	for i, h := range from {
		for row, id := range h.ids {
			if !h.dead.has(row) {
				refs = append(refs, rowRef{id, int32(i), int32(row)}) //nolint:gosec // at most maxRows, and a few segments
			}
		}
	}
	slices.SortFunc(refs, byID)
	return refs, func(ref rowRef) ([]int16, error) {
		h := from[ref.src]
		if err := h.check(int(ref.row) / blockRows); err != nil {
			return nil, &damage{err} // a corrupt row must not get a valid checksum
		}
		return h.row(int(ref.row)), nil
	}
}

// segmentWriter writes one segment file.
type segmentWriter struct {
	w io.Writer
	n int64 // bytes written
}

func (s *segmentWriter) write(b []byte) error {
	s.n += int64(len(b))
	_, err := s.w.Write(b)
	return err
}

// pad writes zeros up to an aligned offset and returns them.
func (s *segmentWriter) pad() ([]byte, error) {
	zeros := make([]byte, align(s.n)-s.n)
	return zeros, s.write(zeros)
}

// writeSegment atomically writes a file of at least one row.
func writeSegment(ctx context.Context, fsys atomicfile.FS, name, identity string, dim int, refs []rowRef, source rowSource) error {
	if len(refs) > maxRows {
		return fmt.Errorf("vector: %d rows are too many for a segment", len(refs))
	}
	return atomicfile.WriteFile(fsys, name, func(w io.Writer) error {
		header := segmentHeader(identity, dim, len(refs))
		s := &segmentWriter{w: w}
		if err := s.write(header); err != nil {
			return err
		}
		idSum, err := s.ids(refs)
		if err != nil {
			return err
		}
		sums, err := s.rows(ctx, refs, source)
		if err != nil {
			return err
		}
		tail := binary.NativeEndian.AppendUint32(sums, idSum)
		sum := atomicfile.Extend(atomicfile.Checksum(tail), header[len(header)-4:])
		return s.write(binary.NativeEndian.AppendUint32(tail, sum))
	})
}

// ids writes the ids and returns their checksum.
func (s *segmentWriter) ids(refs []rowRef) (sum uint32, err error) {
	var b [8]byte
	for _, ref := range refs {
		binary.NativeEndian.PutUint64(b[:], ref.id)
		sum = atomicfile.Extend(sum, b[:])
		if err := s.write(b[:]); err != nil {
			return 0, err
		}
	}
	zeros, err := s.pad()
	return atomicfile.Extend(sum, zeros), err
}

// rows writes the rows and returns the checksums of their blocks.
func (s *segmentWriter) rows(ctx context.Context, refs []rowRef, source rowSource) (sums []byte, err error) {
	for block := range slices.Chunk(refs, blockRows) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var sum uint32
		for _, ref := range block {
			row, err := source(ref)
			if err != nil {
				return nil, err
			}
			sum = atomicfile.Extend(sum, rowBytes(row))
			if err := s.write(rowBytes(row)); err != nil {
				return nil, err
			}
		}
		sums = binary.NativeEndian.AppendUint32(sums, sum)
	}
	_, err = s.pad()
	return sums, err
}

// store writes a segment file and opens it. It returns nil if there are no rows.
func (s *stored) store(ctx context.Context, name string, refs []rowRef, source rowSource) (*segment, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	path := filepath.Join(s.opts.Dir, name)
	if err := atomicfile.MakeDir(s.opts.FS, s.opts.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := writeSegment(ctx, s.opts.FS, path, s.opts.Identity, s.opts.Dimensions, refs, source); err != nil {
		return nil, err
	}
	return openSegment(s.opts.FS, path, s.opts.Identity, s.opts.Dimensions, len(refs))
}
