package vector

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// An index with a graph has two more files. "graph-", 16 hexadecimal digits and ".hnsw" is a graph
// as of some time. "graph" names that file and the segments it contains. It is replaced
// atomically and written last, so its claims hold. It is one frame of JSON.
const (
	checkpointFile = "graph"
	graphPrefix    = "graph-"
	graphSuffix    = ".hnsw"
	// checkpointFormat identifies the format of both files.
	checkpointFormat = "graph/1"
)

const (
	// minSaveChanges is the minimum number of changes before a graph is written again: linking that many
	// takes seconds, and the file has some ten megabytes.
	minSaveChanges = 20_000
	// saveShare: at least 1/saveShare of all chunks must have changed as well. With a quarter, each
	// vector of a growing index is written five times.
	saveShare = 4
	// quietShare replaces saveShare once there was no change for quietAfter: linking 1/quietShare
	// of all chunks takes longer than writing the file.
	quietShare = 50
	quietAfter = 30 * time.Second
	// tidyShare: at most 1/tidyShare of the vectors may be dead when a graph is written, else it is
	// tidied first. Dead vectors are left out of the file, and nodes without codes lead nowhere.
	tidyShare = 50
	// On Close a graph is written after 1/closeShare of these changes if it has at most
	// maxCloseBytes. That should save more time than it takes.
	closeShare    = 20
	maxCloseBytes = 64 << 20
	// saveRetry is the delay after a failed save, savePause the delay after a successful one.
	saveRetry = time.Minute
	savePause = time.Minute
)

func graphName(number uint64) string {
	return fmt.Sprintf("%s%016x%s", graphPrefix, number, graphSuffix)
}

// graphNumber returns the number in the name of a graph's file.
func graphNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, graphPrefix)
	digits, suffix := strings.CutSuffix(digits, graphSuffix)
	if !ok || !suffix || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}

// checkpoint describes the contents of a graph file.
type checkpoint struct {
	Format string `json:"format"`
	File   string `json:"file"`
	// Name is the name stored in the graph file.
	Name string `json:"name"`
	// Segments lists the segments whose live rows the graph has, with the number of live rows when
	// the file was finished. Rows die and never revive. So an index where a segment has more live
	// rows is older than the graph, which may lack them.
	Segments []checkpointSegment `json:"segments"`
}

type checkpointSegment struct {
	File string `json:"file"`
	Sum  uint32 `json:"sum"`
	Live int    `json:"live"`
}

// isGraph reports whether a file is one of the graph's two files.
func isGraph(name string) bool {
	_, numbered := graphNumber(name)
	return numbered || name == checkpointFile
}

// contains reports whether the graph has the rows of a segment.
func (c *checkpoint) contains(h liveSegment) bool {
	return slices.ContainsFunc(c.Segments, func(k checkpointSegment) bool { return k.File == h.name && k.Sum == h.sum })
}

// newerThan reports whether the graph is newer than these segments.
func (c *checkpoint) newerThan(segs []liveSegment) bool {
	return slices.ContainsFunc(segs, func(h liveSegment) bool {
		return slices.ContainsFunc(c.Segments, func(k checkpointSegment) bool {
			return k.File == h.name && k.Sum == h.sum && k.Live < h.live
		})
	})
}

// savedState describes the graph file that was written last.
type savedState struct {
	checkpoint
	linked  int
	deleted uint64 // the file has nothing of vectors deleted up to this count
}

// open loads the stored graph if it matches the rows, and removes unusable files. It is called
// before anything else.
func (n *native) open() {
	if n.opts.Dir == "" {
		return
	}
	c, g, err := n.read()
	if err != nil && !isDataError(err) {
		n.opts.Logger.Warn("stored vector graph cannot be used and is rebuilt", "dir", n.opts.Dir, "reason", err)
		n.number, _ = remove(n.opts.FS, n.opts.Dir, graphNumber, func(string) bool { return false })
		return
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			n.opts.Logger.Warn("stored vector graph cannot be used and is rebuilt", "dir", n.opts.Dir, "reason", err)
		}
		_ = n.removeCheckpoint() // what remains is not used by the next open either
	}
	if n.number, err = n.sweep(); err != nil {
		n.opts.Logger.Warn("cannot remove old files of the vector graph", "dir", n.opts.Dir, "error", err)
	}
	if g == nil {
		return
	}
	a := newAccelerator(g)
	a.saved.Store(&savedState{checkpoint: *c, linked: n.chunkCount() - g.Waiting(), deleted: g.Deleted()})
	n.accel.Store(a)
}

// read opens the stored graph.
func (n *native) read() (*checkpoint, annGraph, error) {
	b, err := atomicfile.ReadFile(n.opts.FS, filepath.Join(n.opts.Dir, checkpointFile), maxManifest)
	if err != nil {
		return nil, nil, err
	}
	payload, rest, err := atomicfile.NextFrame(b)
	if err != nil || len(rest) > 0 {
		return nil, nil, fmt.Errorf("%s: %w", checkpointFile, atomicfile.ErrTorn)
	}
	c := new(checkpoint)
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", checkpointFile, err)
	}
	if err := n.usable(c); err != nil {
		return nil, nil, err
	}
	g, name, err := n.graphs.open(filepath.Join(n.opts.Dir, c.File))
	if err != nil {
		return nil, nil, err
	}
	if name != c.Name {
		return nil, nil, errors.Join(fmt.Errorf("%s is not the file of the checkpoint", c.File), g.Close())
	}
	n.setFile(c.File)
	return c, g, nil
}

// usable returns an error if a checkpoint does not match the rows.
func (n *native) usable(c *checkpoint) error {
	v, err := n.rows.current()
	if err != nil {
		return err
	}
	defer v.release()
	_, named := graphNumber(c.File)
	switch {
	case c.Format != checkpointFormat:
		return fmt.Errorf("its format is %q, not %q", c.Format, checkpointFormat)
	case !named:
		return fmt.Errorf("%s names the file %q", checkpointFile, c.File)
	case v.chunks < n.opts.minGraphChunks:
		return fmt.Errorf("there are %d vectors, fewer than the %d that a graph needs", v.chunks, n.opts.minGraphChunks)
	case c.newerThan(v.segs):
		return errors.New("it is newer than the vectors")
	}
	return nil
}

// setFile records the graph file in use, or "".
func (n *native) setFile(name string) {
	n.file = name
	n.fileSize.Store(0)
	if name == "" {
		return
	}
	if info, err := n.opts.FS.Stat(filepath.Join(n.opts.Dir, name)); err == nil {
		n.fileSize.Store(info.Size())
	}
}

// removeCheckpoint durably removes the file that names the graph file.
func (n *native) removeCheckpoint() error {
	n.setFile("")
	err := n.opts.FS.Remove(filepath.Join(n.opts.Dir, checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, n.opts.FS.SyncDir(n.opts.Dir))
}

// sweep removes the graph files that are not in use and returns the highest number of all.
func (n *native) sweep() (highest uint64, err error) {
	return remove(n.opts.FS, n.opts.Dir, graphNumber, func(name string) bool {
		_, graph := graphNumber(name)
		return graph && name != n.file
	})
}
