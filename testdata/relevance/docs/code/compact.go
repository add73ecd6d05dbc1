package storage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// compactSegment writes the live records of a sealed segment into a new file and
// replaces the old one by rename. A record is live if latest says that no newer record
// has its key. It returns the bytes saved.
func compactSegment(ctx context.Context, path string, latest func(key []byte) int64) (int64, error) {
	src, err := openSegment(path)
	if err != nil {
		return 0, fmt.Errorf("compact: %w", err)
	}
	defer src.Close()
	tmp := path + ".compacting"
	dst, err := createSegment(tmp)
	if err != nil {
		return 0, fmt.Errorf("compact: %w", err)
	}
	for rec := range src.Records() {
		if err := ctx.Err(); err != nil {
			return 0, removeQuietly(tmp, err)
		}
		if latest(rec.Key) == rec.Offset || rec.isFreshTombstone() {
			dst.Append(rec)
		}
	}
	if err := dst.Seal(); err != nil { // Seal syncs the file
		return 0, removeQuietly(tmp, err)
	}
	saved := src.Size() - dst.Size()
	if err := os.Rename(tmp, path); err != nil {
		return 0, fmt.Errorf("compact: %w", err)
	}
	return saved, syncDir(filepath.Dir(path))
}
