package watch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ragctx/ragctx/providers/docs"
)

// snapshot is a snapshot of a root.
type snapshot struct {
	sum    [sha256.Size]byte // hash of names, sizes and times
	files  int               // number of files, including skipped ones
	recent bool              // a file was written so recently that it could change without a new time
	info   fs.FileInfo       // info of the root
}

// settleTime is the time after which a change of a file changes its modification time on every file
// system.
const settleTime = 2 * time.Second

// snapshot makes a snapshot and registers the directories for events.
func (r *root) snapshot(ctx context.Context) (snapshot, error) {
	var p snapshot
	var err error
	if p.info, err = os.Stat(r.path); err != nil {
		return p, err
	}
	o := r.opts.Walk
	r.follow(&o, p.info.IsDir())
	sum := sha256.New()
	line := func(name string, numbers ...int64) {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(name))) //nolint:gosec // a length
		b = append(b, name...)
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint64(b, uint64(n)) //nolint:gosec // any bits do
		}
		sum.Write(b)
	}
	now := r.opts.Now()
	for f, err := range docs.Walk(ctx, []string{r.path}, o) {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			p.files++
			line(skip.Path + ": " + skip.Reason)
			continue
		}
		if err != nil {
			return p, err
		}
		p.files++
		p.recent = p.recent || now.Sub(f.Info.ModTime()) < settleTime
		line(f.ExternalID, f.Info.Size(), f.Info.ModTime().UnixNano())
	}
	// Discard the snapshot if the directory was replaced while it was read.
	after, err := os.Stat(r.path)
	if err == nil && !os.SameFile(p.info, after) {
		err = errors.New("it was replaced by another directory while it was read")
	}
	sum.Sum(p.sum[:0])
	return p, err
}

// follow registers for events the directories that a walk enters. For a file it registers the
// directory of the file, because saving often replaces the file.
func (r *root) follow(o *docs.WalkOptions, dir bool) {
	if r.events == nil {
		return
	}
	if dir {
		r.events.begin(nil)
		o.OnDirectory = r.events.add
		return
	}
	files := []string{r.path}
	if target, err := filepath.EvalSymlinks(r.path); err == nil && target != r.path {
		files = append(files, target)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	r.events.begin(names)
	for _, f := range files {
		r.events.add(filepath.Dir(f))
	}
}
