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

// A leg with a graph keeps two more files. "graph-", 16 hexadecimal digits and
// ".hnsw" is a graph as of some time. "graph" names it and the segments whose rows
// it has; it is replaced as a whole, and written last, so what it says holds. It is
// one frame of JSON.
const (
	checkpointFile = "graph"
	graphPrefix    = "graph-"
	graphSuffix    = ".hnsw"
	// checkpointFormat names what decides what is in the two.
	checkpointFormat = "graph/1"
)

const (
	// saveUnits is the least number of changes after which a graph is written
	// again: linking as many takes seconds, and the file some ten megabytes.
	saveUnits = 20_000
	// saveShare is the part of all units that changes besides: with a quarter, each
	// vector of a growing leg is written five times.
	saveShare = 4
	// quietShare is the part of all units that changes in a leg that has been quiet
	// for restful: linking them takes longer than writing the file.
	quietShare = 50
	restful    = 30 * time.Second
	// tidyShare is the part of all vectors that may be dead when a graph is written.
	// What is dead is left out of it, and nodes without codes lead nowhere.
	tidyShare = 50
	// On Close a graph is written after a twentieth of these changes, if it has at
	// most lastBytes: that should save more time than it takes.
	lastShare = 20
	lastBytes = 64 << 20
	// saveRetry is how long a failed attempt is the last one, and saveRest one that
	// went well.
	saveRetry = time.Minute
	saveRest  = time.Minute
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

// checkpoint says what a graph's file has.
type checkpoint struct {
	Format string `json:"format"`
	File   string `json:"file"`
	// Name is what the file calls itself.
	Name string `json:"name"`
	// Segments are those whose live rows it has. Live is how many they were when it
	// was finished. A segment's rows die and never come back: so a leg in which more
	// are alive is older than the graph, which may lack them.
	Segments []knownSegment `json:"segments"`
}

type knownSegment struct {
	File string `json:"file"`
	Sum  uint32 `json:"sum"`
	Live int    `json:"live"`
}

// isGraph reports whether a file is one of the two.
func isGraph(name string) bool {
	_, numbered := graphNumber(name)
	return numbered || name == checkpointFile
}

// knows reports whether the graph has the rows of a segment.
func (c *checkpoint) knows(h held) bool {
	return slices.ContainsFunc(c.Segments, func(k knownSegment) bool { return k.File == h.name && k.Sum == h.sum })
}

// ahead reports whether the leg is older than the graph.
func (c *checkpoint) ahead(segs []held) bool {
	return slices.ContainsFunc(segs, func(h held) bool {
		return slices.ContainsFunc(c.Segments, func(k knownSegment) bool {
			return k.File == h.name && k.Sum == h.sum && k.Live < h.live
		})
	})
}

// saved is what of a graph is in its file.
type saved struct {
	checkpoint
	linked  int
	deleted uint64 // nothing of what was deleted until then is in it
}

// open uses the graph that is stored, if it belongs to the rows, and removes what
// cannot be used. It is called before anything else.
func (n *Native) open() {
	if n.opts.Dir == "" {
		return
	}
	c, g, err := n.read()
	if err != nil && !says(err) {
		n.opts.Logger.Warn("vector graph is made again", "dir", n.opts.Dir, "reason", err)
		n.number, _ = remove(n.opts.FS, n.opts.Dir, graphNumber, func(string) bool { return false })
		return
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			n.opts.Logger.Warn("vector graph is made again", "dir", n.opts.Dir, "reason", err)
		}
		_ = n.forget() // what stays is of no use at the next open either
	}
	if n.number, err = n.sweep(); err != nil {
		n.opts.Logger.Warn("old files of the vector graph stay", "dir", n.opts.Dir, "error", err)
	}
	if g == nil {
		return
	}
	a := newAccelerator(g)
	a.saved.Store(&saved{checkpoint: *c, linked: n.units() - g.Waiting(), deleted: g.Deleted()})
	n.accel.Store(a)
}

// read opens the graph that is stored.
func (n *Native) read() (*checkpoint, neighbours, error) {
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

// usable returns why a checkpoint is of no use to the rows.
func (n *Native) usable(c *checkpoint) error {
	v, err := n.rows.current()
	if err != nil {
		return err
	}
	defer v.release()
	_, named := graphNumber(c.File)
	switch {
	case c.Format != checkpointFormat:
		return fmt.Errorf("it has format %q, not %q", c.Format, checkpointFormat)
	case !named:
		return fmt.Errorf("%s names the file %q", checkpointFile, c.File)
	case v.units < n.opts.graphUnits:
		return fmt.Errorf("there are %d vectors, and a graph has at least %d", v.units, n.opts.graphUnits)
	case c.ahead(v.segs):
		return errors.New("it is newer than the vectors")
	}
	return nil
}

// setFile notes which file is in use, "" for none.
func (n *Native) setFile(name string) {
	n.file = name
	n.fileSize.Store(0)
	if name == "" {
		return
	}
	if info, err := n.opts.FS.Stat(filepath.Join(n.opts.Dir, name)); err == nil {
		n.fileSize.Store(info.Size())
	}
}

// forget removes what says which file is in use, durably.
func (n *Native) forget() error {
	n.setFile("")
	err := n.opts.FS.Remove(filepath.Join(n.opts.Dir, checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, n.opts.FS.SyncDir(n.opts.Dir))
}

// sweep removes the files of graphs that are not in use, and returns the highest
// number among all.
func (n *Native) sweep() (highest uint64, err error) {
	return remove(n.opts.FS, n.opts.Dir, graphNumber, func(name string) bool {
		_, graph := graphNumber(name)
		return graph && name != n.file
	})
}
